import { judgeEnd, periodsOf } from '../enrolment/index.ts';
import { asGwError } from '../error/index.ts';
import { type Clock, type Log, repeat } from '../lifecycle/index.ts';
import type { CertificateHealth } from '../operator/index.ts';

/** Project decisions: the check interval, and the time after which a check counts as hung. */
const CHECK_INTERVAL_MS = 10_000;
const HUNG_MS = 15_000;

/** The installed identity, as far as its end depends on it. */
type Installed = Parameters<typeof periodsOf>[0];

export interface CertificateWatch extends Disposable {
  /** Judged by the clock at the moment of the call. */
  view(): CertificateHealth;
}

const open = (detail: string, remedy: string | null = null): CertificateHealth => ({
  ...{ status: 'not-checked', withinDays: null, daysLeft: null, notAfter: null, detail, remedy },
});

/** Watches the end of the device certificate and of the CA certificates above it; `read` is cheap while its file is the same. */
export function watchCertificate(options: {
  readonly isConfigured: boolean;
  readonly read: () => Promise<Installed | null>;
  readonly clock: Clock;
  readonly log: Log;
}): CertificateWatch {
  const { isConfigured, read, clock, log } = options;
  if (!isConfigured) {
    const none: CertificateHealth = { ...open('The site file has no enrolment.'), status: 'not-configured' };
    return { view: () => none, [Symbol.dispose]: () => {} };
  }
  let seen: CertificateHealth | { readonly periods: ReturnType<typeof periodsOf> } = open('Not checked yet.');
  let from: Installed | null = null;
  let logged = '';

  function view(): CertificateHealth {
    if (!('periods' in seen)) return seen;
    const { isUrgent, status, ...rest } = judgeEnd(seen.periods, clock.wall());
    return { ...rest, status: status === 'ending' && isUrgent ? 'ending-now' : status };
  }

  function take(installed: Installed | null): void {
    if (installed === null) seen = { ...open('This device is not enrolled.'), status: 'not-enrolled' };
    else if (installed !== from || !('periods' in seen)) seen = { periods: periodsOf(installed) };
    from = installed;
    const { status, withinDays, detail, notAfter } = view();
    const stage = `${status} ${withinDays}`;
    if (stage !== logged && (withinDays !== null || status === 'not-yet-valid')) {
      log.warn({ status, withinDays, notAfter, detail }, 'end of the device certificate');
    }
    logged = stage;
  }

  const ticking = repeat(clock, {
    everyMs: CHECK_INTERVAL_MS,
    hungMs: HUNG_MS,
    work: () =>
      read().then(take, (error: unknown) => {
        const { message, remedy } = asGwError(error);
        seen = open(message, remedy);
      }),
    onHung: () => {
      seen = open('The folder of the identity does not answer.', 'Check the disk of this machine (`dmesg`, `df`).');
    },
  });
  ticking.tick();
  return { view, [Symbol.dispose]: () => ticking[Symbol.dispose]() };
}
