import { type ChassisSnapshot, isSimulated } from '../../chassis/index.ts';
import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, firstOf, type Log, orAfter } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import { type GateInput, type Refusal, refusalError } from '../gate.ts';
import { frameNow } from '../map-frame.ts';
import type { Order } from '../model.ts';
import type { OrderTools } from '../orders.ts';
import { KEEP_ALIVE_CHECK_MS, KEEP_ALIVE_MS } from '../run/keep-alive.ts';
import { conductTrial } from './conduct.ts';
import { judgeTrial, orderKindOf, trialFacts } from './gate.ts';
import type { Rest } from './judge/numbers.ts';
import type { TrialFinding, TrialOutcome, TrialRequest, Trials, TrialView } from './model.ts';
import { checkRequest, planTrial } from './plan.ts';
import { untilAtRest } from './rest.ts';
import { ALARM, createRunawayWatch, holdUntilStill } from './runaway.ts';
import { createSampler, type Sampler } from './samples.ts';
import type { TrialStore } from './store.ts';

export interface TrialsOptions {
  readonly site: Pick<Site, 'dock' | 'path' | 'maps'>;
  readonly tools: OrderTools;
  readonly clock: Clock;
  readonly log: Log;
  readonly store: TrialStore;
  gateInput(): GateInput;
  /** Why the robot is occupied; null when it is free. */
  occupant(): GwError | null;
  /** Occupies the robot for the trial. */
  occupy(
    judgeFacts: () => readonly Refusal[],
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void>;
  /** Called when the robot does not obey a cancel, or drives off after it: the stop is latched. */
  readonly onDisobeyed: (reason: string) => void;
  readonly onChange: () => void;
}

interface Running {
  view: Omit<TrialView, 'startedAgoMs'>;
  readonly beganMs: number;
  readonly request: TrialRequest;
  lastKeepAliveMs: number;
  readonly ending: AbortController;
  done: Promise<void>;
}

const isProofAwaited = ({ stopProof }: GateInput) => stopProof?.verdict === 'awaited';

/** Trials of one motion service: one at a time, each through the gate, each with a report. */
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
      lastKeepAliveMs: nowMs,
      ending: new AbortController(),
      done: Promise.resolve(),
      view: {
        ...{ id, kind: request.kind, who: request.who.trim(), state: 'running' },
        ...{ phase: 'Starting.', alarm: null, outcome: null, reason: null },
        ...{ serial: identity?.serial ?? null, software: identity?.software ?? null },
        simulated: identity !== null && isSimulated(identity),
        ...{ facts: [], refusals: [], notes: [], report: null, recorded: [] },
      },
    };
  }

  /** The gate's refusals of the order as it would be sent now. */
  function judge(
    request: TrialRequest,
    from: Rest | null,
  ): { readonly order: Order; readonly refusals: readonly Refusal[] } {
    const now = gateInput();
    // Before its order a trial waits for the rest itself; then the gate judges it.
    const input =
      from !== null ? now : { ...now, isUnderWay: true, stopProof: isProofAwaited(now) ? null : now.stopProof };
    const { pose } = input.snapshot.values;
    const map = frameNow(input.snapshot.values);
    const place =
      from ?? (pose.status === 'received' ? { ...pose.value, ori: pose.value.yawDeg } : { xM: 0, yM: 0, ori: 0 });
    const order = planTrial(request, { ...place, map }, site);
    const { kind: of, conditions } = request;
    return { order, refusals: judgeTrial({ kind: 'trial', of, order, conditions }, input) };
  }

  /**
   * Ends a trial and writes its report and records. `resultNow`: it may change while the disk is slow, as with a robot that
   * drives off.
   */
  async function finish(
    running: Running,
    resultNow: () => TrialResult,
    { order, sampler }: { readonly order?: Order | undefined; readonly sampler?: Sampler } = {},
  ): Promise<void> {
    change(running, { ...resultNow(), outcome: null, phase: 'Writing the report.' });
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
    change(running, {
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

  async function run(running: Running, signal: AbortSignal): Promise<void> {
    const invalid = new AbortController();
    const whole = firstOf(signal, invalid.signal);
    const runaway = createRunawayWatch(tools);
    const raise = (why: string) => {
      if (running.view.alarm !== null) return;
      change(running, { alarm: `${ALARM}: ${why}.` });
      log.error({ trial: running.view.id, why }, 'the robot does not obey a cancel');
      options.onDisobeyed(why);
    };
    const watch = () => {
      const why = running.view.alarm === null ? runaway.check() : null;
      if (why !== null) raise(why);
    };
    const onChange = ({ invalidatedBy }: Sampler) => {
      if (invalidatedBy !== null && !invalid.signal.aborted)
        invalid.abort(new GwError('MOTION_REFUSED', invalidatedBy));
      watch();
    };
    using sampler = createSampler(tools.link, clock, { onChange });
    using _watching = clock.every(KEEP_ALIVE_CHECK_MS, watch);
    const { request } = running;
    let order: Order | undefined;
    let facts: TrialFinding[] = [];
    let failure: string | null = null;
    try {
      change(running, { phase: 'Verifies that the robot stands still.' });
      const rest = await untilAtRest(sampler, () => isProofAwaited(gateInput()), whole);
      if (typeof rest === 'string') {
        await finish(running, () => refusedFor([rest]), { sampler });
        return;
      }
      const judged = judge(request, rest);
      ({ order } = judged);
      if (judged.refusals.length > 0) {
        const refusals = judged.refusals.map(({ reason }) => reason);
        await finish(running, () => refusedFor(refusals), { order, sampler });
        return;
      }
      whole.throwIfAborted();
      facts = await conductTrial(request.kind, {
        tools,
        sampler,
        order,
        start: rest,
        signal: whole,
        setPhase: (phase) => change(running, { phase }),
        note: (text) => change(running, { notes: [...running.view.notes, text] }),
        alarm: (text) => {
          if (running.view.alarm !== text) change(running, { alarm: text });
        },
        raise,
      });
    } catch (error) {
      failure = asGwError(error).message;
    }
    // Also after a failure: the order may have been sent. The last look before anything is recorded.
    if (order !== undefined) {
      const moving = await holdUntilStill(tools, sampler);
      if (moving !== null) raise(moving);
      else {
        runaway.rested();
        tools.proofs.rested();
      }
    }
    // Verdict and alarm are one value, until the trial has ended.
    const resultNow = () => {
      const { snapshot } = gateInput();
      const { alarm } = running.view;
      return conclude({ of: running.view, sampler, facts, failure: failure ?? alarm, signal: whole, snapshot });
    };
    await finish(running, resultNow, { order, sampler });
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
        await finish(running, () => refusedFor(reasons));
        if (current?.view.state !== 'running') current = running;
        throw refusal;
      }
      current = running;
      log.warn({ trial: running.view.id, kind: request.kind, who: request.who }, 'a trial has started');
      const checking = clock.every(KEEP_ALIVE_CHECK_MS, () => {
        if (clock.monotonicMs() - running.lastKeepAliveMs <= KEEP_ALIVE_MS) return;
        running.ending.abort(new GwError('INTERRUPTED', `no keepalive of the client for ${KEEP_ALIVE_MS / 1_000} s`));
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
            phase: 'Ended.',
          });
        })
        .finally(() => checking[Symbol.dispose]());
      return viewOf(running);
    },

    keepAlive(id) {
      if (current === null || current.view.id !== id) return null;
      current.lastKeepAliveMs = clock.monotonicMs();
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

type TrialResult = Pick<TrialView, 'outcome' | 'reason' | 'facts' | 'refusals'>;

function refusedFor(refusals: readonly string[]): TrialResult {
  return { outcome: 'refused', reason: refusals.join(' '), facts: [], refusals };
}

interface ConductedTrial {
  /** The chassis that the trial began with. */
  readonly of: Pick<TrialView, 'serial' | 'software'>;
  readonly sampler: Pick<Sampler, 'invalidatedBy'>;
  readonly facts: readonly TrialFinding[];
  /** Why it could not be conducted to its end. */
  readonly failure: string | null;
  readonly signal: AbortSignal;
  /** The chassis as it is now. */
  readonly snapshot: ChassisSnapshot;
}

/** An interrupted or invalid trial verifies nothing; contradictions stay. */
function conclude({ of, sampler, facts: found, failure, signal, snapshot }: ConductedTrial): TrialResult {
  const { serial, software } = of;
  const isOther = snapshot.identity?.serial !== serial || snapshot.identity?.software !== software;
  const broken = signal.aborted
    ? reasonOf(signal)
    : (sampler.invalidatedBy ?? (isOther ? 'the chassis or its software has changed' : null));
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
    return { outcome: 'contradicted', reason, facts, refusals: [] };
  }
  if (broken !== null)
    return { outcome: 'cancelled', reason: `The trial was cancelled: ${broken}.`, facts, refusals: [] };
  if (failure !== null) return { outcome: 'not-decided', reason: failure, facts, refusals: [] };
  const open = facts.filter(({ verdict }) => verdict !== 'holds');
  const outcome: TrialOutcome = open.length === 0 && facts.length > 0 ? 'verified' : 'not-decided';
  const reason =
    open.length === 0 ? 'Every fact on trial holds.' : open.map(({ fact, why }) => `${fact}: ${why}`).join('; ');
  return { outcome, reason, facts, refusals: [] };
}

function reasonOf(signal: AbortSignal): string {
  return signal.reason instanceof Error ? signal.reason.message.replace(/\.$/, '') : String(signal.reason);
}
