import type { CertificateEnd, RenewalRecord } from '../enrolment/index.ts';
import type { RenewalHealth } from '../operator/index.ts';

interface RenewalNow {
  readonly beforeDays: number | null;
  readonly hasLooked: boolean;
  /** Whether this device has an identity. */
  readonly isEnrolled: boolean;
  readonly record: RenewalRecord | null;
  readonly isProved: boolean;
  /** Why the last look was not completed. */
  readonly trouble: { readonly detail: string; readonly remedy: string | null } | null;
  /** Why nothing is done now, a clause. */
  readonly waiting: string | null;
  readonly ends: Pick<CertificateEnd, 'status' | 'notAfter'> | null;
  /** Whether a request is made at the next look. */
  readonly isDue: boolean;
}

/** The state of a renewal in words. What was not proved at the broker is called so. */
export function renewalState(now: RenewalNow): Pick<RenewalHealth, 'status' | 'detail' | 'remedy'> {
  const { beforeDays, record, trouble, waiting, ends } = now;
  const none = { remedy: null };
  if (beforeDays === null) return { status: 'off', detail: 'enrolment.renewal is not set in the site file.', ...none };
  if (trouble !== null) return { status: 'failing', ...trouble };
  if (!now.hasLooked) return { status: 'not-checked', detail: 'Not checked yet.', ...none };
  if (!now.isEnrolled || ends === null)
    return { status: 'not-enrolled', detail: 'This device is not enrolled.', ...none };
  const held = waiting === null ? '' : ` It waits: ${waiting}.`;
  const last = record?.last ?? null;
  const remedy = last?.remedy ?? null;
  if (now.isProved) {
    const detail = `The broker has accepted the new certificate, and it is not installed yet.${held}`;
    return { status: 'not-proved', detail, remedy };
  }
  if (record?.candidate) {
    const why = last === null ? '' : ` ${last.detail}`;
    const detail = `A new certificate is kept since ${record.candidate.keptAt}, and the broker has not proved it yet: the one before is in use.${why}${held}`;
    return { status: 'not-proved', detail, remedy };
  }
  if (ends.status === 'expired') {
    const detail = `The certificate expired at ${ends.notAfter}, so the gateway cannot renew it by itself.`;
    return { status: 'over', detail, remedy: 'Renew it with a new one-time code: `gw enrol --renew`.' };
  }
  if (last !== null) {
    const next = record?.nextAt == null ? 'at once' : `not before ${record.nextAt}`;
    return {
      status: 'failing',
      detail: `Failed at ${last.at}: ${last.detail} The next attempt: ${next}.${held}`,
      remedy,
    };
  }
  if (now.isDue) return { status: 'due', detail: `It is due, and requested at the next look.${held}`, ...none };
  const detail = `It is requested from ${beforeDays} days before ${ends.notAfter}.`;
  return { status: 'not-due', detail, ...none };
}
