import { isSimulated } from '../../chassis/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, firstOf, type Log, orAfter } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import { type GateInput, type Refusal, refusalError } from '../gate.ts';
import type { Order } from '../model.ts';
import type { OrderTools } from '../orders.ts';
import { conductTrial, holdUntilStill } from './conduct.ts';
import { judgeTrial, orderKindOf, trialFacts } from './gate.ts';
import { isAtRest, MIN_REST_SAMPLES, type Rest, restOf, standingAt } from './judge/numbers.ts';
import { droveOnM } from './judge/stop.ts';
import type { TrialFinding, TrialOutcome, TrialRequest, Trials, TrialView } from './model.ts';
import { checkRequest, planTrial } from './plan.ts';
import { createSampler, type Sampler } from './samples.ts';
import type { TrialReport, TrialStore } from './store.ts';

export interface TrialsOptions {
  readonly site: Pick<Site, 'dock' | 'path'>;
  readonly tools: OrderTools;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: TrialStore;
  gateInput(): GateInput;
  /** Why the robot is not free; null when it is. */
  occupant(): GwError | null;
  /** Takes the robot for the trial. */
  occupy(
    judgeFacts: () => readonly Refusal[],
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
  readonly onChange: () => void;
}

/** Without a sign of life for so long, a trial is cancelled; how often that is looked at. */
const KEEP_ALIVE_MS = 3_000;
const LOOK_MS = 250;
/** So long the robot has to stand before anything is ordered, and so long is waited for that. */
const STAND_MS = 2_000;
const MAX_STAND_MS = 6_000;
/** Beyond this, a cancelled robot that still comes on is a danger. */
const ALARM_M = 0.3;
const ALARM = 'PRESS THE EMERGENCY STOP';

interface Running {
  view: Omit<TrialView, 'startedAgoMs'>;
  readonly beganMs: number;
  readonly request: TrialRequest;
  lastSignMs: number;
  readonly ending: AbortController;
  done: Promise<void>;
}

/** Trials of one motion service: one at a time, each through the gate, each written down. */
export function createTrials(options: TrialsOptions): Trials {
  const { site, tools, clock, log, store, gateInput } = options;
  let current: Running | null = null;
  let count = 0;

  const viewOf = (running: Running): TrialView => ({
    ...running.view,
    startedAgoMs: Math.round(clock.monotonicMs() - running.beganMs),
  });

  function change(running: Running, to: Partial<TrialView>): void {
    running.view = { ...running.view, ...to };
    options.onChange();
  }

  function open(request: TrialRequest): Running {
    const { identity } = gateInput().snapshot;
    count += 1;
    const when = clock.wall().toISOString();
    const chance = Math.floor(clock.random() * 0xffff_ffff)
      .toString(16)
      .padStart(8, '0');
    const id = `${when.replace(/[-:]|\.\d+/g, '')}-${request.kind}-${count}-${chance}`;
    const nowMs = clock.monotonicMs();
    return {
      request,
      beganMs: nowMs,
      lastSignMs: nowMs,
      ending: new AbortController(),
      done: Promise.resolve(),
      view: {
        ...{ id, kind: request.kind, who: request.who.trim(), state: 'running' },
        ...{ phase: 'Begins.', alarm: null, outcome: null, reason: null },
        ...{ serial: identity?.serial ?? null, software: identity?.software ?? null },
        simulated: identity !== null && isSimulated(identity),
        ...{ facts: [], refusals: [], notes: [], report: null, recorded: [] },
      },
    };
  }

  /** What the gate says about the order as it would be sent now. */
  function judge(
    request: TrialRequest,
    from: Rest | null,
  ): { readonly order: Order; readonly refusals: readonly Refusal[] } {
    const input = gateInput();
    const { pose } = input.snapshot.values;
    const stance =
      from ?? (pose.status === 'heard' ? { ...pose.value, ori: pose.value.yawDeg } : { xM: 0, yM: 0, ori: 0 });
    const order = planTrial(request, stance, site);
    const { kind: of, conditions } = request;
    return { order, refusals: judgeTrial({ kind: 'trial', of, order, conditions }, input) };
  }

  /** The end of a trial: what it found, written down. */
  async function finish(
    running: Running,
    found: Pick<TrialView, 'outcome' | 'reason' | 'facts' | 'refusals'> & { readonly order?: Order },
    sampler: Sampler | null,
  ): Promise<void> {
    const { order, ...result } = found;
    change(running, { ...result, outcome: null, phase: 'Writes down what it found.' });
    const { state: _state, phase: _phase, report: _report, recorded: _recorded, ...about } = running.view;
    const written: TrialReport = {
      ...about,
      ...result,
      when: clock.wall().toISOString(),
      tookMs: Math.round(clock.monotonicMs() - running.beganMs),
      conditions: running.request.conditions,
      request: { towardsDeg: running.request.towardsDeg ?? null, distanceM: running.request.distanceM ?? null },
      order: order ?? null,
      samples: sampler && {
        poses: sampler.poses,
        plans: sampler.plans,
        events: sampler.events,
        dropped: sampler.dropped,
      },
    };
    const kept = await store.keep(written);
    const isLost = result.outcome === 'verified' && kept.problems.length > 0;
    change(running, {
      state: 'ended',
      outcome: isLost ? 'not-decided' : result.outcome,
      reason: isLost ? 'What it found could not be written down, so it does not count.' : result.reason,
      phase: 'Has ended.',
      notes: [...running.view.notes, ...kept.problems],
      report: kept.report,
      recorded: kept.recorded,
    });
    const { id, kind, outcome, reason, recorded } = running.view;
    log.warn({ trial: id, kind, outcome, reason, recorded }, 'a trial has ended');
  }

  async function run(running: Running, signal: AbortSignal): Promise<void> {
    const spoil = new AbortController();
    const whole = firstOf(signal, spoil.signal);
    const beganMs = clock.monotonicMs();
    const onChange = ({ spoiled, poses }: Sampler) => {
      if (spoiled !== null && !spoil.signal.aborted) spoil.abort(new GwError('MOTION_REFUSED', spoiled));
      watchRunaway(running, poses, beganMs);
    };
    using sampler = createSampler(tools.link, clock, { onChange });
    const { request } = running;
    let order: Order | undefined;
    let facts: TrialFinding[] = [];
    let failure: string | null = null;
    try {
      change(running, { phase: 'Watches that the robot stands.' });
      const stands = await standing(sampler, whole);
      if (typeof stands === 'string') {
        await finish(running, { outcome: 'refused', reason: stands, facts: [], refusals: [stands] }, sampler);
        return;
      }
      const judged = judge(request, stands);
      ({ order } = judged);
      if (judged.refusals.length > 0) {
        const refusals = judged.refusals.map(({ reason }) => reason);
        await finish(running, { outcome: 'refused', reason: refusals.join(' '), facts: [], refusals, order }, sampler);
        return;
      }
      whole.throwIfAborted();
      facts = await conductTrial(request.kind, {
        tools,
        sampler,
        order,
        start: stands,
        signal: whole,
        say: (phase) => change(running, { phase }),
        note: (text) => change(running, { notes: [...running.view.notes, text] }),
        alarm: (text) => change(running, { alarm: text }),
      });
      if (!(await holdUntilStill({ tools, sampler }))) change(running, { alarm: `${ALARM}: the robot may drive on.` });
    } catch (error) {
      failure = asGwError(error).message;
    }
    await finish(
      running,
      { ...conclude(running, sampler, facts, failure, whole), refusals: [], ...(order && { order }) },
      sampler,
    );
  }

  /** What was interrupted or spoiled holds nothing; what it contradicted stays contradicted. */
  function conclude(
    running: Running,
    sampler: Sampler,
    found: readonly TrialFinding[],
    failure: string | null,
    signal: AbortSignal,
  ): Pick<TrialView, 'outcome' | 'reason' | 'facts'> {
    const { snapshot } = gateInput();
    const { serial, software } = running.view;
    const isOther = snapshot.identity?.serial !== serial || snapshot.identity?.software !== software;
    const broken = signal.aborted
      ? reasonOf(signal)
      : (sampler.spoiled ?? (isOther ? 'the chassis or its software is another one now' : null));
    let facts = [...found];
    if (broken !== null || failure !== null) {
      const why = broken ?? failure ?? '';
      facts = facts.map((fact) =>
        fact.verdict === 'holds'
          ? { ...fact, verdict: 'not-decided', value: null, why: `${fact.why}; but ${why}` }
          : fact,
      );
    }
    if (snapshot.unitContradicted) {
      const fact = 'angles.tracked-pose-ori';
      const why = snapshot.poseUnit.reason;
      facts = [...facts.filter((other) => other.fact !== fact), { fact, verdict: 'differs', why, value: 'radians' }];
    }
    const differing = facts.filter(({ verdict }) => verdict === 'differs');
    if (differing.length > 0) {
      const reason = differing.map(({ fact, why }) => `${fact}: ${why}`).join('; ');
      return { outcome: 'contradicted', reason, facts };
    }
    if (broken !== null) return { outcome: 'cancelled', reason: `It was ended: ${broken}.`, facts };
    if (failure !== null) return { outcome: 'not-decided', reason: failure, facts };
    const open = facts.filter(({ verdict }) => verdict !== 'holds');
    const outcome: TrialOutcome = open.length === 0 && facts.length > 0 ? 'verified' : 'not-decided';
    const reason = open.length === 0 ? 'Every fact holds.' : open.map(({ fact, why }) => `${fact}: ${why}`).join('; ');
    return { outcome, reason, facts };
  }

  /** A robot that comes on although a cancel was answered: the person beside it is told at once. */
  function watchRunaway(running: Running, poses: Sampler['poses'], beganMs: number): void {
    const { answeredAtMs, owed } = tools.canceller;
    if (running.view.alarm !== null || (answeredAtMs < beganMs && !owed)) return;
    const onM = droveOnM({ poses, cancelAnsweredAtMs: answeredAtMs < beganMs ? null : answeredAtMs - beganMs });
    if (onM <= ALARM_M) return;
    change(running, { alarm: `${ALARM}: the robot drives on after it was cancelled.` });
    log.error({ trial: running.view.id, droveOnM: onM }, 'the robot drives on after a cancel');
  }

  /** Where it stands, as soon as it has stood for two seconds; otherwise why nothing may be ordered. */
  async function standing(sampler: Sampler, signal: AbortSignal): Promise<Rest | string> {
    /** The newest poses, over two seconds at least; all of them where there are not so many yet. */
    const newest = () => {
      const untilMs = (sampler.poses.at(-1)?.atMs ?? 0) - STAND_MS;
      const from = sampler.poses.findLastIndex(({ atMs }) => atMs <= untilMs);
      return { isWhole: from >= 0, samples: sampler.poses.slice(Math.max(0, from)) };
    };
    const hasStood = () => {
      const { isWhole, samples } = newest();
      return isWhole && standingAt(restOf(samples)) !== null;
    };
    await sampler.until(hasStood, MAX_STAND_MS, signal);
    const { isWhole, samples } = newest();
    const { spoiled } = sampler;
    const rest = restOf(samples);
    if (rest !== null && !isAtRest(rest)) {
      const seconds = (((samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0)) / 1_000).toFixed(1);
      const how = `${rest.driftM.toFixed(2)} m and ${rest.driftDeg.toFixed(1)} in its heading within ${seconds} s`;
      const also = spoiled === null ? '' : ` And ${spoiled}.`;
      return `The reported pose drifts while the robot should stand: ${how}.${also}`;
    }
    // What was wrong before anything was ordered is a refusal.
    if (spoiled !== null) return `Nothing was ordered: ${spoiled}.`;
    signal.throwIfAborted();
    if (rest !== null && isWhole) return rest;
    return `Fewer than ${MIN_REST_SAMPLES} poses came within ${STAND_MS / 1_000} s.`;
  }

  return {
    async start(request) {
      checkRequest(request);
      const occupant = options.occupant();
      if (occupant !== null) throw occupant;
      const running = open(request);
      const { refusals } = judge(request, null);
      const refusal = refusalError(refusals);
      if (refusal !== null) {
        const reasons = refusals.map(({ reason }) => reason);
        log.warn({ kind: request.kind, reasons }, 'the gate refused a trial');
        await finish(running, { outcome: 'refused', reason: reasons.join(' '), facts: [], refusals: reasons }, null);
        if (current?.view.state !== 'running') current = running;
        throw refusal;
      }
      current = running;
      log.warn({ trial: running.view.id, kind: request.kind, who: request.who }, 'a trial begins');
      const looking = clock.every(LOOK_MS, () => {
        if (clock.monotonicMs() - running.lastSignMs <= KEEP_ALIVE_MS) return;
        running.ending.abort(new GwError('INTERRUPTED', `no sign of life for ${KEEP_ALIVE_MS / 1_000} s`));
      });
      const facts = () => trialFacts(request.kind)(orderKindOf[request.kind], gateInput());
      running.done = options
        .occupy(facts, running.ending.signal, (signal) => run(running, signal))
        .catch((error: unknown) => {
          log.error({ trial: running.view.id, error: asGwError(error).message }, 'a trial failed');
          change(running, {
            state: 'ended',
            outcome: 'not-decided',
            reason: asGwError(error).message,
            phase: 'Has ended.',
          });
        })
        .finally(() => looking[Symbol.dispose]());
      return viewOf(running);
    },

    keepAlive(id) {
      if (current === null || current.view.id !== id) return null;
      current.lastSignMs = clock.monotonicMs();
      return viewOf(current);
    },

    async cancel(why) {
      if (current === null) return null;
      if (current.view.state === 'running') {
        current.ending.abort(new GwError('INTERRUPTED', why));
        await orAfter(clock, KEEP_ALIVE_MS, current.done);
      }
      return viewOf(current);
    },

    adoptEvidence: () => store.adoptAll(),

    view: () => (current === null ? null : viewOf(current)),
  };
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message.replace(/\.$/, '') : String(signal.reason);
}
