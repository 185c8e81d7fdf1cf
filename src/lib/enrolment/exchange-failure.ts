import { GwError, type Tried } from '../error/index.ts';
import { quote, readJsonBytes } from '../json/index.ts';
import { type TlsFailure, type TlsProbe, tlsFailureOf } from '../net/probe/index.ts';
import { refusalSchema } from './wire.ts';

type UnverifiedEndpoint = Pick<Extract<TlsProbe, { kind: 'established' }>, 'trust' | 'chain'>;

interface RefusalText {
  readonly text: string;
  readonly remedy?: string;
}

/** Project decision: the meaning of each status. */
const refusals: Readonly<Record<number, RefusalText>> = {
  400: {
    text: 'invalid request',
    remedy: 'The endpoint expects another version: contact its operator.',
  },
  401: { text: 'invalid one-time code' },
  403: { text: 'one-time code not valid for this serial number' },
  404: {
    text: 'no enrolment at this address',
    remedy: 'Check enrolment.url in the site file; `/anmeldung` is added to it.',
  },
  409: {
    text: 'serial number already enrolled with another key, or code already used with another key',
    remedy: 'To replace the identity, run `gw enrol --renew` with a new one-time code.',
  },
  410: { text: 'one-time code expired' },
  429: { text: 'too many attempts', remedy: 'Wait a few minutes, then run the command again.' },
};

/** The same for a request without a code, by the client certificate of the device. */
const renewalRefusals: Readonly<Record<number, RefusalText>> = {
  ...refusals,
  401: { text: 'no client certificate, or one that is not known' },
  403: { text: 'the certificate of this device is not accepted for a renewal' },
  409: { text: 'a renewal with another key was made already' },
  410: { text: 'the certificate of this device has expired' },
};
const NEEDS_CODE = 'Ask the cloud operator, or renew with a new one-time code: `gw enrol --renew`.';

/** Errors of the operating system and the HTTP parser have a code; others are not connection failures. */
export function exchangeFailure(cause: unknown, tried: Tried): unknown {
  if (!(cause instanceof Error) || cause instanceof GwError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (typeof code !== 'string') return cause;
  const failure = tlsFailureOf(cause);
  if (failure.kind === 'certificate-refused') return certificateRefused(failure.alert, tried, cause);
  if (code.startsWith('HPE_')) return badAnswer('the response is not HTTP', tried, 'no-http');
  return notReachable('connection closed before the response was complete', tried, 'cut', cause);
}

/** Errors of the exchange with the enrolment endpoint; docs/enrolment.md lists them. */

export function redirected(location: string | undefined, status: number, tried: Tried): GwError {
  // Only the origin, since the path may hold anything.
  const to = location !== undefined && URL.canParse(location) ? ` to ${quote(new URL(location).origin)}` : '';
  return badAnswer(`it redirects${to} (status ${status}), which is not followed`, tried, 'redirect', {
    remedy:
      'If the final address is the right one, set enrolment.url in the site file to it; a captive portal redirects as well.',
    status,
  });
}

export function refusal(
  status: number,
  bytes: Uint8Array,
  tried: Tried,
  { hide, isByCode }: { readonly hide: (text: string) => string; readonly isByCode: boolean },
): GwError {
  const reading = readJsonBytes(bytes);
  const parsed = reading.ok ? refusalSchema.safeParse(reading.value) : undefined;
  const { code, message } = parsed?.success === true ? parsed.data.error : {};
  const detail = message === undefined ? '' : `: ${quote(hide(message))}`;
  const details = {
    status,
    ...(code !== undefined && { code: hide(code).slice(0, 64) }),
    ...(message !== undefined && { message: hide(message).slice(0, 200) }),
  };
  if (status >= 500) {
    return new GwError('ENROLMENT_UNAVAILABLE', `The endpoint returned a server error, status ${status}${detail}.`, {
      tried,
      remedy: isByCode ? undefined : 'The gateway asks again by itself; if it lasts, report it to the cloud operator.',
      details,
    });
  }
  if (status < 400) return badAnswer(`it answered with status ${status}`, tried, 'status', { status });
  if (parsed?.success !== true && !reading.ok && isHtml(bytes)) {
    return badAnswer(`it answered with status ${status} and a web page`, tried, 'not-json', { status });
  }
  const known = (isByCode ? refusals : renewalRefusals)[status];
  return new GwError(
    'ENROLMENT_REFUSED',
    `Enrolment refused: ${known?.text ?? 'unknown reason'} (status ${status})${detail}.`,
    { tried, remedy: known?.remedy ?? (isByCode ? undefined : NEEDS_CODE), details },
  );
}

/** TLS 1.3 says it after the handshake. */
function certificateRefused(alert: string, tried: Tried, cause?: unknown): GwError {
  return new GwError('ENROLMENT_REFUSED', `Enrolment refused: the certificate of this device, TLS alert ${alert}.`, {
    ...{ tried, remedy: NEEDS_CODE, cause },
    details: { alert },
  });
}

function isHtml(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 256)).toString('latin1').trimStart().startsWith('<');
}

export function badAnswer(
  why: string,
  tried: Tried,
  reason: string,
  more: { readonly remedy?: string; readonly status?: number } = {},
): GwError {
  return new GwError('ENROLMENT_BAD_ANSWER', `Not an enrolment endpoint: ${why}.`, {
    tried,
    remedy: more.remedy,
    details: { reason, ...(more.status !== undefined && { status: more.status }) },
  });
}

export function notReachable(why: string, tried: Tried, reason: string, cause?: unknown): GwError {
  return new GwError('ENROLMENT_NOT_REACHABLE', `not connected: ${why}.`, { tried, details: { reason }, cause });
}

export function handshakeFailure(failure: TlsFailure, tried: Tried): GwError {
  switch (failure.kind) {
    case 'no-answer':
      return notReachable('TCP connected, no answer to the ClientHello', tried, 'silent');
    case 'cut':
      return notReachable('connection closed during the TLS handshake', tried, 'cut');
    case 'not-tls':
      return badAnswer('the response is not TLS', tried, 'no-tls');
    case 'alpn-refused':
      return badAnswer('TLS alert no_application_protocol', tried, 'tls-alert');
    case 'certificate-refused':
      return certificateRefused(failure.alert, tried);
    case 'alert':
      return badAnswer(`TLS alert ${failure.alert}`, tried, 'tls-alert');
  }
}

/** The endpoint was not verified, and nothing was sent to it. */
export function untrusted({ trust, chain }: UnverifiedEndpoint, now: Date, tried: Tried): GwError {
  const issuer = chain[0]?.issuer ?? null;
  const refuse = (why: string, details: Readonly<Record<string, unknown>>, remedy?: string) =>
    new GwError('ENROLMENT_UNTRUSTED', `${why}; nothing was sent.`, { tried, remedy, details: { ...details, issuer } });
  if (!('fault' in trust)) return refuse('The endpoint was not verified', { reason: trust.kind });
  const { fault, reason } = trust;
  const clock = reason === 'CERT_HAS_EXPIRED' || reason === 'CERT_NOT_YET_VALID' ? `; it is ${now.toISOString()}` : '';
  return refuse(
    `The endpoint was not verified: ${fault.detail}${clock}`,
    { reason, fault: fault.code, addressee: fault.addressee },
    fault.remedy,
  );
}
