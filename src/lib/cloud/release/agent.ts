import { statfs } from 'node:fs/promises';
import { createBackoff } from '../../lifecycle/index.ts';
import type { ReleaseAgent, ReleaseAgentOptions, ReleaseLimits } from './agent-model.ts';
import { createIntake } from './job/intake.ts';
import { createJobs, isSameJob } from './job/jobs.ts';
import { createOffers } from './job/offers.ts';
import type { PhaseContext } from './phase/phase-context.ts';
import { proceed } from './phase/proceed.ts';
import { createRunStore, isLaunchedFrom, StateChanged } from './run-store.ts';
import { type Installation, isFinal } from './state.ts';
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
  const step: PhaseContext['step'] = async (name) => await options.onStep?.(name);
  const offers = createOffers();
  const intake = createIntake({ options, store, jobs, offers, running, step });
  let isManaged = false;
  let isStarted = false;
  let progress: string | null = null;

  async function work(signal: AbortSignal, bootMs: number): Promise<void> {
    if (store === null || release === undefined) return await intake.takeNext(signal, isManaged);
    const state = store.current() ?? (await store.load());
    const { run } = state;
    if (run === null || (isFinal(run.phase) && run.isReported)) return await intake.takeNext(signal, isManaged);
    if (!isManaged && !isFinal(run.phase)) {
      // Neither the switch nor a judgement of the new version is possible without the launcher.
      progress = unmanagedReason(release.dir, launched?.dir ?? null);
      await clock.sleep(limits.retry.maxMs, signal);
      return;
    }
    const context: PhaseContext = {
      options: { ...options, release },
      limits,
      store,
      jobs,
      running,
      step,
      signal,
      onProgress: (detail) => (progress = detail),
      document: intake.document,
      takeOtherOffer: offers.takeOther,
      onReported: intake.ended,
    };
    await proceed(context, run, bootMs).finally(() => (progress = null));
  }

  return {
    offer(execution) {
      const run = store?.current()?.run ?? null;
      const isDuringRun = run !== null && !isFinal(run.phase);
      if (isDuringRun && isSameJob(run, execution)) return;
      offers.add(execution, { isDuringRun });
    },
    checkQueue: offers.checkQueue,
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
