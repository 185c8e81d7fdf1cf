import type { ChassisLink } from '../chassis/index.ts';
import { movesOf } from '../chassis/moves.ts';
import { GwError } from '../error/index.ts';
import type { EvidenceSource } from '../evidence/index.ts';
import { type Clock, type Log, orAfter } from '../lifecycle/index.ts';
import { mapsOfPlaces, type Site } from '../site/index.ts';
import { createCanceller } from './canceller.ts';
import { driveToGoal, planDrive, runDrive } from './drive-to-goal.ts';
import { closingAlerts } from './fitness.ts';
import {
  type GateInput,
  gateView,
  judgeFacts,
  judgeMoves,
  judgeOrder,
  passableAlerts,
  refusalError,
  stopProofText,
} from './gate.ts';
import { startGuard } from './guard.ts';
import { createKeepAlive, KEEP_ALIVE_MS, type KeepAlive } from './keep-alive.ts';
import { noPlaceInFrame } from './map-frame.ts';
import type { DriveRun, Motion, Order, RunOptions, StopLatch, TourRun } from './model.ts';
import { type ActivityKind, createOccupancy } from './occupancy.ts';
import { type OrderLimits, type OrderTools, orderLimits } from './orders.ts';
import { createPoseAlarm } from './pose-alarm.ts';
import { setPoseWithAlarm } from './set-pose.ts';
import { standstillOf } from './standstill.ts';
import { createStopLatch } from './stop-latch.ts';
import { createStopProofs } from './stop-proof.ts';
import { type DrivenTour, driveTour, isOpenRun } from './tour-run.ts';
import { planTour } from './tours.ts';
import type { TrialStore } from './trial/store.ts';
import { createTrials } from './trial/trials.ts';
import { createMoveWatch, unownedMoveText } from './unowned-move.ts';

export interface MotionOptions {
  readonly link: ChassisLink;
  readonly site: Site;
  /** Records verified on this device: the site's evidence file. */
  readonly evidence: EvidenceSource;
  /** Where trials store their results. */
  readonly trialStore: TrialStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits?: Partial<OrderLimits>;
}

/**
 * How long the caller of a stop waits for the disk, and for the chassis; both continue afterwards. A person waits at most a
 * second, and a busy gateway needs most of it. The answer does not depend on the chassis: one that answers at all mostly
 * does so within the shorter time, and the page that follows then shows it.
 */
const STOP_WAIT_MS = { disk: 500, chassis: 150 };
/** How long the start waits for the saved stop latch; until it is read the robot counts as stopped. */
const LOAD_WAIT_MS = 1_000;
/** How long the caller that ends a run waits for the chassis; cancelling continues afterwards. */
const END_RUN_WAIT_MS = 2_000;
/** How long the end of the service waits for the cancel of a running move. */
const SHUTDOWN_WAIT_MS = 1_200;
const WAIT = { remedy: 'Wait for its end, or stop it: `gw motion stop`.' };

/** The single path to movement. It has no connection of its own and uses the given link. */
export function createMotion(options: MotionOptions): Motion {
  const { link, site, evidence, clock, log } = options;
  const moves = movesOf(link.client);
  const places = mapsOfPlaces(site);
  const listeners = new Set<() => void>();
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  const latch = createStopLatch({ stateDir: site.stateDir, clock, log, onChange: changed });
  let life = new AbortController();
  const limits: OrderLimits = { ...orderLimits, moveMs: site.motion.moveLimitS * 1_000, ...options.limits };
  const tries = limits.cancelTries;
  /** A trial judges it itself, beside a person; its evidence then closes the gate. */
  const onDisobeyed = (reason: string) => {
    const { current } = occupancy;
    if (current?.kind === 'trial' && !current.ending.signal.aborted) return;
    void latch.disobeyed(reason);
    // Every other activity ends with its cancel; a paused tour would outlast the stop.
    if (tour?.state === 'paused') current?.ending.abort(new GwError('MOTION_STOPPED', `the robot drove on: ${reason}`));
  };
  const proofs = createStopProofs({ clock, log, onDisobeyed });
  const canceller = createCanceller({ link, moves, clock, log, proofs, tries, signal: () => life.signal });
  const watch = createMoveWatch({ clock, log, policy: site.motion.unownedMove });
  const poseAlarm = createPoseAlarm({ stateDir: site.stateDir, clock, log, onChange: changed });
  const tools: OrderTools = { link, moves, canceller, watch, proofs, poseAlarm, clock, log, limits };

  const occupancy = createOccupancy();
  let tour: TourRun | null = null;
  let driven: DrivenTour | null = null;
  let drive: DriveRun | null = null;
  let runs = 0;
  let guard: DisposableStack | null = null;

  const gateInput = (although: readonly number[] = [], snapshot = link.snapshot()): GateInput => ({
    snapshot,
    although,
    site,
    records: evidence.records(),
    evidenceTrouble: evidence.trouble(),
    stop: latch.state(),
    keepingTrouble: latch.trouble(),
    isCancelPending: canceller.isPending,
    stopProof: proofs.current(snapshot),
    isUnderWay: false,
    poseAlarm: poseAlarm.state(snapshot.values),
    places,
    unownedMove: watch.current(snapshot),
    isMoveAwaited: watch.isAwaited,
  });

  /** The same for what people are shown: while gw drives the robot, its movement closes nothing. */
  const shownInput = (): GateInput => ({
    ...gateInput(),
    isUnderWay: occupancy.current !== null && tour?.state !== 'paused',
  });

  /** The gate's refusals of these orders as one error; null when all of them may pass. */
  function refusalOf(orders: readonly Order[], although: readonly number[]): GwError | null {
    const input = gateInput(although);
    const found = new Map(orders.flatMap((order) => judgeOrder(order, input)).map((one) => [one.reason, one]));
    const refusals = [...found.values()];
    const error = refusalError(refusals);
    if (error === null) return null;
    log.warn({ kind: orders[0]?.kind, reasons: refusals.map(({ reason }) => reason) }, 'the gate refused an order');
    return error;
  }

  /** Why the robot is occupied; null when it is free. */
  function occupant(): GwError | null {
    if (guard === null) return new GwError('MOTION_REFUSED', 'The motion service is not running.');
    switch (occupancy.current?.kind) {
      case undefined:
        return null;
      case 'tour':
        return new GwError('TOUR_RUNNING', `Tour '${tour?.tour}' is ${tour?.state}.`);
      case 'drive':
        return new GwError('MOTION_REFUSED', `A drive to ${drive?.station ?? 'the dock'} is running.`, WAIT);
      case 'trial':
        return new GwError('MOTION_REFUSED', 'A trial is running.', WAIT);
      case 'order':
        return new GwError('MOTION_REFUSED', 'Another order is running.', WAIT);
    }
  }

  /** Throws the obstacle to remove first: a stop, the chassis, then the running activity. */
  function admit(orders: readonly Order[], although: readonly number[] = []): void {
    const busy = occupant();
    const refusal = guard === null ? null : refusalOf(orders, although);
    if (refusal !== null && refusal.code !== 'MOTION_REFUSED') throw refusal;
    if (busy !== null) throw busy;
    if (refusal !== null) throw refusal;
  }

  /** Each order passes the gate again before it is sent. */
  async function execute(order: Order, signal: AbortSignal, although: readonly number[]) {
    const refusal = refusalOf([order], although);
    if (refusal !== null) throw refusal;
    return follow(order, signal, although);
  }

  const passable = (input: GateInput) => {
    const codes = passableAlerts(input);
    return codes.length > 0 && { passableAlerts: codes };
  };

  const follow = (order: Order, signal: AbortSignal, although: readonly number[] = []) =>
    order.kind === 'pose'
      ? setPoseWithAlarm(order, tools, poseAlarm, signal)
      : driveToGoal(order, { ...tools, although }, signal);

  /** What a person passes is in the log, with what was active. */
  function logPassed(although: readonly number[]): void {
    if (although.length === 0) return;
    const active = closingAlerts(link.snapshot().values);
    log.warn({ although, active }, 'a person passes alerts of the robot by their numbers');
  }

  function newId(): string {
    runs += 1;
    return `${clock.wall().toISOString()}-${runs}`;
  }

  async function endRun(kind: ActivityKind, run: TourRun | DriveRun | null, by: string, id?: string): Promise<void> {
    const activity = occupancy.current;
    if (!isOpenRun(run) || activity?.kind !== kind || (id !== undefined && id !== run?.id)) return;
    log.warn({ by, kind }, 'the run is ended');
    activity.ending.abort(new GwError('INTERRUPTED', `ended by ${by}`));
    await orAfter(clock, END_RUN_WAIT_MS, activity.done);
  }

  /** Of the running tour or drive, where a client supervises it; null from its end on. */
  let supervised: { readonly id: string; readonly alive: KeepAlive } | null = null;

  /** Ends the activity that was just begun when its client is gone; disposed with its end. */
  function supervise(id: string, { keepAlive = false }: RunOptions): Disposable | null {
    const activity = occupancy.current;
    if (!keepAlive || activity === null) return null;
    const alive = createKeepAlive(clock, () => {
      log.warn({ id }, 'the client of the run is gone; the run is ended');
      const why = `no keepalive of the command that ordered it for ${KEEP_ALIVE_MS / 1_000} s`;
      activity.ending.abort(new GwError('INTERRUPTED', why));
    });
    const mine = { id, alive };
    supervised = mine;
    return {
      [Symbol.dispose]() {
        alive[Symbol.dispose]();
        if (supervised === mine) supervised = null;
      },
    };
  }

  const factsOf = (order: Order['kind']) => () => judgeFacts(order, gateInput());

  /** Cancels the running activity when evidence it relies on was revoked. */
  function evidenceChanged(): void {
    const activity = occupancy.current;
    const [refusal] = activity === null ? [] : activity.judgeFacts();
    if (activity !== null && refusal !== undefined) {
      log.warn(
        { kind: activity.kind, reason: refusal.reason },
        'the running activity is cancelled: evidence was revoked',
      );
      activity.ending.abort(new GwError('MOTION_REFUSED', `evidence was revoked: ${refusal.reason}`));
    }
    changed();
  }

  const trials = createTrials({
    ...{ site, tools, clock, log, gateInput },
    occupant,
    store: options.trialStore,
    occupy: (facts, signal, work) => occupancy.occupy({ kind: 'trial', judgeFacts: facts }, signal, work),
    onDisobeyed: (reason) => void latch.disobeyed(reason),
    onChange: changed,
  });

  return {
    name: 'motion',
    trials,

    async start() {
      await orAfter(clock, LOAD_WAIT_MS, Promise.all([latch.load(), poseAlarm.load()]));
      guard?.dispose();
      watch.restart();
      if (life.signal.aborted) life = new AbortController();
      guard = startGuard({ link, latch, canceller, watch, proofs, clock, onChange: changed });
      guard.use(evidence.subscribe(evidenceChanged));
      guard.use(latch.watch());
      guard.use(poseAlarm.watch());
    },

    async stop() {
      guard?.dispose();
      guard = null;
      const activity = occupancy.current;
      if (activity !== null) {
        // An unsupervised robot must not continue.
        activity.ending.abort(new GwError('INTERRUPTED', 'gw is shutting down.'));
        await orAfter(clock, SHUTDOWN_WAIT_MS, activity.done);
      }
      life.abort();
      // A stop that was latched just now must not be forgotten by the restart.
      await orAfter(clock, SHUTDOWN_WAIT_MS, latch.settled());
    },

    describe() {
      const { latched, by, reason, unsavedBecause } = latch.state();
      if (latched) {
        const unsaved = unsavedBecause === null ? '' : ` (${unsavedBecause})`;
        return `stop latched${by === null ? '' : ` by ${by}`}: ${reason ?? 'no reason given'}${unsaved}`;
      }
      if (tour !== null && isOpenRun(tour)) {
        return `tour ${tour.tour}${tour.state === 'paused' ? ' paused' : ''}, to ${tour.stations[tour.at] ?? 'its end'}`;
      }
      if (drive?.state === 'running') return `drive to ${drive.station ?? 'the dock'}`;
      const input = shownInput();
      if (input.unownedMove !== null) return `gate closed: ${unownedMoveText(input.unownedMove)}`;
      const refusals = judgeMoves(input);
      return refusals.length === 0 ? 'gate open' : `gate closed: ${refusals[0]?.reason}`;
    },

    status() {
      const input = shownInput();
      const { unownedMove } = input;
      const gate = { ...gateView(judgeMoves(input)), ...passable(input) };
      const standstill = standstillOf(input.snapshot, input.stopProof);
      const last = trials.view();
      const trial = last?.state === 'running' ? { kind: last.kind } : null;
      return {
        gate,
        frame: noPlaceInFrame(places, input.snapshot.values),
        standstill,
        poseAlarm: input.poseAlarm ?? null,
        poseAlarmTrouble: poseAlarm.trouble(),
        stop: latch.state(),
        keepingTrouble: latch.trouble(),
        tour,
        drive,
        trial,
        unownedMove,
      };
    },

    runs: () => ({ tour, drive, stop: latch.state() }),

    async execute(order, signal) {
      signal?.throwIfAborted();
      admit([order]);
      return occupancy.occupy({ kind: 'order', judgeFacts: factsOf(order.kind) }, signal, (both) =>
        follow(order, both),
      );
    },

    async startTour(name, options = {}) {
      const legs = planTour(site, name);
      // All legs before the first order, so that a tour does not fail half way for a reason known at its start.
      const { although = [] } = options;
      admit(
        legs.map(({ order }) => order),
        although,
      );
      logPassed(although);
      const begun: TourRun = {
        id: newId(),
        although,
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
      const ended = occupancy.occupy({ kind: 'tour', judgeFacts: factsOf('move') }, undefined, (signal) => {
        driven = driveTour(begun, legs, { execute, onChange, signal, clock, pauseMs: limits.pauseMs });
        return driven.ended;
      });
      const supervision = supervise(begun.id, options);
      void ended
        .then((run) => log.info({ tour: run.tour, state: run.state, reason: run.reason }, 'the tour has ended'))
        .finally(() => supervision?.[Symbol.dispose]());
      return begun;
    },

    async pauseTour(by, id) {
      if (driven === null || tour === null || !isOpenRun(tour) || (id !== undefined && id !== tour.id)) {
        throw new GwError('TOUR_NOT_RUNNING', 'No tour is running.');
      }
      log.warn({ by, tour: tour.tour }, 'the tour is paused');
      await orAfter(clock, END_RUN_WAIT_MS, driven.pause(by));
      return tour;
    },

    async resumeTour(name, { although = [] } = {}) {
      if (driven === null || tour?.state !== 'paused' || tour.tour !== name) {
        throw new GwError('TOUR_NOT_PAUSED', `Tour '${name}' is not paused.`);
      }
      const ahead = planTour(site, name).slice(tour.at);
      const refusal = refusalOf(
        ahead.map(({ order }) => order),
        although,
      );
      if (refusal !== null) throw refusal;
      logPassed(although);
      return driven.resume(although);
    },

    async startDrive(target, options = {}) {
      const order = planDrive(site, target);
      const { although = [] } = options;
      admit([order], although);
      logPassed(although);
      const station = 'station' in target ? target.station : null;
      const kind = station === null ? 'dock' : 'move';
      const begun: DriveRun = { id: newId(), kind, although, station, state: 'running', outcome: null, reason: null };
      const onChange = (run: DriveRun) => {
        drive = run;
        changed();
      };
      onChange(begun);
      const ended = occupancy.occupy({ kind: 'drive', judgeFacts: factsOf(kind) }, undefined, async (signal) => {
        onChange(await runDrive(begun, order, { signal, execute: () => execute(order, signal, although) }));
      });
      const supervision = supervise(begun.id, options);
      void ended
        .then(() => log.info({ station, state: drive?.state, reason: drive?.reason }, 'the drive has ended'))
        .finally(() => supervision?.[Symbol.dispose]());
      return begun;
    },

    keepAlive(id) {
      if (supervised?.id !== id) return false;
      supervised.alive.renew();
      return true;
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
      // Holds in memory from here on. Cancelling and saving do not wait for each other.
      const saved = latch.set(reason, by);
      occupancy.current?.ending.abort(new GwError('MOTION_STOPPED', `stopped by ${by}: ${reason}`));
      const cancelled = canceller.cancel(`stop by ${by}`);
      // Without a connection there is no answer to wait for; the cancel is sent after the reconnect.
      const isAway = link.state().kind === 'not-connected';
      await Promise.all([
        orAfter(clock, STOP_WAIT_MS.disk, saved),
        isAway || orAfter(clock, STOP_WAIT_MS.chassis, cancelled),
      ]);
      return latch.state();
    },

    untilStopSaved: latch.untilSaved,

    async clearStop(by): Promise<StopLatch> {
      const proof = proofs.current(link.snapshot());
      if (proof?.verdict === 'drives-on') {
        throw new GwError('MOTION_REFUSED', `The stop stays latched: ${stopProofText(proof)}`, {
          remedy: 'Press the emergency stop of the robot. Clear the stop when the robot stands.',
        });
      }
      const state = await latch.clear();
      proofs.confirm(by);
      log.warn({ by, latched: state.latched }, 'the stop was cleared');
      return state;
    },

    subscribe(listener) {
      // A wrapper for each subscription: the same listener may subscribe twice.
      const mine = () => listener();
      listeners.add(mine);
      return { [Symbol.dispose]: () => void listeners.delete(mine) };
    },
  };
}
