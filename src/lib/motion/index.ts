/** The single path to movement: the gate, move and pose orders, tours, the stop latch. */
export { poseTolerance } from './arrival.ts';
export { cancelAtChassis } from './cancel-at-chassis.ts';
export { factsOfOrder, type ReliableFactId } from './gate.ts';
export { frameNow, outOfFrame } from './map-frame.ts';
export type * from './model.ts';
export { createMotion } from './motion.ts';
export type { OrderLimits } from './orders.ts';
export { isOpenRun } from './run/tour-run.ts';
export { chosenPose } from './set-pose.ts';
export { factsDecidedBy } from './trial/gate.ts';
export type * from './trial/model.ts';
export { createTrialStore } from './trial/store.ts';
export { trialAnswerSchema, trialViewSchema } from './trial/view.ts';
export { type TrialKind, trialKinds, trialOfFact } from './verify-remedy.ts';
export {
  driveRunSchema,
  motionStatusSchema,
  moveOutcomeSchema,
  standstillSchema,
  stopLatchSchema,
  tourRunSchema,
} from './view.ts';
