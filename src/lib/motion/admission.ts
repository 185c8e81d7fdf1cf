import type { ChassisLink } from '../chassis/index.ts';
import { GwError } from '../error/index.ts';
import type { EvidenceSource } from '../evidence/index.ts';
import type { Log } from '../lifecycle/index.ts';
import { mapsOfPlaces, type Site } from '../site/index.ts';
import type { Canceller } from './canceller.ts';
import { closingAlerts } from './fitness.ts';
import { type GateInput, judgeFacts, judgeOrder, type Refusal, refusalError } from './gate.ts';
import type { LatchKeeper } from './latch/stop-latch.ts';
import type { Order } from './model.ts';
import type { PoseAlarm } from './pose-alarm.ts';
import type { Occupancy } from './run/occupancy.ts';
import type { StopProofs } from './stop-proof.ts';
import type { MoveWatch } from './unowned-move.ts';

export interface AdmissionOptions {
  readonly link: ChassisLink;
  readonly site: Site;
  readonly evidence: EvidenceSource;
  readonly latch: Pick<LatchKeeper, 'state' | 'trouble'>;
  readonly canceller: Pick<Canceller, 'isPending'>;
  readonly proofs: Pick<StopProofs, 'current'>;
  readonly poseAlarm: Pick<PoseAlarm, 'state'>;
  readonly watch: Pick<MoveWatch, 'current' | 'isAwaited'>;
  readonly occupancy: Occupancy;
  readonly log: Log;
  /** Whether the service is running: before its start and after its end nothing is admitted. */
  isRunning(): boolean;
}

/** Whether an order may be sent now: by the gate, whose input is gathered here, and by what already occupies the robot. */
export function createAdmission(options: AdmissionOptions) {
  const { link, site, evidence, latch, canceller, proofs, poseAlarm, watch, occupancy, log } = options;
  const places = mapsOfPlaces(site);

  /** The same with every fact verified on this chassis, whatever the site file requires. */
  const strictSite = { ...site, motion: { ...site.motion, requireVerified: true } };

  const input = (although: readonly number[] = [], isUnattended = false, snapshot = link.snapshot()): GateInput => ({
    snapshot,
    although,
    site: isUnattended ? strictSite : site,
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

  /** The gate's refusals of these orders as one error; null when all of them may pass. */
  function refusalOf(orders: readonly Order[], although: readonly number[], isUnattended: boolean): GwError | null {
    const now = input(although, isUnattended);
    const found = new Map(orders.flatMap((order) => judgeOrder(order, now)).map((one) => [one.reason, one]));
    return refusalError([...found.values()]);
  }

  function refuse(error: GwError, orders: readonly Order[]): GwError {
    log.warn({ kind: orders[0]?.kind, reasons: error.details?.reasons }, 'the gate refused an order');
    return error;
  }

  /** Why the robot is occupied; null when it is free. */
  function occupant(): GwError | null {
    if (!options.isRunning()) return new GwError('MOTION_REFUSED', 'The motion service is not running.');
    return occupancy.current?.busy() ?? null;
  }

  return {
    input,
    occupant,

    /** The same for what people are shown: while gw drives the robot, its movement closes nothing. */
    shownInput(): GateInput {
      const { current } = occupancy;
      return { ...input(), isUnderWay: current !== null && !current.isPaused() };
    },

    /** Throws the obstacle to remove first: a stop, the chassis, then the running activity. */
    admit(orders: readonly Order[], although: readonly number[] = [], isUnattended = false): void {
      const busy = occupant();
      const refusal = options.isRunning() ? refusalOf(orders, although, isUnattended) : null;
      if (refusal !== null && (busy === null || refusal.code !== 'MOTION_REFUSED')) throw refuse(refusal, orders);
      if (busy !== null) throw busy;
    },

    /** Why it would not admit an order that begins by itself; null: it would. */
    unattended: (order: Order): GwError | null => occupant() ?? refusalOf([order], [], true),

    /** Throws what closes the gate for these orders of what occupies the robot itself. */
    pass(orders: readonly Order[], although: readonly number[], isUnattended = false): void {
      const refusal = refusalOf(orders, although, isUnattended);
      if (refusal !== null) throw refuse(refusal, orders);
    },

    /** Refusals of a kind of order by the facts it relies on, as they are known at each call. */
    factsOf: (kind: Order['kind']) => (): readonly Refusal[] => judgeFacts(kind, input()),

    /** What a person passes is in the log, with what was active. */
    logPassed(although: readonly number[]): void {
      if (although.length === 0) return;
      const active = closingAlerts(link.snapshot().values);
      log.warn({ although, active }, 'a person passes alerts of the robot by their numbers');
    },
  };
}

export type Admission = ReturnType<typeof createAdmission>;
