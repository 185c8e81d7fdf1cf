import { type ChassisSnapshot, isSimulated } from '../chassis/index.ts';
import { type ErrorCode, formatTried, GwError, type Tried } from '../error/index.ts';
import { actionableBases, type EvidenceRecord, type FactIdMarked, type Standing, standing } from '../evidence/index.ts';
import { isRecord } from '../json/index.ts';
import type { Site } from '../site/index.ts';
import type { GateView, KeepingTrouble, Order, StopLatch, UnownedMove } from './model.ts';
import { unownedMoveText } from './unowned-move.ts';

/** Facts that an order may rely on at all. The id of a VORSICHT or OFFEN fact does not fit this type. */
export type ReliableFactId = FactIdMarked<'BELEGT' | 'HINWEIS'>;

/**
 * What each kind of order takes for true about the chassis. A BELEGT fact holds; a HINWEIS only where the site's
 * evidence file says that it was verified on this serial with this software. Cancelling is among them: gw starts
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

/** An older position is no position. Decision of ours. */
const POSE_MAX_AGE_MS = 3_000;
/** No site is larger; a coordinate beyond it is a mistake in a unit. Decision of ours. */
const COORDINATE_LIMIT_M = 10_000;

/** What the gate decides by. It reads no clock and nothing else. */
export interface GateInput {
  readonly snapshot: ChassisSnapshot;
  /** The serial number that the site file names, and whether it asks for verifications on this very chassis. */
  readonly site: {
    readonly chassis: Pick<Site['chassis'], 'serial'>;
    readonly motion: Pick<Site['motion'], 'requireVerified'>;
  };
  readonly records: readonly EvidenceRecord[];
  /** Why the evidence file cannot be read now; null when it was. */
  readonly evidenceTrouble: string | null;
  readonly stop: Pick<StopLatch, 'latched' | 'reason' | 'by' | 'since'>;
  /** Why a stop could not be kept on the disk now; null when it could. */
  readonly keepingTrouble: KeepingTrouble | null;
  /** A cancel that could not be delivered yet: the chassis may still follow an order that was to be stopped. */
  readonly cancelOwed: boolean;
  /** What the robot drives by an order that is not of gw. */
  readonly unownedMove: UnownedMove | null;
  /** Just connected: whether a move of before is under way has not been reported yet. */
  readonly isMoveAwaited: boolean;
}

export interface Refusal {
  readonly code: Extract<
    ErrorCode,
    'MOTION_STOPPED' | 'CHASSIS_NOT_CONNECTED' | 'CHASSIS_BOOTING' | 'CHASSIS_WRONG_DEVICE' | 'MOTION_REFUSED'
  >;
  /** One sentence for a person. */
  readonly reason: string;
  readonly tried?: Tried;
}

/** How the facts that a kind of order relies on are judged: a trial asks less of those that it is there to verify. */
export type FactJudge = (kind: Order['kind'], input: GateInput) => readonly Refusal[];

/** Everything that speaks against this order; an empty list lets it pass. */
export function judgeOrder(order: Order, input: GateInput, facts: FactJudge = judgeFacts): readonly Refusal[] {
  // An order can come from a caller that no compiler has seen.
  const kind: unknown = order.kind;
  if (typeof kind !== 'string' || !Object.hasOwn(factsOfOrder, kind)) {
    return [refuse(`There is no order of the kind ${show(kind)}.`)];
  }
  return [...judgeState(order.kind, input, facts), ...judgeValues(order, input)];
}

/** Everything that speaks against any order of this kind right now. */
export function judgeState(kind: Order['kind'], input: GateInput, facts: FactJudge = judgeFacts): readonly Refusal[] {
  return [
    ...judgeStop(input),
    ...judgeLink(input),
    ...judgeUnit(kind, input),
    ...judgeUnownedMove(input),
    ...judgeRobot(kind, input),
    ...facts(kind, input),
  ];
}

export function gateView(refusals: readonly Refusal[]): GateView {
  return { open: refusals.length === 0, reasons: refusals.map(({ reason }) => reason) };
}

/**
 * The refusals as one error: its code is the one that a person must mend first, its details hold every reason; null
 * without any.
 */
export function refusalError(refusals: readonly Refusal[]): GwError | null {
  const first =
    precedence.map((code) => refusals.find((refusal) => refusal.code === code)).find(Boolean) ?? refusals[0];
  if (first === undefined) return null;
  const others = refusals.filter((refusal) => refusal !== first);
  return new GwError(first.code, [first, ...others].map(({ reason }) => reason).join(' '), {
    tried: first.tried,
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

function judgeStop({ stop, keepingTrouble, cancelOwed }: GateInput): Refusal[] {
  const refusals: Refusal[] = [];
  if (stop.latched) {
    const by = stop.by === null ? '' : ` by ${stop.by}`;
    const since = stop.since === null ? '' : ` since ${stop.since}`;
    refusals.push({
      code: 'MOTION_STOPPED',
      reason: `The robot is stopped${by}${since}: ${stop.reason ?? 'no reason given'}.`,
    });
  }
  // A robot whose stop would be forgotten by a restart must not be driven.
  if (keepingTrouble !== null) refusals.push(refuse(`${keepingTrouble.reason} ${keepingTrouble.remedy}`));
  if (cancelOwed)
    refusals.push(refuse('An earlier order was to be cancelled, and the chassis has not confirmed it yet.'));
  return refusals;
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
      if (identity === null) return [refuse('The chassis has not told its serial number yet.')];
      if (identity.serial !== site.chassis.serial) {
        return [wrongDevice(site.chassis.serial, identity.serial, link.tried)];
      }
      return [];
  }
}

function wrongDevice(expected: string, found: string | undefined, tried: Tried): Refusal {
  return {
    code: 'CHASSIS_WRONG_DEVICE',
    reason: `The chassis at ${formatTried(tried)} is ${found ?? 'another one'}, the site file names ${expected}.`,
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
          'Turn the robot by hand through two full circles without a pause: that decides the unit in most cases.',
      ),
    ];
  }
  return [
    refuse(
      `angles.tracked-pose-ori (BELEGT: degrees) is contradicted by this chassis: ${poseUnit.reason}${seen}. ` +
        'Nothing moves until gw is started anew.',
    ),
  ];
}

/** One thing at a time, whoever ordered it: what a second order does to the first is not documented. */
function judgeUnownedMove({ unownedMove, isMoveAwaited }: GateInput): Refusal[] {
  if (unownedMove === null && isMoveAwaited) {
    return [refuse('The chassis has not reported yet, over this connection, whether a move is under way.')];
  }
  return unownedMove === null ? [] : [refuse(unownedMoveText(unownedMove))];
}

/** Vendor values (HINWEIS) may only add refusals here, never take one away; so not heard is not judged. */
function judgeRobot(kind: Order['kind'], { snapshot: { values } }: GateInput): Refusal[] {
  const refusals: Refusal[] = [];
  const { pose, wheels, positioning, planning } = values;
  if (wheels.status === 'heard' && wheels.value.emergencyStopPressed) {
    refusals.push(refuse('The emergency stop of the robot is pressed.'));
  }
  if (kind === 'pose') {
    // Setting the pose is what mends a lost position, so neither is asked for; but never under a driving robot.
    if (planning.status === 'heard' && planning.value.moveState === 'moving') {
      refusals.push(refuse('The robot is driving; its pose is set only while it stands.'));
    }
    return refusals;
  }
  if (positioning.status === 'heard' && !positioning.value.reliable) {
    refusals.push(
      refuse(`The robot has lost its position (localisation '${positioning.value.state}' is not reliable).`),
    );
  }
  if (pose.status === 'not-heard') {
    refusals.push(refuse('The position is unknown: the chassis has not told its pose yet.'));
  } else if (pose.stale || !(pose.ageMs <= POSE_MAX_AGE_MS)) {
    refusals.push(refuse(`The position is unknown: the last pose is ${Math.round(pose.ageMs)} ms old.`));
  }
  return refusals;
}

/** What speaks against an order of this kind by the facts that it relies on alone. */
export function judgeFacts(kind: Order['kind'], input: GateInput): Refusal[] {
  return judgeStandings(factsOfOrder[kind], input, ({ usable }) => usable);
}

/** A refusal for each of these facts that does not pass. */
export function judgeStandings(
  ids: readonly ReliableFactId[],
  { snapshot: { identity }, records, evidenceTrouble, site: { motion } }: GateInput,
  passes: (standing: Standing, id: ReliableFactId) => boolean,
): Refusal[] {
  const device = {
    serial: identity?.serial ?? null,
    software: identity?.software ?? null,
    simulated: identity !== null && isSimulated(identity),
    records,
  };
  const refusals = ids
    .map((id) => ({ id, found: standing(id, device, motion) }))
    .filter(({ id, found }) => !passes(found, id))
    .map(({ found }) => refuse(found.why));
  // A file that cannot be read may hold that a fact was contradicted, so not even BELEGT carries then.
  return evidenceTrouble === null ? refusals : [refuse(evidenceTrouble), ...refusals];
}

/** The compiler has refused all of this already; a cast or a JSON body may have got past it. */
function judgeValues(order: Order, { snapshot: { identity }, site: { motion } }: GateInput): Refusal[] {
  const carried: unknown = order.kind === 'pose' ? order.pose : order.goal;
  if (!isRecord(carried) || !isRecord(carried.value)) return [refuse('The order carries no goal.')];
  const refusals: Refusal[] = [];
  const { mark, value } = carried;
  switch (mark) {
    case 'BELEGT': {
      const carrying: readonly unknown[] = motion.requireVerified ? ['here'] : actionableBases;
      if (!carrying.includes(carried.basis)) {
        refusals.push(refuse(`The goal is BELEGT and ${show(carried.basis)}, which must not lead to a movement here.`));
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
      refusals.push(refuse(`The goal has the mark ${show(mark)}; such a value must not lead to a movement.`));
  }
  for (const name of ['xM', 'yM'] as const) {
    const metres = value[name];
    if (typeof metres !== 'number' || !(Math.abs(metres) <= COORDINATE_LIMIT_M)) {
      refusals.push(refuse(`${name} must be a number of metres within ±${COORDINATE_LIMIT_M}, found ${show(metres)}.`));
    }
  }
  const yawNeeded = order.kind !== 'move';
  if (yawNeeded || value.yawDeg !== undefined) {
    if (typeof value.yawDeg !== 'number' || !Number.isFinite(value.yawDeg)) {
      refusals.push(refuse(`yawDeg must be a number of degrees, found ${show(value.yawDeg)}.`));
    }
  }
  return refusals;
}

/** For a refusal's text: never throws, whatever came. */
function show(input: unknown): string {
  return typeof input === 'object' || typeof input === 'function' ? typeof input : String(input).slice(0, 100);
}
