import { isSimulated } from '../../chassis/index.ts';
import {
  type FactJudge,
  factsOfOrder,
  type GateInput,
  judgeOrder,
  judgeStandings,
  type Refusal,
  type ReliableFactId,
  refuse,
} from '../gate.ts';
import type { Order } from '../model.ts';
import type { TrialConditions, TrialKind } from './model.ts';

/** An order that verifies what it relies on, with what a person on site has said. */
export interface TrialOrder {
  readonly kind: 'trial';
  readonly of: TrialKind;
  /** What the chassis is told: a trial of the stop drives too. */
  readonly order: Order;
  readonly conditions: TrialConditions;
}

/**
 * Facts that a trial may rely on before they were verified here. The first trial is that of the stop: every other one
 * that drives needs a cancel that was seen to end a move. That of docking needs everything that a move needs.
 */
const factsOnTrial = {
  stop: factsOfOrder.move,
  move: ['angles.tracked-pose-ori', 'angles.target-ori', 'vendor.move.request', 'vendor.move.state'],
  pose: ['angles.pose-ori', 'vendor.pose.request'],
  dock: ['vendor.move.charge-target'],
} as const satisfies Record<TrialKind, readonly ReliableFactId[]>;

/** Facts about which a trial says something. */
export const factsDecidedBy = {
  stop: ['vendor.move.cancel'],
  move: factsOnTrial.move,
  pose: factsOnTrial.pose,
  dock: factsOnTrial.dock,
} as const satisfies Record<TrialKind, readonly ReliableFactId[]>;

/** What the chassis is told in a trial of this kind. */
export const orderKindOf = { stop: 'move', move: 'move', pose: 'pose', dock: 'dock' } as const satisfies Record<
  TrialKind,
  Order['kind']
>;

/** Project decision: far enough to measure a course, near enough for a hand on the emergency stop. */
export const MAX_WAY_M = 1;
/** What the position scatters by while the robot stands. */
const WAY_SLACK_M = 0.03;
/** Project decision: nearer, docking shows nothing. */
const MIN_DOCK_WAY_M = 0.3;

/** Everything that speaks against this trial; an empty list lets it pass. */
export function judgeTrial(trial: TrialOrder, input: GateInput): readonly Refusal[] {
  return [
    ...judgeConditions(trial.conditions, input),
    ...judgeOrder(trial.order, input, trialFacts(trial.of)),
    ...judgeRobot(trial.of, input),
    ...judgeWay(trial, input),
    ...(trial.of === 'pose' ? judgeProvenUnit(input) : []),
  ];
}

/** The pose of before is set again by what the chassis reports: in another unit the robot would be left turned. */
function judgeProvenUnit(input: GateInput): Refusal[] {
  if (input.snapshot.poseUnit.verdict === 'degrees') return [];
  const isVerified =
    judgeStandings(['angles.tracked-pose-ori'], input, ({ verifiedHere }) => verifiedHere).length === 0;
  if (isVerified) return [];
  const why = 'That /tracked_pose carries degrees was not verified on this chassis, and its pose has to be set again.';
  return [refuse(`${why} Run \`gw evidence verify move\` first.`)];
}

/** By facts alone: a HINWEIS that nobody verified here passes where this trial is about it. */
export function trialFacts(of: TrialKind): FactJudge {
  const onTrial: readonly ReliableFactId[] = factsOnTrial[of];
  return (kind, input) =>
    judgeStandings(
      factsOfOrder[kind],
      input,
      ({ usable, lacksVerification }, id) => usable || (lacksVerification && onTrial.includes(id)),
    );
}

const conditionTexts = {
  robotWillMove: 'that the robot may move',
  spaceFree: 'that the space around it is free',
  emergencyStopInHand: 'that a hand is on the emergency stop',
} as const;

function judgeConditions(conditions: TrialConditions, { snapshot: { identity } }: GateInput): Refusal[] {
  if (conditions.unattended === true) {
    if (identity !== null && isSimulated(identity)) return [];
    return [refuse('A trial without a person beside the robot is for a chassis that says of itself it is simulated.')];
  }
  const missing = Object.entries(conditionTexts)
    .filter(([name]) => conditions[name as keyof typeof conditionTexts] !== true)
    .map(([, text]) => text);
  return missing.length === 0 ? [] : [refuse(`A person on site has to confirm ${missing.join(', ')}.`)];
}

/** Beyond what every order asks. Vendor values only add refusals, so what was not received is not judged. */
function judgeRobot(of: TrialKind, { snapshot: { identity, values } }: GateInput): Refusal[] {
  const refusals: Refusal[] = [];
  const { pose, planning, wheels, positioning } = values;
  if (identity !== null && identity.software === null) {
    refusals.push(refuse('The chassis does not name its software version, and a record counts for one version only.'));
  }
  if (planning.status === 'heard' && planning.value.moveState === 'moving' && of !== 'pose') {
    refusals.push(refuse('The robot is driving; a trial begins while it stands.'));
  }
  if (wheels.status === 'heard' && wheels.value.controlMode !== 'auto') {
    refusals.push(
      refuse(`The robot is in control mode '${wheels.value.controlMode}', so it does not drive by itself.`),
    );
  }
  if (wheels.status === 'heard' && wheels.value.wheelsReleased === true) {
    refusals.push(refuse('The wheels are released: somebody could push the robot, and that would verify nothing.'));
  }
  // A plain pose order mends a lost position; a trial of it sets the pose of before again, so it must be known.
  if (of === 'pose') {
    if (positioning.status === 'heard' && !positioning.value.reliable) {
      refusals.push(refuse(`The robot has lost its position (localisation '${positioning.value.state}').`));
    }
    if (pose.status === 'not-heard' || pose.stale) {
      refusals.push(refuse('The position is unknown, so it could not be set again afterwards.'));
    }
  }
  return refusals;
}

function judgeWay({ of, order }: TrialOrder, { snapshot: { values } }: GateInput): Refusal[] {
  const { pose } = values;
  if (order.kind === 'pose' || pose.status === 'not-heard') return [];
  const { xM, yM } = order.goal.value;
  const wayM = Math.hypot(xM - pose.value.xM, yM - pose.value.yM);
  if (!(wayM <= MAX_WAY_M + WAY_SLACK_M)) {
    const where = of === 'dock' ? 'The dock' : 'The goal';
    const then = of === 'dock' ? ' Bring the robot in front of it first.' : '';
    return [refuse(`${where} is ${wayM.toFixed(2)} m away; a trial drives at most ${MAX_WAY_M} m.${then}`)];
  }
  if (of === 'dock' && wayM < MIN_DOCK_WAY_M) {
    const need = `a trial needs at least ${MIN_DOCK_WAY_M} m of way`;
    return [refuse(`The robot stands ${wayM.toFixed(2)} m from the dock; ${need}. Drive it off first.`)];
  }
  return [];
}
