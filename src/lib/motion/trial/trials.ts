import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, firstOf, type Log, orAfter } from '../../lifecycle/index.ts';
import type { Site } from '../../site/index.ts';
import { type GateInput, type Refusal, refusalError } from '../gate.ts';
import { frameNow } from '../map-frame.ts';
import type { Order } from '../model.ts';
import type { OrderTools } from '../orders.ts';
import { KEEP_ALIVE_CHECK_MS, KEEP_ALIVE_MS } from '../run/keep-alive.ts';
import { conclude, refusedFor, type TrialResult } from './conclude.ts';
import { conductTrial } from './conduct.ts';
import { type Conducted, finishTrial } from './finish.ts';
import { judgeTrial, orderKindOf, trialFacts } from './gate.ts';
import type { Rest } from './judge/numbers.ts';
import type { TrialFinding, TrialRequest, Trials } from './model.ts';
import { checkRequest, planTrial } from './plan.ts';
import { untilAtRest } from './rest.ts';
import { ALARM, createRunawayWatch, holdUntilStill } from './runaway.ts';
import { openTrial, type RunningTrial } from './running-trial.ts';
import { createSampler, type Sampler } from './samples.ts';
import type { TrialStore } from './store.ts';

export interface TrialsOptions {
  readonly site: Pick<Site, 'dock' | 'path' | 'maps' | 'chassis'>;
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

const isProofAwaited = ({ stopProof }: GateInput) => stopProof?.verdict === 'awaited';

/** Trials of one motion service: one at a time, each through the gate, each with a report. */
export function createTrials(options: TrialsOptions): Trials {
  const { site, tools, clock, log, store, gateInput } = options;
  let current: RunningTrial | null = null;
  let count = 0;

  const open = (request: TrialRequest) => {
    count += 1;
    return openTrial(request, { identity: gateInput().snapshot.identity, clock, count, onChange: options.onChange });
  };
  const finish = (running: RunningTrial, resultNow: () => TrialResult, of: Conducted = {}) =>
    finishTrial(running, resultNow, of, { store, clock, log });

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

  async function run(running: RunningTrial, signal: AbortSignal): Promise<void> {
    const invalid = new AbortController();
    const whole = firstOf(signal, invalid.signal);
    const runaway = createRunawayWatch(tools);
    const raise = (why: string) => {
      if (running.view.alarm !== null) return;
      running.change({ alarm: `${ALARM}: ${why}.` });
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
      running.change({ phase: 'Verifies that the robot stands still.' });
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
        setPhase: (phase) => running.change({ phase }),
        note: (text) => running.change({ notes: [...running.view.notes, text] }),
        alarm: (text) => {
          if (running.view.alarm !== text) running.change({ alarm: text });
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
          running.change({
            state: 'ended',
            outcome: 'not-decided',
            reason: asGwError(error).message,
            phase: 'Ended.',
          });
        })
        .finally(() => checking[Symbol.dispose]());
      return running.published();
    },

    keepAlive(id) {
      if (current === null || current.view.id !== id) return null;
      current.lastKeepAliveMs = clock.monotonicMs();
      return current.published();
    },

    async cancel(why) {
      if (current === null) return null;
      if (current.view.state === 'running') {
        current.ending.abort(new GwError('INTERRUPTED', why));
        await orAfter(clock, KEEP_ALIVE_MS, current.done);
      }
      return current.published();
    },

    adoptEvidence: () => store.adoptAll(),

    view: () => (current === null ? null : current.published()),
  };
}
