import { GwError, type Tried } from '../error/index.ts';
import { quote, readJsonBytes } from '../json/index.ts';
import type { ChainLink, TlsFailure, Trust } from '../net/probe/index.ts';
import { refusalSchema } from './wire.ts';

/** What an exchange with the enrolment endpoint can fail at, in the words of a person; docs/enrolment.md has the list. */

export function redirected(location: string | undefined, status: number, tried: Tried): GwError {
  // Only where to: what stands behind it may hold anything.
  const to = location !== undefined && URL.canParse(location) ? ` to ${quote(new URL(location).origin)}` : '';
  return badAnswer(`it redirects${to} (status ${status}), and the one-time code goes nowhere else`, tried, 'redirect', {
    remedy:
      'Name the final address in enrolment.url of the site file if it is the right one; a login page of this network does the same.',
    status,
  });
}

interface RefusalText {
  readonly text: string;
  readonly remedy?: string;
}

/** What a status means is a decision of ours, as the body is. */
const refusals: Readonly<Record<number, RefusalText>> = {
  400: {
    text: 'it does not understand the request',
    remedy: 'The endpoint speaks another version: tell its operator.',
  },
  401: { text: 'the one-time code is not valid' },
  403: { text: 'the one-time code is not valid for this serial number' },
  404: {
    text: 'there is no enrolment at this address',
    remedy: 'Check enrolment.url in the site file; `/anmeldung` is added to it.',
  },
  409: {
    text: 'this serial number is enrolled already with another key, or the code was used with another one',
    remedy: 'If the identity is to be replaced: gw enrol --renew, with a new one-time code.',
  },
  410: { text: 'the one-time code has expired' },
  429: { text: 'there were too many tries', remedy: 'Wait a few minutes, then run it again.' },
};

export function refusal(status: number, bytes: Uint8Array, tried: Tried, hide: (text: string) => string): GwError {
  const reading = readJsonBytes(bytes);
  const parsed = reading.ok ? refusalSchema.safeParse(reading.value) : undefined;
  const { code, message } = parsed?.success === true ? parsed.data.error : {};
  const said = message === undefined ? '' : `: ${quote(hide(message))}`;
  const details = {
    status,
    ...(code !== undefined && { code: hide(code).slice(0, 64) }),
    ...(message !== undefined && { message: hide(message).slice(0, 200) }),
  };
  if (status >= 500) {
    return new GwError('ENROLMENT_UNAVAILABLE', `The enrolment endpoint failed with status ${status}${said}.`, {
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
    `The enrolment endpoint refused: ${known?.text ?? 'it gives no reason that is known'} (status ${status})${said}.`,
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
  return new GwError('ENROLMENT_BAD_ANSWER', `This is no enrolment endpoint: ${why}.`, {
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
      return notReachable('the address answers, but not the greeting of TLS', tried, 'silent');
    case 'cut':
      return notReachable('the connection was cut during the greeting of TLS', tried, 'cut');
    case 'not-tls':
      return badAnswer('it does not speak TLS', tried, 'no-tls');
    case 'alpn-refused':
      return badAnswer('it ended the greeting of TLS (no application protocol)', tried, 'tls-alert');
    case 'certificate-refused':
    case 'alert':
      return badAnswer(`it ended the greeting of TLS (${failure.alert})`, tried, 'tls-alert');
  }
}

/** What the operating system and the HTTP parser say has a code; anything else is no failure of the line. */
export function exchangeFailure(cause: unknown, tried: Tried): unknown {
  if (!(cause instanceof Error) || cause instanceof GwError) return cause;
  const { code } = cause as NodeJS.ErrnoException;
  if (typeof code !== 'string') return cause;
  if (code.startsWith('HPE_')) return badAnswer('what it answers is not HTTP', tried, 'no-http');
  return notReachable('the connection was cut before the answer was there', tried, 'cut', cause);
}

export function untrusted(
  certificate: ChainLink | undefined,
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
      `The certificate that answers is not for ${host}`,
      'Check enrolment.url in the site file: the certificate is for another name than the one in it.',
    );
  }
  if (certificate !== undefined && (trust.kind === 'expired' || trust.kind === 'not-yet-valid')) {
    const { notBefore: from, notAfter: to } = certificate;
    const own = now.getTime() < Date.parse(from) || now.getTime() > Date.parse(to);
    const which = own ? `it is valid from ${from} to ${to}` : 'one of those above it is out of its time';
    return refuse(
      `The certificate that answers is not valid by the clock of this device, which says ${now.toISOString()}: ${which}`,
      'First look at the clock of this device (timedatectl). If it is wrong, set it and run this again; if it is right, the operator of the cloud must renew the certificate.',
    );
  }
  return refuse(
    `The certificate that answers was issued by ${issuer === null ? 'nobody' : quote(issuer)}, which is not trusted here`,
    'If this is the authority of your own enrolment endpoint, name its certificate in enrolment.caFile. If not, something in this network inspects TLS: ask its IT for an exception.',
  );
}
