import type { X509Certificate } from 'node:crypto';
import { certificatesOf, nameLine } from '../x509/index.ts';
import { CLOCK_TOLERANCE_MS, pathToRoot } from './certificate.ts';
import type { Identity } from './model.ts';

/**
 * So many days before the end of the device certificate, or of a CA certificate above it, every place that shows the state of
 * this gateway warns, each threshold anew. Project decision: the first leaves a month for a visit with a one-time code.
 */
export const END_WARNING_DAYS = [30, 14, 7, 1] as const;
/** From here on it is as bad as its end. Project decision: a visit takes longer than a day. */
const LAST_WARNING_DAYS = 1;
const DAY_MS = 86_400_000;

/** The validity of one certificate of an identity. */
interface Period {
  /** Null: the device certificate; otherwise the subject of a CA certificate above it. */
  readonly ca: string | null;
  readonly fromMs: number;
  readonly toMs: number;
}

/** When the first certificate of an identity ends, by a clock. */
export interface CertificateEnd {
  /** ending: within the first threshold. expired, not-yet-valid: no new connection to the cloud is accepted. */
  readonly status: 'ok' | 'ending' | 'expired' | 'not-yet-valid';
  /** The narrowest threshold that has passed; null before the first. */
  readonly withinDays: (typeof END_WARNING_DAYS)[number] | null;
  /** Whole days, negative after the end. */
  readonly daysLeft: number;
  readonly notAfter: string;
  /** Whether it is so close, or so far past, that it counts as bad and not as a warning. */
  readonly isUrgent: boolean;
  /** A sentence. */
  readonly detail: string;
  readonly remedy: string | null;
}

/** The periods of the device certificate and of its path to the root, as far as that is known. */
export function periodsOf({
  certificatePem,
  caPem,
}: {
  readonly certificatePem: string;
  readonly caPem: string;
}): Period[] {
  const [own, ...between] = certificatesOf(certificatePem) ?? [];
  if (own === undefined) throw new RangeError('an identity has a certificate');
  const path = pathToRoot(own, between, certificatesOf(caPem) ?? []) ?? [own];
  const timeOf = (text: string) => Date.parse(text);
  return path.map((one: X509Certificate) => ({
    ca: one === own ? null : nameLine(one.subject),
    // By the texts, as everywhere: certificatesOf refuses those that cannot be read.
    fromMs: timeOf(one.validFrom),
    toMs: timeOf(one.validTo),
  }));
}

/** Judges the certificate that ends first by the clock that is given. */
export function judgeEnd(periods: readonly Period[], now: Date): CertificateEnd {
  const nowMs = now.getTime();
  const first = periods.reduce((soonest, one) => (one.toMs < soonest.toMs ? one : soonest));
  const early = periods.find(({ fromMs }) => nowMs + CLOCK_TOLERANCE_MS < fromMs);
  const leftMs = first.toMs - nowMs;
  const notAfter = new Date(first.toMs).toISOString();
  const daysLeft = Math.floor(leftMs / DAY_MS);
  const withinDays = END_WARNING_DAYS.findLast((days) => leftMs <= days * DAY_MS) ?? null;
  const known = { withinDays, daysLeft, notAfter };
  const whose = ({ ca }: Period) => (ca === null ? 'The device certificate' : `The CA certificate '${ca}' above it`);
  const ca = first.ca === null ? '' : ' The cloud operator must renew that CA first.';
  const remedy = `Renew it with a new one-time code: \`gw enrol --renew\`.${ca}`;
  if (early !== undefined) {
    const from = new Date(early.fromMs).toISOString();
    return {
      ...known,
      status: 'not-yet-valid',
      isUrgent: true,
      detail: `${whose(early)} is not valid before ${from}, by the clock of this gateway.`,
      remedy: 'Check the clock of this gateway with timedatectl.',
    };
  }
  if (leftMs < 0) {
    const detail = `${whose(first)} expired at ${notAfter}: no new connection to the cloud is accepted.`;
    return { ...known, status: 'expired', isUrgent: true, detail, remedy };
  }
  if (withinDays === null) {
    const detail = `${whose(first)} ends at ${notAfter}, in ${daysLeft} days.`;
    return { ...known, status: 'ok', isUrgent: false, detail, remedy: null };
  }
  const left = daysLeft === 0 ? 'in less than a day' : daysLeft === 1 ? 'in 1 day' : `in ${daysLeft} days`;
  return {
    ...known,
    status: 'ending',
    isUrgent: withinDays <= LAST_WARNING_DAYS,
    detail: `${whose(first)} ends at ${notAfter}, ${left}: then the cloud accepts no connection, and no stop, release or support arrives.`,
    remedy,
  };
}

/** The same of an identity. */
export function endOfIdentity(
  { certificate, caPem }: Pick<Identity, 'certificate' | 'caPem'>,
  now: Date,
): CertificateEnd {
  return judgeEnd(periodsOf({ certificatePem: certificate.pem, caPem }), now);
}
