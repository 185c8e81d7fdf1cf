import { asGwError } from '../../../error/index.ts';
import { assertOwnFolder, ensureFolder } from '../../../lifecycle/index.ts';
import type { JobExecutionWire, ReleaseDocumentWire } from '../../wire.ts';
import type { ReleaseAgentOptions } from '../agent-model.ts';
import type { OnStep, RunStore } from '../run-store.ts';
import type { Installation, RunState } from '../state.ts';
import { unmanagedReason } from '../view.ts';
import { acceptExecution } from './accept.ts';
import { isSameJob, type Jobs } from './jobs.ts';
import type { Offers } from './offers.ts';

export interface IntakeOptions {
  readonly options: Pick<ReleaseAgentOptions, 'release' | 'launched' | 'clock' | 'log'>;
  /** Null without `release`. */
  readonly store: RunStore | null;
  readonly jobs: Jobs;
  readonly offers: Offers;
  readonly running: Installation;
  readonly step: OnStep;
}

/** Takes job executions, one after the other: each becomes the run of the store, or is refused, or answered again. */
export interface Intake {
  /**
   * Takes the next execution, or waits until one may be there. `isManaged`: whether gw was started by the launcher of the
   * release folder; otherwise every release is refused. Throws StateChanged, FILE_UNWRITABLE.
   */
  takeNext(signal: AbortSignal, isManaged: boolean): Promise<void>;
  /** The document of the run under way, which holds the URL; null: it was lost with a restart, or there is no run. */
  document(): ReleaseDocumentWire | null;
  /** The end of the run was reported. */
  ended(): void;
}

export function createIntake({ options, store, jobs, offers, running, step }: IntakeOptions): Intake {
  const { release, launched, clock, log } = options;
  let document: ReleaseDocumentWire | null = null;

  /** For a job that is not recorded in the release folder; asked again after a restart. */
  async function refuse(
    execution: JobExecutionWire,
    status: 'REJECTED' | 'FAILED',
    reason: string,
    signal: AbortSignal,
  ): Promise<void> {
    log.warn({ jobId: execution.jobId, reason }, 'a release was refused');
    const result = await jobs.report(execution, status, { reason, runningVersion: running.version }, signal);
    if (result === 'acknowledged') offers.expectNext();
  }

  /** The service still lists an execution that has ended here: its report was lost. */
  async function answerAgain(last: RunState): Promise<void> {
    if (last.outcome === 'CANCELED' || offers.wasAnsweredAgain(last)) {
      log.warn({ jobId: last.jobId }, 'the job service lists a job that has ended; it is left alone');
      return;
    }
    offers.answeredAgain(last);
    await store?.change(last.phase, { isReported: false, hasJobEnded: false });
  }

  return {
    async takeNext(signal, isManaged) {
      if (offers.isEmpty) return await offers.changed(signal);
      const taken = offers.take();
      const execution = taken?.jobDocument === undefined ? await jobs.startNext(signal) : taken;
      if (execution === null) return;
      if (execution.status !== 'QUEUED' && execution.status !== 'IN_PROGRESS') return;
      // It becomes a part of topics.
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(execution.jobId)) {
        log.warn({}, 'a job with an unusable job id was left alone');
        return;
      }
      if (store === null || release === undefined) {
        return await refuse(execution, 'REJECTED', 'The site file of this gateway has no cloud.release.', signal);
      }
      if (!isManaged) {
        return await refuse(execution, 'REJECTED', unmanagedReason(release.dir, launched?.dir ?? null), signal);
      }
      const last = store.current()?.run ?? null;
      if (last !== null && isSameJob(last, execution)) return await answerAgain(last);
      const accepted = await acceptExecution(execution, { release, running, at: clock.wall().toISOString() });
      try {
        // Like every state, it is on the disk before its work begins.
        await ensureFolder(release.dir, 0o700);
        // The launcher starts what is in it.
        await assertOwnFolder(release.dir);
        await store.place(accepted.run);
      } catch (error) {
        return await refuse(execution, 'FAILED', asGwError(error).message, signal);
      }
      document = accepted.ok ? accepted.document : null;
      log.info({ jobId: execution.jobId, version: accepted.run.to.version }, 'a release was received');
      await step(accepted.ok ? 'accepted' : 'phase-rejected');
    },

    document: () => document,

    ended() {
      document = null;
      offers.expectNext();
    },
  };
}
