import { effectOf, isSimulated, obstaclesIn, shownUnit } from '../../chassis/index.ts';
import { obstacleText } from '../fitness.ts';
import {
  type FactJudge,
  factsOfOrder,
  type GateInput,
  judgeOrder,
  judgePoseAlarm,
  judgeReliances,
  type Refusal,
  type ReliableFactId,
  refuse,
} from '../gate.ts';
import type { Order } from '../model.ts';
import type { TrialKind } from '../verify-remedy.ts';
import type { TrialConditions } from './model.ts';

/** An order that verifies facts it relies on, with the confirmations of a person on site. */
export interface TrialOrder {
  readonly kind: 'trial';
  readonly of: TrialKind;
  /** The order sent to the chassis: a stop trial drives too. */
  readonly order: Order;
  readonly conditions: TrialConditions;
}

/**
 * Facts that a trial may rely on before they are verified on this device. The stop trial comes first: every other trial
 * that drives needs a verified cancel. The dock trial needs everything that a move needs.
 */
const factsOnTrial = {
  stop: factsOfOrder.move,
  move: ['angles.tracked-pose-ori', 'angles.target-ori', 'vendor.move.request', 'vendor.move.state'],
  pose: ['angles.pose-ori', 'vendor.pose.request'],
  dock: ['vendor.move.charge-target'],
} as const satisfies Record<TrialKind, readonly ReliableFactId[]>;

/** Facts that a trial decides. */
export const factsDecidedBy = {
  stop: ['vendor.move.cancel'],
  move: factsOnTrial.move,
  pose: factsOnTrial.pose,
  dock: factsOnTrial.dock,
} as const satisfies Record<TrialKind, readonly ReliableFactId[]>;

/** Kind of the order sent in a trial of this kind. */
export const orderKindOf = { stop: 'move', move: 'move', pose: 'pose', dock: 'dock' } as const satisfies Record<
  TrialKind,
  Order['kind']
>;

/** Project decision: far enough to measure a course, near enough to walk along with a hand on the emergency stop. */
export const MAX_WAY_M = 1;
/** `stop`: on request, for a fast robot whose poses arrive once a second. Project decision. */
export const MAX_STOP_WAY_M = 2;
/** Scatter of the position while the robot stands. */
const WAY_SLACK_M = 0.03;
/** Project decision: from nearer, docking is no evidence. */
const MIN_DOCK_WAY_M = 0.3;

/** All refusals of this trial; an empty list lets it pass. */
export function judgeTrial(trial: TrialOrder, input: GateInput): readonly Refusal[] {
  return [
    ...judgeConditions(trial.conditions, input),
    ...judgeOrder(trial.order, input, trialFacts(trial.of)),
    ...judgeRobot(trial.of, input),
    ...judgeWay(trial, input),
    // The pose trial restores the reported pose.
    ...(trial.of === 'pose' ? [...judgeProvenUnit(input), ...judgePoseAlarm(input)] : []),
  ];
}

/** The original pose is restored from the reported one: in another unit the robot would be left with a wrong heading. */
function judgeProvenUnit(input: GateInput): Refusal[] {
  if (shownUnit(input.snapshot.poseUnit) === 'degrees') return [];
  const why = 'Degrees in /tracked_pose are not shown over this connection, and the trial restores the reported pose.';
  return [refuse(`${why} Run \`gw evidence verify move\` first, or turn the robot by hand.`)];
}

/** By facts alone: an unverified HINWEIS passes where this trial verifies it. */
export function trialFacts(of: TrialKind): FactJudge {
  const onTrial: readonly ReliableFactId[] = factsOnTrial[of];
  return (kind, input) =>
    judgeReliances(
      factsOfOrder[kind],
      input,
      ({ usable, lacksVerification }, id) => usable || (lacksVerification && onTrial.includes(id)),
    );
}

const conditionTexts = {
  robotWillMove: 'that the robot may move',
  spaceFree: 'that the space around the robot is free',
  emergencyStopInHand: 'that a hand is on the emergency stop',
} as const;

function judgeConditions(conditions: TrialConditions, { snapshot: { identity } }: GateInput): Refusal[] {
  if (conditions.unattended === true) {
    if (identity !== null && isSimulated(identity)) return [];
    return [
      refuse('A trial without a person beside the robot is allowed only for a chassis that reports to be simulated.'),
    ];
  }
  const missing = Object.entries(conditionTexts)
    .filter(([name]) => conditions[name as keyof typeof conditionTexts] !== true)
    .map(([, text]) => text);
  return missing.length === 0 ? [] : [refuse(`A person on site must confirm ${missing.join(', ')}.`)];
}

/** Additional conditions of a trial. Vendor values only add refusals, so a value not received is not judged. */
function judgeRobot(of: TrialKind, { snapshot: { identity, values } }: GateInput): Refusal[] {
  const refusals: Refusal[] = [];
  const { pose, planning } = values;
  if (identity !== null && identity.software === null) {
    refusals.push(
      refuse('The chassis does not report its software version, and a record counts for one version only.'),
    );
  }
  if (planning.status === 'received' && planning.value.moveState === 'moving' && of !== 'pose') {
    refusals.push(refuse('The robot is driving; a trial starts only while it stands still.'));
  }
  // A pose order repairs a lost position; a pose trial restores the original pose, so what a drive needs must hold.
  if (of === 'pose') {
    for (const obstacle of obstaclesIn(values)) {
      const { refuses } = effectOf(obstacle);
      if (refuses.includes('drive') && !refuses.includes('pose')) refusals.push(refuse(obstacleText(obstacle)));
    }
    if (pose.status === 'not-received' || pose.stale) {
      refusals.push(refuse('The position is unknown, so it could not be restored afterwards.'));
    }
  }
  return refusals;
}

function judgeWay({ of, order }: TrialOrder, { snapshot: { values } }: GateInput): Refusal[] {
  const { pose } = values;
  if (order.kind === 'pose' || pose.status === 'not-received') return [];
  const { xM, yM } = order.goal.value;
  const wayM = Math.hypot(xM - pose.value.xM, yM - pose.value.yM);
  const maxM = of === 'stop' ? MAX_STOP_WAY_M : MAX_WAY_M;
  if (!(wayM <= maxM + WAY_SLACK_M)) {
    const where = of === 'dock' ? 'The dock' : 'The goal';
    const then = of === 'dock' ? ' Move the robot in front of it first.' : '';
    return [refuse(`${where} is ${wayM.toFixed(2)} m away; a trial of ${of} drives at most ${maxM} m.${then}`)];
  }
  if (of === 'dock' && wayM < MIN_DOCK_WAY_M) {
    const need = `a trial needs at least ${MIN_DOCK_WAY_M} m`;
    return [refuse(`The robot stands ${wayM.toFixed(2)} m from the dock; ${need}. Move it away first.`)];
  }
  return [];
}
