import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Order } from '../model.ts';
import type { TrialResult } from './conclude.ts';
import type { RunningTrial } from './running-trial.ts';
import type { Sampler } from './samples.ts';
import type { TrialStore } from './store.ts';

/** What was conducted of a trial: the order, once it was planned, and what was sampled. */
export interface Conducted {
  readonly order?: Order | undefined;
  readonly sampler?: Sampler;
}

interface FinishTools {
  readonly store: Pick<TrialStore, 'keep'>;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Ends a trial and writes its report and records. `resultNow`: it may change while the disk is slow, as with a robot that
 * drives off.
 */
export async function finishTrial(
  running: RunningTrial,
  resultNow: () => TrialResult,
  { order, sampler }: Conducted,
  { store, clock, log }: FinishTools,
): Promise<void> {
  running.change({ ...resultNow(), outcome: null, phase: 'Writing the report.' });
  const about = {
    when: clock.wall().toISOString(),
    tookMs: Math.round(clock.monotonicMs() - running.beganMs),
    conditions: running.request.conditions,
    request: { towardsDeg: running.request.towardsDeg ?? null, distanceM: running.request.distanceM ?? null },
    order: order ?? null,
    samples: sampler
      ? { poses: sampler.poses, plans: sampler.plans, events: sampler.events, dropped: sampler.dropped }
      : null,
  };
  const kept = await store.keep(() => {
    const { state: _state, phase: _phase, report: _report, recorded: _recorded, ...view } = running.view;
    return { ...view, ...resultNow(), ...about };
  });
  const { said } = kept;
  const isLost = said.outcome === 'verified' && !said.facts.every(({ fact }) => kept.recorded.includes(fact));
  running.change({
    ...{ facts: said.facts, refusals: said.refusals },
    state: 'ended',
    outcome: isLost ? 'not-decided' : said.outcome,
    reason: isLost ? 'The result was not recorded, so it does not count.' : said.reason,
    phase: 'Ended.',
    notes: [...running.view.notes, ...kept.problems],
    report: kept.report,
    recorded: kept.recorded,
  });
  const { id, kind, outcome, reason, recorded } = running.view;
  log.warn({ trial: id, kind, outcome, reason, recorded }, 'a trial has ended');
}
