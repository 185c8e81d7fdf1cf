import { GwError, type Tried } from '../error/index.ts';
import { quote, readJsonBytes } from '../json/index.ts';
import type { TlsFailure, Trust } from '../net/probe/index.ts';
import type { CertificateView } from '../x509/index.ts';
import { refusalSchema } from './wire.ts';

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

/** Errors of the operating system and the HTTP parser have a code; others are not connection failures. */
export function exchangeFailure(cause: unknown, tried: Tried): unknown {
  if (!(cause instanceof Error) || cause instanceof GwError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (typeof code !== 'string') return cause;
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

export function refusal(status: number, bytes: Uint8Array, tried: Tried, hide: (text: string) => string): GwError {
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
      details,
    });
  }
  if (status < 400) return badAnswer(`it answered with status ${status}`, tried, 'status', { status });
  if (parsed?.success !== true && !reading.ok && isHtml(bytes)) {
    return badAnswer(`it answered with status ${status} and a web page`, tried, 'not-json', { status });
  }
  const known = refusals[status];
  return new GwError(
    'ENROLMENT_REFUSED',
    `Enrolment refused: ${known?.text ?? 'unknown reason'} (status ${status})${detail}.`,
    { tried, remedy: known?.remedy, details },
  );
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
    case 'alert':
      return badAnswer(`TLS alert ${failure.alert}`, tried, 'tls-alert');
  }
}

export function untrusted(
  certificate: CertificateView | undefined,
  trust: Trust,
  host: string,
  now: Date,
  tried: Tried,
): GwError {
  const issuer = certificate?.issuer ?? null;
  const reason = 'reason' in trust ? trust.reason : trust.kind;
  const refuse = (why: string, remedy?: string) =>
    new GwError('ENROLMENT_UNTRUSTED', `${why}; nothing was sent.`, { tried, remedy, details: { reason, issuer } });
  if (trust.kind === 'hostname-mismatch') {
    return refuse(
      `Hostname mismatch: the certificate is not for ${host}`,
      'Check enrolment.url in the site file; the certificate is for another host name.',
    );
  }
  if (certificate !== undefined && (trust.kind === 'expired' || trust.kind === 'not-yet-valid')) {
    const { notBefore: from, notAfter: to } = certificate;
    const own = now.getTime() < Date.parse(from) || now.getTime() > Date.parse(to);
    const which = own ? `it is valid from ${from} to ${to}` : 'a CA certificate of its chain is not valid now';
    return refuse(
      `The endpoint certificate is not valid by the clock of this device, ${now.toISOString()}: ${which}`,
      'Check the clock of this device with timedatectl. If it is wrong, set it and run the command again; if it is right, the cloud operator must renew the certificate.',
    );
  }
  return refuse(
    `The endpoint certificate was issued by ${issuer === null ? 'an unknown issuer' : quote(issuer)}, which is not a trusted CA`,
    "If this is the CA of your enrolment endpoint, set enrolment.caFile to its certificate. If not, a proxy intercepts TLS: ask the customer's IT for an exemption.",
  );
}
