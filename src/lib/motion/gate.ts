import { type ChassisSnapshot, isSimulated } from '../chassis/index.ts';
import { type ErrorCode, formatTried, GwError, type Tried } from '../error/index.ts';
import {
  actionableBases,
  type EvidenceRecord,
  type FactIdMarked,
  type Reliance,
  relianceOn,
} from '../evidence/index.ts';
import { isRecord } from '../json/index.ts';
import type { PlaceMap, Site } from '../site/index.ts';
import { quoted } from '../text/index.ts';
import { closingAlerts, unfitness } from './fitness.ts';
import { currentMapOf, noPlaceInFrame, outOfFrame } from './map-frame.ts';
import type { GateView, KeepingTrouble, Order, PoseAlarmView, StopLatch, StopProof, UnownedMove } from './model.ts';
import { unownedMoveText } from './unowned-move.ts';
import { verifyRemedy } from './verify-remedy.ts';

/** Facts that an order may rely on at all. The id of a VORSICHT or OFFEN fact does not fit this type. */
export type ReliableFactId = FactIdMarked<'BELEGT' | 'HINWEIS'>;

/**
 * The facts about the chassis that each kind of order relies on. A BELEGT fact holds; a HINWEIS only where the site's
 * evidence file records that it was verified on this serial with this software. Cancelling is among them: gw starts
 * no movement that it could not end.
 */
export const factsOfOrder = {
  move: [
    'angles.tracked-pose-ori',
    'angles.target-ori',
    'vendor.move.request',
    'vendor.move.state',
    'vendor.move.cancel',
  ],
  dock: [
    'angles.tracked-pose-ori',
    'angles.target-ori',
    'vendor.move.request',
    'vendor.move.state',
    'vendor.move.cancel',
    'vendor.move.charge-target',
  ],
  pose: ['angles.tracked-pose-ori', 'angles.pose-ori', 'vendor.pose.request'],
} as const satisfies Record<Order['kind'], readonly ReliableFactId[]>;

/** A pose older than this is not used. Project decision. */
const POSE_MAX_AGE_MS = 3_000;
/** A coordinate beyond this is a unit error: no site is larger. Project decision. */
const MAX_COORDINATE_M = 10_000;
/** A heading beyond a full turn is a unit error. Project decision. */
const MAX_YAW_DEG = 360;

/** The complete input of the gate; it reads no clock and no other state. */
export interface GateInput {
  readonly snapshot: ChassisSnapshot;
  /** The serial number in the site file, and whether it requires verifications on this chassis. */
  readonly site: {
    readonly chassis: Pick<Site['chassis'], 'serial'>;
    readonly motion: Pick<Site['motion'], 'requireVerified'>;
  };
  readonly records: readonly EvidenceRecord[];
  /** Why the evidence file cannot be read; null when it was. */
  readonly evidenceTrouble: string | null;
  readonly stop: Pick<StopLatch, 'latched' | 'reason' | 'by' | 'since' | 'disobeyed'>;
  /** Why a stop could not be saved now; null when it could. */
  readonly keepingTrouble: KeepingTrouble | null;
  /** A cancel is not delivered yet: the chassis may still execute a move that was to be stopped. */
  readonly isCancelPending: boolean;
  /** What the last cancel still has to show; null when nothing is owed. */
  readonly stopProof: StopProof | null;
  /** gw itself drives the robot, so that its movement is no obstacle. */
  readonly isUnderWay: boolean;
  /** The pose of the robot is wrong or not known, on the current map. Absent: it is not. */
  readonly poseAlarm?: PoseAlarmView | null;
  /** The maps of the places of the site file; null among them where a place names none. */
  readonly places: readonly (PlaceMap | null)[];
  /** A running move that gw did not order. */
  readonly unownedMove: UnownedMove | null;
  /** Just connected: the chassis has not reported yet whether a move is running. */
  readonly isMoveAwaited: boolean;
  /** Alerts that a person passes for this order, by their numbers. */
  readonly although?: readonly number[];
}

export interface Refusal {
  readonly code: Extract<
    ErrorCode,
    'MOTION_STOPPED' | 'CHASSIS_NOT_CONNECTED' | 'CHASSIS_BOOTING' | 'CHASSIS_WRONG_DEVICE' | 'MOTION_REFUSED'
  >;
  /** One sentence for the user. */
  readonly reason: string;
  readonly tried?: Tried;
  /** The fact that only lacks a verification on this device. */
  readonly unverified?: ReliableFactId;
}

/** Judges the facts of a kind of order: a trial also accepts the unverified facts that it verifies. */
export type FactJudge = (kind: Order['kind'], input: GateInput) => readonly Refusal[];

/** All refusals of this order; an empty list lets it pass. */
export function judgeOrder(order: Order, input: GateInput, facts: FactJudge = judgeFacts): readonly Refusal[] {
  // An order can come from untyped code.
  const kind: unknown = order.kind;
  if (typeof kind !== 'string' || !Object.hasOwn(factsOfOrder, kind)) {
    return [refuse(`Unknown order kind ${show(kind)}.`)];
  }
  return [...judgeState(order.kind, input, facts), ...judgeValues(order, input)];
}

/** All refusals of a move to any place of the site file at this moment: what people are shown. */
export function judgeMoves(input: GateInput): readonly Refusal[] {
  const state = judgeState('move', input);
  const elsewhere = noPlaceInFrame(input.places, input.snapshot.values);
  return elsewhere === null || isMapUnknown(input) ? state : [...state, refuse(elsewhere.reason)];
}

/** All refusals of any order of this kind at this moment. */
export function judgeState(kind: Order['kind'], input: GateInput, facts: FactJudge = judgeFacts): readonly Refusal[] {
  return [
    ...judgeStop(input),
    ...judgeLink(input),
    ...judgeUnit(kind, input),
    ...(kind === 'pose' ? [] : judgePoseAlarm(input)),
    ...judgeUnownedMove(input),
    ...judgeStanding(input),
    ...judgeRobot(kind, input),
    ...judgeMap(input),
    ...facts(kind, input),
    // Last: it resolves itself within seconds.
    ...(input.stopProof?.verdict === 'awaited' ? [refuse(stopProofText(input.stopProof))] : []),
  ];
}

export function gateView(refusals: readonly Refusal[]): GateView {
  const unverified = refusals.flatMap((refusal) => refusal.unverified ?? []);
  return {
    open: refusals.length === 0,
    reasons: refusals.map(({ reason }) => reason),
    ...(unverified.length > 0 && { unverified }),
  };
}

/** The numbers of the alerts that alone close the gate for plain moves. */
export function passableAlerts(input: GateInput): readonly number[] {
  const codes = [...new Set(closingAlerts(input.snapshot.values).map(({ code }) => code))];
  if (codes.length === 0) return [];
  return judgeMoves({ ...input, although: codes }).length === 0 ? codes : [];
}

/**
 * The refusals as one error: its code is that of the first one to resolve, its details hold every reason; null without
 * refusals.
 */
export function refusalError(refusals: readonly Refusal[]): GwError | null {
  const first =
    precedence.map((code) => refusals.find((refusal) => refusal.code === code)).find(Boolean) ?? refusals[0];
  if (first === undefined) return null;
  const others = refusals.filter((refusal) => refusal !== first);
  return new GwError(first.code, [first, ...others].map(({ reason }) => reason).join(' '), {
    tried: first.tried,
    remedy:
      first.code === 'MOTION_REFUSED'
        ? verifyRemedy(refusals.flatMap(({ unverified }) => unverified ?? []))
        : undefined,
    details: { reasons: refusals.map(({ reason }) => reason) },
  });
}

const precedence: readonly Refusal['code'][] = [
  'MOTION_STOPPED',
  'CHASSIS_WRONG_DEVICE',
  'CHASSIS_BOOTING',
  'CHASSIS_NOT_CONNECTED',
  'MOTION_REFUSED',
];

export function refuse(reason: string): Refusal {
  return { code: 'MOTION_REFUSED', reason };
}

function judgeStop({ stop, keepingTrouble, isCancelPending, stopProof }: GateInput): Refusal[] {
  const refusals: Refusal[] = [];
  if (stop.latched) {
    const by = stop.by === null ? '' : ` by ${stop.by}`;
    const since = stop.since === null ? '' : ` since ${stop.since}`;
    refusals.push({
      code: 'MOTION_STOPPED',
      reason: `A stop is latched${by}${since}: ${stop.reason ?? 'no reason given'}.${disobeyedText(stop)}`,
    });
  }
  // A robot whose stop would not survive a restart must not be driven.
  if (keepingTrouble !== null) refusals.push(refuse(`${keepingTrouble.reason} ${keepingTrouble.remedy}`));
  if (isCancelPending) refusals.push(refuse('The chassis has not confirmed the cancel of an earlier order yet.'));
  if (stopProof?.verdict === 'drives-on') refusals.push(refuse(stopProofText(stopProof)));
  return refusals;
}

function disobeyedText({ disobeyed }: Pick<StopLatch, 'disobeyed'>): string {
  if (disobeyed === undefined) return '';
  return ` The robot drove on: ${disobeyed}. Verify the stop before it drives again.`;
}

/** Text: what the last cancel still has to show. */
export function stopProofText({ verdict, reason }: StopProof): string {
  if (verdict === 'drives-on') {
    return `THE ROBOT DOES NOT STOP although it was cancelled: ${reason}. PRESS THE EMERGENCY STOP. The cancel is repeated.`;
  }
  return `The robot was cancelled, and its poses do not show yet that it stands: ${reason}.`;
}

/** A drive starts from the pose. Setting it is what clears the alarm. */
export function judgePoseAlarm({ poseAlarm }: GateInput): Refusal[] {
  if (poseAlarm == null) return [];
  const { map, reason } = poseAlarm;
  const where = map == null ? 'a map that is not known' : `the map ${quoted(map.title)}`;
  const remedy = 'Set the pose of the robot before it drives (`gw motion pose`).';
  return [refuse(`The pose of the robot is wrong or not known on ${where}: ${reason.replace(/\.$/, '')}. ${remedy}`)];
}

function judgeLink({ snapshot: { link, identity }, site }: GateInput): Refusal[] {
  const where = formatTried(link.tried);
  switch (link.kind) {
    case 'connecting':
      return [{ code: 'CHASSIS_NOT_CONNECTED', reason: `not connected yet: trying ${where}.`, tried: link.tried }];
    case 'booting':
      return [{ code: 'CHASSIS_BOOTING', reason: `The chassis at ${where} is still starting.`, tried: link.tried }];
    case 'not-connected':
      if (link.failure === 'wrong-device') return [wrongDevice(site.chassis.serial, link.foundSerial, link.tried)];
      return [
        {
          code: 'CHASSIS_NOT_CONNECTED',
          reason: `not connected: ${link.detail.replace(/\.$/, '')}; tried ${where}.`,
          tried: link.tried,
        },
      ];
    case 'connected':
      if (identity === null) return [refuse('The chassis has not reported its serial number yet.')];
      if (identity.serial !== site.chassis.serial) {
        return [wrongDevice(site.chassis.serial, identity.serial, link.tried)];
      }
      return [];
  }
}

function wrongDevice(expected: string, found: string | undefined, tried: Tried): Refusal {
  return {
    code: 'CHASSIS_WRONG_DEVICE',
    reason: `Wrong chassis at ${formatTried(tried)}: found ${found ?? 'another serial number'}, the site file names ${expected}.`,
    tried,
  };
}

function judgeUnit(kind: Order['kind'], { snapshot: { unitContradicted, poseUnit } }: GateInput): Refusal[] {
  const seen = poseUnit.largest === null ? '' : ` (${poseUnit.samples} samples, largest |ori| ${poseUnit.largest})`;
  if (!unitContradicted) {
    const relied: readonly ReliableFactId[] = factsOfOrder[kind];
    if (poseUnit.doubt === null || !relied.includes('angles.tracked-pose-ori')) return [];
    return [
      refuse(
        `angles.tracked-pose-ori (BELEGT: degrees) is in doubt on this chassis: ${poseUnit.doubt}${seen}. ` +
          (poseUnit.misfit === true
            ? 'Drive or push it straight on along six different courses and compare its heading with them.'
            : 'Turn the robot by hand through two full circles without a pause, which decides the unit in most cases.'),
      ),
    ];
  }
  return [
    refuse(
      `angles.tracked-pose-ori (BELEGT: degrees) is contradicted by this chassis: ${poseUnit.reason}${seen}. ` +
        'No order passes until gw is restarted.',
    ),
  ];
}

/** One move at a time, of any client: the effect of a second order on the first is not documented. */
function judgeUnownedMove({ unownedMove, isMoveAwaited }: GateInput): Refusal[] {
  if (unownedMove === null && isMoveAwaited) {
    return [refuse('The chassis has not reported yet, over this connection, whether a move is running.')];
  }
  return unownedMove === null ? [] : [refuse(unownedMoveText(unownedMove))];
}

/** A robot that moves takes no order, whatever moves it and whatever it reports; 'not-known' is left to the other rules. */
function judgeStanding({ snapshot: { link, standing }, isUnderWay }: GateInput): Refusal[] {
  if (isUnderWay || link.kind !== 'connected' || standing.verdict !== 'moves') return [];
  return [refuse(`The robot moves: ${standing.reason}. Wait until it stands; press the emergency stop if it should.`)];
}

/** Vendor values (HINWEIS) may only add refusals here, never remove one; so a value not received is not judged. */
function judgeRobot(kind: Order['kind'], { snapshot: { values }, although }: GateInput): Refusal[] {
  const { pose, planning } = values;
  const refusals = unfitness(kind === 'pose' ? 'pose' : 'drive', values, although).map(refuse);
  if (kind === 'pose') {
    // The pose is not set while the robot moves.
    if (planning.status === 'received' && planning.value.moveState === 'moving') {
      refusals.push(refuse('The robot is driving; its pose can be set only while it stands still.'));
    }
    return refusals;
  }
  if (pose.status === 'not-received') {
    refusals.push(
      refuse(`The position is unknown: ${pose.rejected === undefined ? 'no pose received yet' : pose.rejected}.`),
    );
  } else if (pose.stale || !(pose.ageMs <= POSE_MAX_AGE_MS)) {
    refusals.push(refuse(`The position is unknown: the last pose is ${Math.round(pose.ageMs)} ms old.`));
  }
  return refusals;
}

/** Every order names metres on a map: without one they are no place. */
function judgeMap({ snapshot: { link, values } }: GateInput): Refusal[] {
  if (link.kind !== 'connected') return [];
  const now = currentMapOf(values);
  return typeof now === 'string' ? [refuse(`The current map is not known: ${now}.`)] : [];
}

function isMapUnknown({ snapshot: { values } }: GateInput): boolean {
  return typeof currentMapOf(values) === 'string';
}

/** The place of an order counts in its own map only. */
function judgeFrame(map: unknown, input: GateInput): Refusal[] {
  if (isMapUnknown(input)) return [];
  const isNamed = isRecord(map) && typeof map.uid === 'string' && map.uid !== '';
  const elsewhere = outOfFrame(isNamed ? (map as unknown as PlaceMap) : null, input.snapshot.values);
  return elsewhere === null ? [] : [refuse(elsewhere.reason)];
}

/** Refusals of an order of this kind by its facts alone. */
export function judgeFacts(kind: Order['kind'], input: GateInput): Refusal[] {
  return judgeReliances(factsOfOrder[kind], input, ({ usable }) => usable);
}

/** A refusal for each of these facts that does not pass. */
export function judgeReliances(
  ids: readonly ReliableFactId[],
  {
    snapshot: { identity },
    records,
    evidenceTrouble,
    site: { motion },
  }: Pick<GateInput, 'snapshot' | 'records' | 'evidenceTrouble' | 'site'>,
  passes: (reliance: Reliance, id: ReliableFactId) => boolean,
): Refusal[] {
  const device = {
    serial: identity?.serial ?? null,
    software: identity?.software ?? null,
    simulated: identity !== null && isSimulated(identity),
    records,
  };
  const refusals = ids
    .map((id) => ({ id, found: relianceOn(id, device, motion) }))
    .filter(({ id, found }) => !passes(found, id))
    .map(({ id, found }) => ({ ...refuse(found.why), ...(found.lacksVerification && { unverified: id }) }));
  // An unreadable file may contain a contradiction, so not even BELEGT facts are accepted then.
  return evidenceTrouble === null ? refusals : [refuse(evidenceTrouble), ...refusals];
}

/** The types exclude all of this; a cast or a JSON body may bypass them. */
function judgeValues(order: Order, input: GateInput): Refusal[] {
  const {
    snapshot: { identity },
    site: { motion },
  } = input;
  const carried: unknown = order.kind === 'pose' ? order.pose : order.goal;
  if (!isRecord(carried) || !isRecord(carried.value)) return [refuse('The order has no goal.')];
  const refusals: Refusal[] = [];
  const { mark, value } = carried;
  switch (mark) {
    case 'BELEGT': {
      const carrying: readonly unknown[] = motion.requireVerified ? ['here'] : actionableBases;
      if (!carrying.includes(carried.basis)) {
        refusals.push(
          refuse(`The goal is BELEGT with basis ${show(carried.basis)}, which must not lead to movement here.`),
        );
      }
      break;
    }
    case 'CHOSEN':
      break;
    case 'VERIFIED':
      if (identity === null || carried.serial !== identity.serial || carried.software !== identity.software) {
        refusals.push(
          refuse(
            `The goal was verified on ${show(carried.serial)} with software ${show(carried.software)}, ` +
              'not on this device with its present software.',
          ),
        );
      }
      break;
    default:
      refusals.push(refuse(`The goal has the mark ${show(mark)}; such a value must not lead to movement.`));
  }
  for (const name of ['xM', 'yM'] as const) {
    const metres = value[name];
    if (typeof metres !== 'number' || !(Math.abs(metres) <= MAX_COORDINATE_M)) {
      refusals.push(refuse(`${name} must be a number of metres within ±${MAX_COORDINATE_M}, found ${show(metres)}.`));
    }
  }
  const yawNeeded = order.kind !== 'move';
  if (yawNeeded || value.yawDeg !== undefined) {
    if (typeof value.yawDeg !== 'number' || !(Math.abs(value.yawDeg) <= MAX_YAW_DEG)) {
      refusals.push(refuse(`yawDeg must be a number of degrees within ±${MAX_YAW_DEG}, found ${show(value.yawDeg)}.`));
    }
  }
  return [...refusals, ...judgeFrame(value.map, input)];
}

/** Text of any value for a refusal; never throws. */
function show(input: unknown): string {
  return typeof input === 'object' || typeof input === 'function' ? typeof input : String(input).slice(0, 100);
}
