import type { ChassisLink } from '../chassis/index.ts';
import { movesOf } from '../chassis/moves.ts';
import { GwError } from '../error/index.ts';
import type { EvidenceSource } from '../evidence/index.ts';
import { type Clock, firstOf, type Log, orAfter } from '../lifecycle/index.ts';
import type { Site } from '../site/index.ts';
import { createCanceller } from './canceller.ts';
import { planDrive, runDrive } from './drives.ts';
import { type GateInput, gateView, judgeFacts, judgeOrder, judgeState, type Refusal, refusalError } from './gate.ts';
import type { DriveRun, Motion, Order, StopLatch, TourRun } from './model.ts';
import { carryOut, type OrderLimits, type OrderTools, orderLimits } from './orders.ts';
import { createStopLatch } from './stop-latch.ts';
import { planTour, runTour } from './tours.ts';
import type { TrialStore } from './trial/store.ts';
import { createTrials } from './trial/trials.ts';
import { createMoveWatch, unownedMoveText } from './unowned-move.ts';

export interface MotionOptions {
  readonly link: ChassisLink;
  readonly site: Site;
  /** What was verified on this very device: the site's evidence file. */
  readonly evidence: EvidenceSource;
  /** Where trials write down what they find. */
  readonly trialStore: TrialStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<OrderLimits>;
}

/** The caller of a stop waits so long for chassis and disk; both go on. Half of the second that a person waits is reserve. */
const STOP_PATIENCE_MS = 500;
/** So long the start waits for what an earlier life kept; until it is read the robot counts as stopped. */
const LOAD_PATIENCE_MS = 1_000;
/** So long the caller of an end of what drives waits for the chassis; the cancelling goes on after that. */
const ENDING_PATIENCE_MS = 2_000;
/** Between looks at whether the chassis has reported its move; the watch bounds the wait. */
const MOVE_REPORT_POLL_MS = 50;
/** While stopped, a robot that drives is cancelled again at most so often. */
const GUARD_MS = 1_000;
/** At the end of the service, so long for the cancel of what is under way. */
const END_PATIENCE_MS = 1_200;
const WAIT = { remedy: 'Wait for its end, or stop it: `gw motion stop`.' };

/** What occupies the robot: one thing at a time. */
interface Errand {
  readonly kind: 'order' | 'tour' | 'drive' | 'trial';
  /** What speaks against it by the facts that it relies on, as they are known now. */
  readonly judgeFacts: () => readonly Refusal[];
  readonly ending: AbortController;
  done: Promise<unknown>;
}

/** The one door to movement. It holds no connection of its own: it drives through the link that it is given. */
export function createMotion(options: MotionOptions): Motion {
  const { link, site, evidence, clock, log } = options;
  const moves = movesOf(link.client);
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  const latch = createStopLatch({ stateDir: site.stateDir, clock, log, onChange: changed });
  let life = new AbortController();
  const limits: OrderLimits = { ...orderLimits, moveMs: site.motion.moveLimitS * 1_000, ...options.limits };
  const tries = limits.cancelTries;
  const canceller = createCanceller({ link, moves, clock, log, tries, signal: () => life.signal });
  const watch = createMoveWatch({ clock, log, policy: site.motion.unownedMove });
  const tools: OrderTools = { link, moves, canceller, watch, clock, log, limits };

  let errand: Errand | null = null;
  let tour: TourRun | null = null;
  let drive: DriveRun | null = null;
  let runs = 0;
  let guard: DisposableStack | null = null;

  const gateInput = (snapshot = link.snapshot()): GateInput => ({
    snapshot,
    site,
    records: evidence.records(),
    evidenceTrouble: evidence.trouble(),
    stop: latch.state(),
    keepingTrouble: latch.trouble(),
    cancelOwed: canceller.owed,
    unownedMove: watch.current(snapshot),
    isMoveAwaited: watch.isAwaited,
  });

  /** What the gate has against these orders, as one error; null when all of them may pass. */
  function refusalOf(orders: readonly Order[]): GwError | null {
    const input = gateInput();
    const found = new Map(orders.flatMap((order) => judgeOrder(order, input)).map((one) => [one.reason, one]));
    const refusals = [...found.values()];
    const error = refusalError(refusals);
    if (error === null) return null;
    log.warn({ kind: orders[0]?.kind, reasons: refusals.map(({ reason }) => reason) }, 'the gate refused an order');
    return error;
  }

  /** Why the robot is not free for an errand; null when it is. */
  function occupant(): GwError | null {
    if (guard === null) return new GwError('MOTION_REFUSED', 'The motion service is not running.');
    switch (errand?.kind) {
      case undefined:
        return null;
      case 'tour':
        return new GwError('TOUR_RUNNING', `The tour '${tour?.tour}' is under way.`);
      case 'drive':
        return new GwError('MOTION_REFUSED', `The drive to ${drive?.station ?? 'the dock'} is under way.`, WAIT);
      case 'trial':
        return new GwError('MOTION_REFUSED', 'A trial is under way.', WAIT);
      case 'order':
        return new GwError('MOTION_REFUSED', 'Another order is under way.', WAIT);
    }
  }

  /** Of several obstacles the one is named that a person must mend first: a stop, the chassis, then what drives. */
  function admit(orders: readonly Order[]): void {
    const busy = occupant();
    const refusal = guard === null ? null : refusalOf(orders);
    if (refusal !== null && refusal.code !== 'MOTION_REFUSED') throw refusal;
    if (busy !== null) throw busy;
    if (refusal !== null) throw refusal;
  }

  /** Each order asks the gate once more when its turn comes; after a reconnect the chassis reports its move first. */
  const execute = (signal: AbortSignal) => async (order: Order) => {
    while (watch.isAwaited && !signal.aborted) await clock.sleep(MOVE_REPORT_POLL_MS, signal).catch(() => {});
    const refusal = refusalOf([order]);
    if (refusal !== null) throw refusal;
    return carryOut(order, tools, signal);
  };

  function newId(): string {
    runs += 1;
    return `${clock.wall().toISOString()}-${runs}`;
  }

  async function endRun(kind: Errand['kind'], run: TourRun | DriveRun | null, by: string, id?: string): Promise<void> {
    if (run?.state !== 'running' || errand?.kind !== kind || (id !== undefined && id !== run.id)) return;
    log.warn({ by, kind }, 'what drives is ended');
    errand.ending.abort(new GwError('INTERRUPTED', `ended by ${by}`));
    await orAfter(clock, ENDING_PATIENCE_MS, errand.done);
  }

  const factsOf = (order: Order['kind']) => () => judgeFacts(order, gateInput());

  /** Takes the robot for one errand; the caller has made sure that it is free. */
  function occupy<T>(
    about: Pick<Errand, 'kind' | 'judgeFacts'>,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ) {
    const ending = new AbortController();
    const both = firstOf(signal, ending.signal);
    const mine: Errand = { ...about, ending, done: Promise.resolve() };
    errand = mine;
    const done = work(both).finally(() => {
      if (errand === mine) errand = null;
    });
    mine.done = done.catch(() => {});
    return done;
  }

  /** What is under way and relied on evidence that was taken back is cancelled: nothing bears it any more. */
  function evidenceChanged(): void {
    const [refusal] = errand === null ? [] : errand.judgeFacts();
    if (errand !== null && refusal !== undefined) {
      log.warn(
        { kind: errand.kind, reason: refusal.reason },
        'what was under way is cancelled: evidence was taken back',
      );
      errand.ending.abort(new GwError('MOTION_REFUSED', `evidence was taken back: ${refusal.reason}`));
    }
    changed();
  }

  /** While stopped nothing drives: whoever ordered it, and from the first moment after a reconnect or a restart. */
  function startGuard(): DisposableStack {
    const stack = new DisposableStack();
    let wasConnected = false;
    let guardedAtMs = Number.NEGATIVE_INFINITY;
    const look = () => {
      const snapshot = link.snapshot();
      const isDrivingUnowned = watch.look(snapshot);
      const { link: state, values } = snapshot;
      const isConnected = state.kind === 'connected';
      const isBack = isConnected && !wasConnected;
      wasConnected = isConnected;
      if (!isConnected || canceller.busy) return;
      const { latched } = latch.state();
      const nowMs = clock.monotonicMs();
      const isDriving = values.planning.status === 'heard' && values.planning.value.moveState === 'moving';
      const isDue = nowMs - Math.max(guardedAtMs, canceller.answeredAtMs) >= GUARD_MS;
      if ((isBack && latched) || (isDue && (canceller.owed || isDrivingUnowned || (latched && isDriving)))) {
        guardedAtMs = nowMs;
        const other = canceller.owed ? 'a cancel was owed' : 'the robot was driving by an order that gw did not give';
        void canceller.cancel(latched ? 'the robot is stopped' : other);
      }
    };
    stack.use(link.subscribe(look));
    stack.use(clock.every(GUARD_MS, look));
    stack.use(evidence.subscribe(evidenceChanged));
    stack.use(latch.watch());
    look();
    return stack;
  }

  const trials = createTrials({
    ...{ site, tools, clock, log, gateInput },
    occupant,
    store: options.trialStore,
    occupy: (facts, signal, work) => occupy({ kind: 'trial', judgeFacts: facts }, signal, work),
    onChange: changed,
  });

  return {
    name: 'motion',
    trials,

    async start() {
      await orAfter(clock, LOAD_PATIENCE_MS, latch.load());
      guard?.dispose();
      watch.restart();
      if (life.signal.aborted) life = new AbortController();
      guard = startGuard();
    },

    async stop() {
      guard?.dispose();
      guard = null;
      if (errand) {
        // A robot that nobody watches any more must not drive on.
        errand.ending.abort(new GwError('INTERRUPTED', 'gw is ending.'));
        await orAfter(clock, END_PATIENCE_MS, errand.done);
      }
      life.abort();
    },

    describe() {
      const { latched, by, reason, unsavedBecause } = latch.state();
      if (latched) {
        const unsaved = unsavedBecause === null ? '' : ` (${unsavedBecause})`;
        return `stopped${by === null ? '' : ` by ${by}`}: ${reason ?? 'no reason given'}${unsaved}`;
      }
      if (tour?.state === 'running') return `tour ${tour.tour}, to ${tour.stations[tour.at] ?? 'its end'}`;
      if (drive?.state === 'running') return `drive to ${drive.station ?? 'the dock'}`;
      const input = gateInput();
      if (input.unownedMove !== null) return `gate closed: ${unownedMoveText(input.unownedMove)}`;
      const refusals = judgeState('move', input);
      return refusals.length === 0 ? 'gate open' : `gate closed: ${refusals[0]?.reason}`;
    },

    status() {
      const input = gateInput();
      const { unownedMove } = input;
      const gate = gateView(judgeState('move', input));
      const last = trials.view();
      const trial = last?.state === 'running' ? { kind: last.kind } : null;
      return { gate, stop: latch.state(), keepingTrouble: latch.trouble(), tour, drive, trial, unownedMove };
    },

    async execute(order, signal) {
      signal?.throwIfAborted();
      admit([order]);
      return occupy({ kind: 'order', judgeFacts: factsOf(order.kind) }, signal, (both) => carryOut(order, tools, both));
    },

    async startTour(name) {
      const legs = planTour(site, name);
      // All of them before the first, so that a tour does not end half way for what was known at its start.
      admit(legs.map(({ order }) => order));
      const begun: TourRun = {
        id: newId(),
        tour: name,
        stations: legs.map(({ station }) => station),
        state: 'running',
        at: 0,
        outcomes: [],
        reason: null,
      };
      const onChange = (run: TourRun) => {
        tour = run;
        changed();
      };
      onChange(begun);
      // Every leg of a tour is a move.
      void occupy({ kind: 'tour', judgeFacts: factsOf('move') }, undefined, (signal) =>
        runTour(begun, legs, { signal, onChange, execute: execute(signal) }),
      ).then((run) => log.info({ tour: run.tour, state: run.state, reason: run.reason }, 'the tour has ended'));
      return begun;
    },

    async startDrive(target) {
      const order = planDrive(site, target);
      admit([order]);
      const station = 'station' in target ? target.station : null;
      const kind = station === null ? 'dock' : 'move';
      const begun: DriveRun = { id: newId(), kind, station, state: 'running', outcome: null, reason: null };
      const onChange = (run: DriveRun) => {
        drive = run;
        changed();
      };
      onChange(begun);
      void occupy({ kind: 'drive', judgeFacts: factsOf(kind) }, undefined, async (signal) => {
        onChange(await runDrive(begun, order, { signal, execute: execute(signal) }));
      }).then(() => log.info({ station, state: drive?.state, reason: drive?.reason }, 'the drive has ended'));
      return begun;
    },

    async endTour(by, id) {
      await endRun('tour', tour, by, id);
      return tour;
    },

    async endDrive(by, id) {
      await endRun('drive', drive, by, id);
      return drive;
    },

    async stopRobot(reason, by) {
      log.warn({ reason, by }, 'stop');
      // Holds in memory from here on. Neither does the robot wait for the disk, nor the disk for the robot.
      const saved = latch.set(reason, by);
      errand?.ending.abort(new GwError('MOTION_STOPPED', `stopped by ${by}: ${reason}`));
      const cancelled = canceller.cancel(`stop by ${by}`);
      // A chassis that is away answers no cancel; it is sent as soon as it is back.
      const isAway = link.snapshot().link.kind === 'not-connected';
      await orAfter(clock, STOP_PATIENCE_MS, Promise.all(isAway ? [saved] : [saved, cancelled]));
      return latch.state();
    },

    async clearStop(by): Promise<StopLatch> {
      const state = await latch.clear();
      log.warn({ by, latched: state.latched }, 'the stop was cleared');
      return state;
    },

    subscribe(listener) {
      // A function of its own for each subscription: the same listener may subscribe twice.
      const mine = () => listener();
      listeners.add(mine);
      return { [Symbol.dispose]: () => void listeners.delete(mine) };
    },
  };
}
