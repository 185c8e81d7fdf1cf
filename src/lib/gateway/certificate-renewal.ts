import type { CandidateIdentity, LinkIdentity } from '../cloud/index.ts';
import {
  type Candidate,
  candidateOf,
  failedRecord,
  forgetRenewal,
  installCandidate,
  judgeEnd,
  keepRenewal,
  periodsOf,
  type RenewalRecord,
  type RenewalRequest,
  readRenewal,
  requestRenewal,
} from '../enrolment/index.ts';
import { asGwError, GwError } from '../error/index.ts';
import { type Clock, createBackoff, type Log, repeat } from '../lifecycle/index.ts';
import type { RenewalHealth } from '../operator/index.ts';
import { renewalState } from './certificate-renewal-state.ts';

/** Project decisions. Between two looks; the time after which a look counts as hung, above that of a slow endpoint. */
const CHECK_INTERVAL_MS = 10_000;
const HUNG_MS = 120_000;
/** Between two requests after failed ones, and between two proofs at the broker; each proof may displace the present session. */
const REQUEST_RETRY = { firstMs: 3_600_000, maxMs: 24 * 3_600_000 };
const PROOF_RETRY = { firstMs: 60_000, maxMs: 30 * 60_000 };
/** Failed proofs beside a present certificate that works, after which the new one is given up. */
const MAX_REFUSALS = 3;
const MAX_UNREACHABLE = 24;
const DAY_MS = 86_400_000;

type ByRenewal = Pick<RenewalRequest, 'identityDir' | 'beforeMs' | 'retryAt' | 'clock' | 'signal' | 'onStep'>;

export interface RenewalOptions {
  /** `enrolment.renewal.beforeDays`; null: off. */
  readonly beforeDays: number | null;
  /** null: the site file has no enrolment. */
  readonly identityDir: string | null;
  /** Reads the installed identity; cheap while its file is the same. */
  readonly read: () => Promise<LinkIdentity | null>;
  /** Why nothing may be changed now, a clause; null: it may. */
  readonly hold: () => string | null;
  /** The same of whose the state on the disk is. */
  readonly claim: () => Promise<string | null>;
  /** What a request needs beside this. */
  readonly request: () => Promise<Omit<RenewalRequest, keyof ByRenewal>>;
  /** Called after each step on disk and on the wire. */
  readonly onStep?: RenewalRequest['onStep'];
  readonly clock: Clock;
  readonly log: Log;
}

/** Renewal of the device certificate without a visit, while the gateway runs. */
export interface CertificateRenewal extends Disposable {
  readonly candidate: CandidateIdentity;
  /** The installed identity, or the proved one that could not be installed yet. */
  readonly readIdentity: () => Promise<LinkIdentity | null>;
  view(): RenewalHealth;
  /** Resolves when the looks that were begun have ended. */
  settled(): Promise<void>;
}

/**
 * Asks for another certificate from `beforeDays` before the end of the present one, has the cloud link prove it beside that
 * one, and installs it then. Until then, and after a failure, the present one is what it was. Project decision.
 */
export function createCertificateRenewal(options: RenewalOptions): CertificateRenewal {
  const { beforeDays, read, hold, clock, log, onStep } = options;
  const identityDir = options.identityDir ?? '';
  const beforeMs = (beforeDays ?? 0) * DAY_MS;
  const ending = new AbortController();
  let proofs = createBackoff(PROOF_RETRY, clock);
  let record: RenewalRecord | null = null;
  let candidate: Candidate | null = null;
  let proved: { readonly renews: string; readonly identity: LinkIdentity } | null = null;
  let installed: LinkIdentity | null = null;
  let periods: ReturnType<typeof periodsOf> | null = null;
  let unnoted: RenewalRecord | null = null;
  let proofDueMs = 0;
  let isLoaded = false;
  let hasLooked = false;
  let waiting: string | null = null;
  let trouble: { readonly detail: string; readonly remedy: string | null } | null = null;
  let turn: Promise<void> = Promise.resolve();

  const retryAt = (failed: number) =>
    new Date(clock.wall().getTime() + createBackoff({ ...REQUEST_RETRY, attempt: failed - 1 }, clock).nextMs());
  const audit = (fields: object, message: string, level: 'info' | 'warn' = 'info') =>
    log[level]({ audit: true, ...fields }, `renewal of the device certificate: ${message}`);

  function keep(next: RenewalRecord | null): void {
    if (next?.candidate !== record?.candidate) candidate = next === null ? null : candidateOf(next);
    record = next;
  }

  /** One look at a time; what changes the disk is part of one. */
  function look(): Promise<void> {
    turn = turn.then(async () => {
      if (ending.signal.aborted) return;
      try {
        waiting = null;
        await step();
        trouble = null;
      } catch (error) {
        if (ending.signal.aborted) return;
        const { code, message, remedy } = asGwError(error);
        if (code === 'ENROLMENT_RUNNING') waiting = 'an enrolment runs in its folder';
        else {
          // It is looked at again every few seconds.
          if (trouble?.detail !== message) audit({ code, detail: message }, 'not possible', 'warn');
          trouble = { detail: message, remedy };
        }
      }
      hasLooked = true;
    });
    return turn;
  }

  async function step(): Promise<void> {
    const now = await readInstalled();
    if (!isLoaded) await load();
    if (record !== null && (beforeDays === null || (now !== null && record.renews !== now.fingerprintSha256))) {
      const isOwn = now !== null && now.certificatePem === candidate?.certificatePem;
      await forgetRenewal(identityDir);
      audit(
        { isOwn },
        isOwn ? 'the new certificate is installed' : 'ended; switched off, or another one was installed',
      );
      keep(null);
      proved = null;
    }
    if (beforeDays === null || now === null) return;
    if (unnoted !== null) await note(unnoted);
    if (proved !== null) return await install(proved.renews);
    // The cloud link proves it.
    if (candidate !== null) waiting = hold();
    if (candidate !== null || !isDue()) return;
    waiting = hold() ?? (await options.claim());
    if (waiting === null) await request();
  }

  async function readInstalled(): Promise<LinkIdentity | null> {
    const now = await read();
    if (now !== installed) periods = now === null ? null : periodsOf(now);
    installed = now;
    return now;
  }

  /** Once; from then on only this process, and the command of a person, change it. */
  async function load(): Promise<void> {
    try {
      keep(await readRenewal(identityDir));
    } catch (error) {
      if (!(error instanceof GwError) || error.code !== 'IDENTITY_BROKEN') throw error;
      await forgetRenewal(identityDir);
      audit({ detail: error.message }, 'what was begun cannot be used, and is removed', 'warn');
    }
    isLoaded = true;
  }

  async function request(): Promise<void> {
    const { signal } = ending;
    const parts = await options.request();
    if (trouble === null) audit({ endsAt: end()?.notAfter }, 'requested');
    keep(await requestRenewal({ ...parts, identityDir, beforeMs, retryAt, clock, signal, onStep }));
    proofs = createBackoff(PROOF_RETRY, clock);
    proofDueMs = clock.monotonicMs();
    if (candidate !== null) {
      const { fingerprintSha256, notAfter } = candidate;
      audit({ fingerprintSha256, notAfter }, 'a new certificate is kept, and not proved yet');
    } else audit({ ...record?.last, failed: record?.failed, nextAt: record?.nextAt }, 'failed', 'warn');
  }

  async function install(renews: string): Promise<void> {
    const isDone = await installCandidate(identityDir, renews, onStep);
    audit(
      { isDone },
      isDone ? 'the new certificate is installed' : 'not installed: another one was installed meanwhile',
    );
    keep(null);
    proved = null;
    isLoaded = isDone;
    await readInstalled();
  }

  const end = () => (periods === null ? null : judgeEnd(periods, clock.wall()));

  function isDue(): boolean {
    const ends = end();
    if (ends === null || ends.status === 'expired' || ends.status === 'not-yet-valid') return false;
    const nowMs = clock.wall().getTime();
    if (Date.parse(ends.notAfter) - nowMs > beforeMs) return false;
    const waitMs = record?.nextAt == null ? 0 : Date.parse(record.nextAt) - nowMs;
    // A longer wait was noted by a clock that was ahead.
    return waitMs <= 0 || waitMs > REQUEST_RETRY.maxMs;
  }

  const port: CandidateIdentity = {
    due(now) {
      if (candidate === null || proved !== null || record?.renews !== now.fingerprintSha256) return null;
      if (clock.monotonicMs() < proofDueMs || ending.signal.aborted) return null;
      waiting = hold();
      return waiting === null ? candidate : null;
    },

    tried(which, { failure, isUnreachable, wasConnected }) {
      if (record === null || record.candidate === null || which !== candidate) return;
      const { fingerprintSha256 } = which;
      if (failure === null) {
        proved = { renews: record.renews, identity: which };
        audit({ fingerprintSha256 }, 'the broker has accepted the new certificate and its subscriptions');
        void look();
        return;
      }
      proofDueMs = clock.monotonicMs() + proofs.nextMs();
      const { detail, remedy } = failure.outcome;
      const refusals = record.candidate.refusals + (wasConnected && !isUnreachable ? 1 : 0);
      const unreachable = record.candidate.unreachable + (wasConnected && isUnreachable ? 1 : 0);
      const error = new GwError('CERTIFICATE_UNUSABLE', `The broker has not proved the new certificate: ${detail}.`, {
        remedy: `${remedy ?? 'Ask the cloud operator.'} The certificate in use stays in use.`,
        details: { reason: 'not-proved' },
      });
      const isOver = refusals >= MAX_REFUSALS || unreachable >= MAX_UNREACHABLE;
      const failed = failedRecord(record, error, { clock, retryAt });
      const kept = { ...record, candidate: { ...record.candidate, refusals, unreachable }, last: failed.last };
      const next = isOver ? { ...failed, candidate: null } : kept;
      keep(next);
      // The same certificate, with another count.
      if (!isOver) candidate = which as Candidate;
      audit({ fingerprintSha256, detail, refusals, unreachable, isOver }, 'not proved', 'warn');
      turn = turn.then(() => note(next));
    },
  };

  /** Again at the next look where it fails, for example while an enrolment runs. */
  async function note(next: RenewalRecord): Promise<void> {
    unnoted = null;
    if (record !== next) return;
    try {
      if (!(await keepRenewal(identityDir, next))) isLoaded = false;
    } catch (error) {
      unnoted = next;
      log.warn({ error: asGwError(error).message }, 'the renewal of the device certificate cannot be noted');
    }
  }

  const ticking =
    beforeDays === null
      ? null
      : repeat(clock, {
          everyMs: CHECK_INTERVAL_MS,
          hungMs: HUNG_MS,
          work: look,
          onHung: () => {
            trouble = { detail: 'The folder of the identity or the endpoint does not answer.', remedy: null };
          },
        });
  if (ticking !== null) ticking.tick();
  // What was begun before it was switched off goes.
  else if (options.identityDir !== null) void look();

  return {
    candidate: port,
    async readIdentity() {
      const now = await read();
      return proved !== null && now?.fingerprintSha256 === proved.renews ? proved.identity : now;
    },
    settled: () => turn,
    view: () => ({
      ...renewalState({
        ...{ beforeDays, hasLooked, record, trouble, waiting, ends: end(), isDue: isDue() },
        ...{ isEnrolled: installed !== null, isProved: proved !== null },
      }),
      beforeDays,
      candidate:
        candidate === null || record?.candidate == null
          ? null
          : {
              ...{ fingerprintSha256: candidate.fingerprintSha256, notAfter: candidate.notAfter },
              keptAt: record.candidate.keptAt,
              failedProofs: record.candidate.refusals + record.candidate.unreachable,
            },
      failed: record?.failed ?? 0,
      last: record?.last == null ? null : { at: record.last.at, detail: record.last.detail },
      nextAt: record?.nextAt ?? null,
    }),
    [Symbol.dispose]() {
      ending.abort(new Error('the gateway ends'));
      ticking?.[Symbol.dispose]();
    },
  };
}
