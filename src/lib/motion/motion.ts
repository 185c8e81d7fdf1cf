import type { ChassisLink } from '../chassis/index.ts';
import { movesOf } from '../chassis/moves.ts';
import { GwError } from '../error/index.ts';
import type { EvidenceSource } from '../evidence/index.ts';
import { type Clock, type Log, orAfter } from '../lifecycle/index.ts';
import { mapsOfPlaces, type Site } from '../site/index.ts';
import { createAdmission } from './admission.ts';
import { createCanceller } from './canceller.ts';
import { driveToGoal } from './drive-to-goal.ts';
import { gateView, judgeMoves, passableAlerts, stopProofText } from './gate.ts';
import { startGuard } from './guard.ts';
import { createStopLatch } from './latch/stop-latch.ts';
import { noPlaceInFrame } from './map-frame.ts';
import type { Motion, Order, StopLatch } from './model.ts';
import { type OrderLimits, type OrderTools, orderLimits } from './orders.ts';
import { createPoseAlarm } from './pose-alarm.ts';
import { createOccupancy } from './run/occupancy.ts';
import { createRuns } from './run/runs.ts';
import { isOpenRun } from './run/tour-run.ts';
import { setPoseWithAlarm } from './set-pose.ts';
import { standstillOf } from './standstill.ts';
import { createStopProofs } from './stop-proof.ts';
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
/** How long the end of the service waits for the cancel of a running move. */
const SHUTDOWN_WAIT_MS = 1_200;

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
  const occupancy = createOccupancy();
  let life = new AbortController();
  let guard: DisposableStack | null = null;
  const limits: OrderLimits = { ...orderLimits, moveMs: site.motion.moveLimitS * 1_000, ...options.limits };
  const tries = limits.cancelTries;
  /** A trial judges it itself, beside a person; its evidence then closes the gate. */
  const onDisobeyed = (reason: string) => {
    const { current } = occupancy;
    if (current?.kind === 'trial' && !current.ending.signal.aborted) return;
    void latch.disobeyed(reason);
    // Every other activity ends with its cancel; a paused tour would outlast the stop.
    if (current?.isPaused()) current.ending.abort(new GwError('MOTION_STOPPED', `the robot drove on: ${reason}`));
  };
  const proofs = createStopProofs({ clock, log, onDisobeyed });
  const canceller = createCanceller({ link, moves, clock, log, proofs, tries, signal: () => life.signal });
  const watch = createMoveWatch({ clock, log, policy: site.motion.unownedMove });
  const poseAlarm = createPoseAlarm({ stateDir: site.stateDir, clock, log, onChange: changed });
  const tools: OrderTools = { link, moves, canceller, watch, proofs, poseAlarm, clock, log, limits };

  const admission = createAdmission({
    ...{ link, site, evidence, latch, canceller, proofs, poseAlarm, watch, occupancy, log },
    isRunning: () => guard !== null,
  });
  const follow = (order: Order, signal: AbortSignal, although: readonly number[] = []) =>
    order.kind === 'pose'
      ? setPoseWithAlarm(order, tools, poseAlarm, signal)
      : driveToGoal(order, { ...tools, although }, signal);
  const runs = createRuns({
    ...{ site, admission, occupancy, follow, clock, log },
    pauseMs: limits.pauseMs,
    onChange: changed,
  });
  const busyWith = (text: string) => ({
    busy: () => new GwError('MOTION_REFUSED', text, { remedy: 'Wait for its end, or stop it: `gw motion stop`.' }),
    isPaused: () => false,
  });

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
    ...{ site, tools, clock, log },
    gateInput: admission.input,
    occupant: admission.occupant,
    store: options.trialStore,
    occupy: (judgeFacts, signal, work) =>
      occupancy.occupy({ kind: 'trial', judgeFacts, ...busyWith('A trial is running.') }, signal, work),
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
      const { tour, drive } = runs;
      if (tour !== null && isOpenRun(tour)) {
        return `tour ${tour.tour}${tour.state === 'paused' ? ' paused' : ''}, to ${tour.stations[tour.at] ?? 'its end'}`;
      }
      if (drive?.state === 'running') return `drive to ${drive.station ?? 'the dock'}`;
      const input = admission.shownInput();
      if (input.unownedMove !== null) return `gate closed: ${unownedMoveText(input.unownedMove)}`;
      const refusals = judgeMoves(input);
      return refusals.length === 0 ? 'gate open' : `gate closed: ${refusals[0]?.reason}`;
    },

    status() {
      const input = admission.shownInput();
      const { unownedMove } = input;
      const codes = passableAlerts(input);
      const gate = { ...gateView(judgeMoves(input)), ...(codes.length > 0 && { passableAlerts: codes }) };
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
        tour: runs.tour,
        drive: runs.drive,
        trial,
        unownedMove,
      };
    },

    runs: () => ({ tour: runs.tour, drive: runs.drive, stop: latch.state() }),

    async execute(order, signal) {
      signal?.throwIfAborted();
      admission.admit([order]);
      const about = { kind: 'order', judgeFacts: admission.factsOf(order.kind) } as const;
      return occupancy.occupy({ ...about, ...busyWith('Another order is running.') }, signal, (both) =>
        follow(order, both),
      );
    },

    startTour: runs.startTour,
    pauseTour: runs.pauseTour,
    resumeTour: runs.resumeTour,
    startDrive: runs.startDrive,
    refusalOfUnattended: runs.refusalOfUnattended,
    keepAlive: runs.keepAlive,
    endTour: runs.endTour,
    endDrive: runs.endDrive,

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
