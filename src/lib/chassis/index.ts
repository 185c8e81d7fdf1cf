/**
 * The chassis: REST client, topic stream, and the live state from both. The calls that move the robot are in
 * moves.ts, which only the motion module may import.
 */
export { contentOf, createChassisClient } from './client.ts';
export { moveProgress } from './closing.ts';
export {
  type ConditionId,
  CRITICAL_BATTERY_PERCENT,
  conditionIds,
  type JudgedCondition,
  judgeCondition,
  LOW_BATTERY_PERCENT,
  missingReason,
  type NotChecked,
} from './condition.ts';
export { connectionFailureOf, failureDetail, isBeforeConnection, isTooLarge } from './failure.ts';
export { createChassisLink } from './link/link.ts';
export { createLiveValues } from './live-values.ts';
export type * from './model.ts';
export { effectOf, type Obstacle, obstaclesIn } from './obstacles.ts';
export type { PoseSample, PoseUnit } from './pose-sample.ts';
export { knownTopics } from './schema.ts';
export { isSimulated } from './simulated.ts';
export { judgeAfterStop } from './standing/after-stop.ts';
export { judgeStanding, type Standing } from './standing/standing.ts';
export { createTrack } from './standing/track.ts';
export type { TopicMessage } from './topics/message.ts';
export { openTopicStream, type TopicStream, type TopicStreamOptions } from './topics/stream.ts';
export { headingOnCourse } from './unit/course.ts';
export { createUnitJudge, shownUnit } from './unit/judge.ts';
export {
  connectionFailureSchema,
  identitySchema,
  linkStateSchema,
  mapListItemSchema,
  poseUnitSchema,
  standingSchema,
  triedSchema,
  valueSchemas,
} from './view.ts';
