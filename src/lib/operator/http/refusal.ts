import type { z } from 'zod';
import { asGwError, type ErrorCode } from '../../error/index.ts';
import type { DeepReadonly } from '../../json/index.ts';
import type { errorBodySchema } from '../answers/answers.ts';

/**
 * Every refusal of the operator server. The body is always `{"error":{"code","message","tried?","remedy?"}}`; shape and
 * codes are project decisions.
 */
export const refusalTable = {
  BAD_REQUEST: [400, 'The request is malformed.', 'Send what docs/operator.md describes for this route.'],
  NOT_SIGNED_IN: [401, 'Sign-in required.', 'Sign in on site, on the page /anmeldung of port 5173.'],
  SIGN_IN_FAILED: [401, 'Wrong device password.', 'Try again with the device password.'],
  READ_ONLY: [
    403,
    'The read-only socket does not offer this.',
    'Use the full operator surface, in the robot segment of the site.',
  ],
  ON_GATEWAY_ONLY: [
    403,
    'This is for programs on the gateway itself.',
    'Ask on the gateway: 127.0.0.1, or the local socket in stateDir.',
  ],
  CROSS_SITE: [403, 'A page of another site sent this request.', 'Use the pages of this gateway itself.'],
  NOT_FOUND: [404, 'Not found.', 'See docs/operator.md for the routes.'],
  NOT_CONFIGURED: [409, 'Not configured on this gateway.', 'Configure it in the site file, then restart `gw serve`.'],
  STATE_OUTDATED: [
    409,
    'The state that this order was given for is outdated; nothing was ordered.',
    'Look at the present state, and order again.',
  ],
  TIMEOUT: [408, 'The request did not arrive in time.', 'Send it again.'],
  LENGTH_REQUIRED: [411, 'The body comes in chunks.', 'Send it with a Content-Length.'],
  TOO_LARGE: [413, 'The request exceeds the size limit of this route.', 'Send less.'],
  UNSUPPORTED_TYPE: [415, 'Unsupported content type.', 'Send application/json.'],
  WRONG_HOST: [
    421,
    'The Host header names another host.',
    'Use its address, or add the name to operator.names in the site file.',
  ],
  HEADERS_TOO_LARGE: [431, 'The request line or its headers are too long.', 'Send a shorter request.'],
  TOO_MANY_TRIES: [429, 'Too many failed sign-in attempts.', 'Wait a minute, then try again.'],
  SIGN_IN_BUSY: [
    429,
    'Too many concurrent sign-ins; the password was not checked.',
    'Try again in a second: a retry keeps its place in the queue.',
  ],
  SIGN_IN_UNAVAILABLE: [
    503,
    'The password file of this gateway cannot be read; sign-in is unavailable.',
    'Correct the file on the gateway (`gw site check` names it), then sign in again.',
  ],
  MAP_TOO_LARGE: [
    502,
    'The map of the chassis exceeds 32 MiB, which this gateway does not forward.',
    'Remove overlays from the map with the tool of the vendor.',
  ],
  NOT_CONFIRMED: [503, 'Requested, and not confirmed yet.', 'Look at the state: GET /api/wartung/sitzung.'],
  BUSY: [503, 'Too many concurrent requests of this kind.', 'Try again in a moment.'],
  LOOP_DETECTED: [
    508,
    'This request was forwarded by this gateway itself.',
    'Set operator.voice.url and operator.building.url to the devices themselves.',
  ],
  NO_SPACE: [507, 'No space left for the file.', 'Delete media that are no longer needed.'],
} as const satisfies Record<string, readonly [status: number, message: string, remedy: string]>;

export type RefusalCode = keyof typeof refusalTable;

/** HTTP status of each gw error; any other error is an internal error: 500. */
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
  QUEUE_CLOSED: 409,
  QUEUE_FULL: 409,
  TOUR_RUNNING: 409,
  TOUR_NOT_RUNNING: 409,
  TOUR_NOT_PAUSED: 409,
  GATEWAY_OTHER_ROBOT: 409,
  MOTION_REFUSED: 409,
  MOTION_STOPPED: 423,
  INTERRUPTED: 503,
  FILE_UNWRITABLE: 500,
  FILE_UNREADABLE: 500,
  INCIDENT_UNKNOWN: 404,
  INCIDENT_INVALID: 500,
  EVIDENCE_FILE_INVALID: 409,
  SITE_FILE_INVALID: 409,
};

type ErrorBody = DeepReadonly<z.infer<typeof errorBodySchema>>;

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

/** A gw error as an answer; `status` overrides the one of the table. */
export function refusalOf(error: unknown, status?: number): Refusal {
  const gwError = asGwError(error);
  const { code, message, tried, remedy } = gwError;
  if (code === 'INTERNAL') {
    // Details of an internal error go to the log, not to the client.
    return {
      status: 500,
      body: { error: { code, message: 'Internal error.', remedy: 'See the log of `gw serve`.' } },
    };
  }
  return {
    status: status ?? statusOfError[code] ?? 500,
    body: { error: { code, message, ...(tried && { tried }), remedy } },
  };
}
