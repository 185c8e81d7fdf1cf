import { statfs } from 'node:fs/promises';
import { asGwError } from '../../error/index.ts';
import { assertOwnFolder, createBackoff, ensureFolder, onAbort } from '../../lifecycle/index.ts';
import type { JobExecutionWire, ReleaseDocumentWire } from '../wire.ts';
import { acceptExecution } from './accept.ts';
import type { ReleaseAgent, ReleaseAgentOptions, ReleaseLimits } from './agent-model.ts';
import { downloadPhase } from './download-phase.ts';
import { prune, readCurrent } from './folder.ts';
import { createJobs, type JobId } from './job.ts';
import type { PhaseContext } from './phase-context.ts';
import { confirmPhase, endBeforeSwitch, rollbackPhase, switchPhase, unpackPhase } from './phases.ts';
import { createRunStore, isLaunchedFrom, StateChanged } from './run-store.ts';
import { type Installation, isFinal, type RunState } from './state.ts';
import { unmanagedReason, viewRelease } from './view.ts';

/** Project decisions. */
const limitsOfReleases: ReleaseLimits = {
  healthyForMs: 5_000,
  pollMs: 500,
  retry: { firstMs: 2_000, maxMs: 300_000 },
  freeBytes: async (dir) => {
    const { bavail, bsize } = await statfs(dir);
    return bavail * bsize;
  },
};

/**
 * The release agent: a state machine whose state is durable before the work of each phase begins, so that a power cut
 * in any step ends in the old or the new version, and the job gets its status. See docs/cloud.md.
 */
export function createReleaseAgent(options: ReleaseAgentOptions): ReleaseAgent {
  const { release, clock, log, launched, version } = options;
  const limits = options.limits ?? limitsOfReleases;
  const jobs = createJobs(options);
  const store = release === undefined ? null : createRunStore(release.dir);
  const running: Installation = { folder: launched?.folder ?? null, version };

  let isManaged = false;
  let isStarted = false;
  let progress: string | null = null;
  let offered: JobExecutionWire | null = null;
  let isQueueDue = true;
  let hasOtherOffer = false;
  /** The document of the run under way, which holds the URL. */
  let document: ReleaseDocumentWire | null = null;
  /** The last execution that was answered again, so that a queue that keeps it is not asked in a loop. */
  let repeated: JobId | null = null;
  let wake = Promise.withResolvers<void>();

  const step: PhaseContext['step'] = async (name) => await options.onStep?.(name);
  const notify = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };

  async function takeNext(signal: AbortSignal): Promise<void> {
    if (offered === null && !isQueueDue) {
      const due = wake.promise;
      const ended = Promise.withResolvers<void>();
      using _aborted = onAbort(signal, ended.resolve);
      await Promise.race([due, ended.promise]);
      return;
    }
    const taken = offered;
    offered = null;
    isQueueDue = false;
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
    if (last !== null && isSame(last, execution)) return await answerAgain(last);
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
  }

  /** For a job that is not recorded in the release folder; asked again after a restart. */
  async function refuse(
    execution: JobExecutionWire,
    status: 'REJECTED' | 'FAILED',
    reason: string,
    signal: AbortSignal,
  ): Promise<void> {
    log.warn({ jobId: execution.jobId, reason }, 'a release was refused');
    const result = await jobs.report(execution, status, { reason, runningVersion: version }, signal);
    if (result === 'acknowledged') isQueueDue = true;
  }

  /** The service still lists an execution that has ended here: its report was lost. */
  async function answerAgain(last: RunState): Promise<void> {
    if (last.outcome === 'CANCELED' || (repeated !== null && isSame(repeated, last))) {
      log.warn({ jobId: last.jobId }, 'the job service lists a job that has ended; it is left alone');
      return;
    }
    repeated = { jobId: last.jobId, executionNumber: last.executionNumber };
    await store?.change(last.phase, { isReported: false, hasJobEnded: false });
  }

  async function reportEnd(context: PhaseContext, run: RunState): Promise<void> {
    const { outcome, failure, stage, documentParameters, from, to, phase } = run;
    let hasJobEnded = false;
    if (outcome !== null && outcome !== 'CANCELED') {
      const result = await jobs.report(
        run,
        outcome,
        {
          phase: failure?.phase ?? phase,
          reason: failure?.reason ?? null,
          version: to.version,
          fromVersion: from.version,
          stage: stage === null ? null : String(stage),
          documentParameters,
          rolledBackTo: phase === 'rolled-back' ? version : null,
          runningVersion: version,
        },
        context.signal,
      );
      if (result === 'ended') {
        const execution = await jobs.get(run.jobId, context.signal);
        // With this status it was an earlier report that arrived, and its acknowledgement that was lost.
        hasJobEnded = execution === null || !isSame(execution, run) || execution.status !== outcome;
        if (hasJobEnded) log.warn({ jobId: run.jobId, outcome }, 'the job had ended in the cloud before its report');
      }
      await step('reported');
    }
    await context.store.change(phase, { isReported: true, hasJobEnded });
    await step('report-recorded');
    document = null;
    isQueueDue = true;
  }

  /** The report does not depend on it; the next start tidies again. */
  async function tidy(context: PhaseContext): Promise<void> {
    try {
      await prune(context.store.dir, await keptFolders(context, running));
    } catch (error) {
      log.warn({ err: error }, 'old releases could not be removed');
    }
  }

  async function proceed(context: PhaseContext, run: RunState, bootMs: number): Promise<void> {
    switch (run.phase) {
      case 'downloading':
      case 'unpacking':
      case 'ready':
        if (run.from.folder !== running.folder || run.from.version !== running.version) {
          // The base installation was updated meanwhile.
          await context.store.change(run.phase, { from: running });
          return;
        }
        try {
          if (run.phase === 'downloading') await downloadPhase(context, run);
          else if (run.phase === 'unpacking') await unpackPhase(context, run);
          else await switchPhase(context, run);
        } catch (error) {
          context.signal.throwIfAborted();
          if (error instanceof StateChanged) throw error;
          const reached = context.store.current()?.run;
          // After the switch the end is decided by the rollback.
          if (reached?.phase === 'switched') throw error;
          await endBeforeSwitch(context, reached ?? run, error);
        }
        return;
      case 'switched':
        return await confirmPhase(context, run, bootMs);
      case 'rolling-back':
        return await rollbackPhase(context, run);
      default:
        await tidy(context);
        if (run.phase === 'confirmed') await step('pruned');
        return await reportEnd(context, run);
    }
  }

  async function work(signal: AbortSignal, bootMs: number): Promise<void> {
    if (store === null || release === undefined) return await takeNext(signal);
    const state = store.current() ?? (await store.load());
    const { run } = state;
    if (run === null || (isFinal(run.phase) && run.isReported)) return await takeNext(signal);
    const context: PhaseContext = {
      options: { ...options, release },
      limits,
      store,
      jobs,
      step,
      signal,
      onProgress: (detail) => (progress = detail),
      document: () => document,
      takeOtherOffer: () => {
        const had = hasOtherOffer;
        hasOtherOffer = false;
        return had;
      },
    };
    if (!isManaged && !isFinal(run.phase)) {
      // Neither the switch nor a judgement of the new version is possible without the launcher.
      progress = unmanagedReason(release.dir, launched?.dir ?? null);
      await clock.sleep(limits.retry.maxMs, signal);
      return;
    }
    await proceed(context, run, bootMs).finally(() => (progress = null));
  }

  return {
    offer(execution) {
      const run = store?.current()?.run ?? null;
      if (run !== null && !isFinal(run.phase)) {
        if (isSame(run, execution)) return;
        hasOtherOffer = true;
      }
      offered = execution;
      repeated = null;
      notify();
    },
    checkQueue() {
      isQueueDue = true;
      repeated = null;
      notify();
    },
    async run(signal) {
      const bootMs = clock.monotonicMs();
      const backoff = createBackoff(limits.retry, clock);
      isManaged = release !== undefined && (await isLaunchedFrom(release.dir, launched));
      isStarted = true;
      while (!signal.aborted) {
        try {
          await work(signal, bootMs);
          backoff.reset();
        } catch (error) {
          if (signal.aborted) break;
          if (error instanceof StateChanged) continue;
          log.error({ err: error }, 'the release agent failed; it continues later');
          await clock.sleep(backoff.nextMs(), signal).catch(() => {});
          // What the disk holds counts, not what could not be written.
          await store?.load().catch(() => {});
        }
      }
      isStarted = false;
    },
    view: () => viewRelease({ release, store, launched, version, isManaged, isStarted, progress }),
  };
}

function isSame(a: JobId, b: JobId): boolean {
  return a.jobId === b.jobId && a.executionNumber === b.executionNumber;
}

/** What runs, what the launcher starts next, and what a rollback would restore. */
async function keptFolders({ store }: PhaseContext, running: Installation): Promise<readonly (string | null)[]> {
  return [running.folder, await readCurrent(store.dir), store.current()?.previous?.folder ?? null];
}
