/** What the published contract of the routes is generated from. A running gateway uses none of it. */

import { type ErrorCode, errorTable } from '../error/index.ts';
import {
  countdownBody,
  daysQuery,
  enqueueBody,
  proceedBody,
  queuedBody,
  releaseBody,
  shownBody,
} from './delivery/delivery-handlers.ts';
import { checkBody, mapQuery, trialBody, trialKeepAliveBody } from './handlers.ts';
import { type RefusalCode, refusalTable, statusOfError } from './http/refusal.ts';
import { logLevelBody } from './log-level.ts';
import {
  driveBody,
  endBody,
  keepAliveBody,
  poseBody,
  resumeBody,
  seenBody,
  stopBody,
  tourBody,
} from './motion/motion-handlers.ts';
import { signInBody } from './sign-in/session-handlers.ts';
import { sessionsQuery } from './support-handlers.ts';
import { pageQuery } from './view/asked.ts';

export const requestSchemas = {
  pageQuery,
  sessionsQuery,
  daysQuery,
  mapQuery,
  signIn: signInBody,
  stop: stopBody,
  tour: tourBody,
  drive: driveBody,
  resume: resumeBody,
  end: endBody,
  keepAlive: keepAliveBody,
  seen: seenBody,
  proceed: proceedBody,
  enqueue: enqueueBody,
  queued: queuedBody,
  countdown: countdownBody,
  shown: shownBody,
  release: releaseBody,
  pose: poseBody,
  trial: trialBody,
  trialKeepAlive: trialKeepAliveBody,
  pathCheck: checkBody,
  logLevel: logLevelBody,
} as const;

/** A code of the operator server itself, or of an error of gw that it answers with. */
export type AnsweredCode = RefusalCode | ErrorCode;

/** Status and meaning of a code, as the server sends it. */
export function describeCode(code: AnsweredCode): { readonly status: number; readonly meaning: string } {
  const own: Readonly<Partial<Record<AnsweredCode, readonly [number, string, string]>>> = refusalTable;
  const row = own[code];
  if (row !== undefined) return { status: row[0], meaning: row[1] };
  return { status: statusOfError[code as ErrorCode] ?? 500, meaning: errorTable[code as ErrorCode].title };
}
