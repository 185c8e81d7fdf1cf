import { asGwError, type ErrorCode, type Tried } from '../../error/index.ts';

/**
 * Everything the operator server answers instead of what was asked for, in one table. The body is always
 * `{"error":{"code","message","tried?","remedy?"}}`; shape and codes are decisions of ours.
 */
export const refusalTable = {
  BAD_REQUEST: [400, 'The request is malformed.', 'Send what docs/operator.md describes for this route.'],
  NOT_SIGNED_IN: [401, 'This needs a signed-in person.', 'Sign in on site, on the page /anmeldung of port 5173.'],
  SIGN_IN_FAILED: [401, 'The password is wrong.', 'Try again with the device password.'],
  READ_ONLY: [
    403,
    'The read-only socket does not offer this.',
    'Use the full operator surface, in the robot segment of the site.',
  ],
  CROSS_SITE: [403, 'A page of another site sent this request.', 'Use the pages of this gateway itself.'],
  NOT_FOUND: [404, 'There is nothing at this path.', 'See docs/operator.md for the routes.'],
  NOT_CONFIGURED: [409, 'This is not set up on this gateway.', 'Set it up in the site file, then start gw serve anew.'],
  TIMEOUT: [408, 'The request did not arrive in time.', 'Send it again.'],
  TOO_LARGE: [413, 'The request is larger than this route takes.', 'Send less.'],
  UNSUPPORTED_TYPE: [415, 'This route does not take this content type.', 'Send application/json.'],
  WRONG_HOST: [
    421,
    'This gateway is not called by that name.',
    'Use its address, or add the name to operator.names in the site file.',
  ],
  HEADERS_TOO_LARGE: [431, 'The request line or its headers are too long.', 'Send a shorter request.'],
  TOO_MANY_TRIES: [429, 'Too many wrong tries.', 'Wait a minute, then try again.'],
  SIGN_IN_BUSY: [
    429,
    'Too many sign-ins at once; the password was not looked at.',
    'Try again in a second: who comes back is served before those who came later.',
  ],
  SIGN_IN_UNAVAILABLE: [
    503,
    'The password file of this gateway cannot be read, so no one can sign in.',
    'Mend the file at the gateway (`gw site check` names it), then start gw serve anew.',
  ],
  BUSY: [503, 'The gateway serves as many of these at once as it can.', 'Try again in a moment.'],
  LOOP_DETECTED: [
    508,
    'This request was forwarded by this gateway itself.',
    'Set operator.voice.url and operator.building.url to the devices themselves.',
  ],
  NO_SPACE: [507, 'There is no room left for the file.', 'Delete media that nobody needs any more.'],
} as const satisfies Record<string, readonly [status: number, message: string, remedy: string]>;

export type RefusalCode = keyof typeof refusalTable;

/** How the house's own errors look over HTTP. What is not named here is a bug of ours: 500. */
export const statusOfError: Partial<Record<ErrorCode, number>> = {
  CHASSIS_NOT_CONNECTED: 503,
  CHASSIS_BOOTING: 503,
  CHASSIS_WRONG_DEVICE: 503,
  CHASSIS_BAD_ANSWER: 502,
  CHASSIS_REFUSED: 502,
  PEER_NOT_REACHABLE: 502,
  USAGE: 400,
  TOUR_UNKNOWN: 404,
  STATION_UNKNOWN: 404,
  TOUR_RUNNING: 409,
  MOTION_REFUSED: 409,
  MOTION_STOPPED: 423,
  INTERRUPTED: 503,
  FILE_UNWRITABLE: 500,
  EVIDENCE_FILE_INVALID: 409,
  SITE_FILE_INVALID: 409,
};

export interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly tried?: Tried;
    readonly remedy?: string;
  };
}

export interface Refusal {
  readonly status: number;
  readonly body: ErrorBody;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(
  code: RefusalCode,
  more: { message?: string; remedy?: string; headers?: Record<string, string> } = {},
): Refusal {
  const [status, message, remedy] = refusalTable[code];
  return {
    status,
    body: { error: { code, message: more.message ?? message, remedy: more.remedy ?? remedy } },
    ...(more.headers && { headers: more.headers }),
  };
}

/** An error of the house as an answer; `status` where a route knows better than the table. */
export function refusalOf(error: unknown, status?: number): Refusal {
  const gwError = asGwError(error);
  const { code, message, tried, remedy } = gwError;
  if (code === 'INTERNAL') {
    // What went wrong inside is for the log, not for whoever asks.
    return {
      status: 500,
      body: { error: { code, message: 'gw met a bug of its own.', remedy: 'See the log of gw.' } },
    };
  }
  return {
    status: status ?? statusOfError[code] ?? 500,
    body: { error: { code, message, ...(tried && { tried }), remedy } },
  };
}
