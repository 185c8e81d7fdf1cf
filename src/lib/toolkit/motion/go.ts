import { z } from 'zod';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { compareEnd, endFindings, type NamedPlace } from './end-pose.ts';
import { type FollowOptions, followedRunSchema, type RunKind, startAndFollow } from './followed-run.ts';
import type { MotionGo } from './motion.result.ts';
import { MAY_DRIVE_ON, standstillFinding } from './standstill.ts';

export interface MotionGoOptions extends FollowOptions {
  /** A station of the site file; null: the dock. */
  readonly station: string | null;
}

const runSchema = followedRunSchema.extend({
  outcome: z
    .looseObject({ state: z.string().optional(), moveId: z.int().nullable(), failReason: z.int().nullable() })
    .nullable(),
});
type Run = z.output<typeof runSchema>;

/**
 * One drive to a station or to the dock through the running gateway, followed to its end; then the pose that the
 * chassis reports is compared with the place in the site file. THE ROBOT MOVES: the caller has the confirmation of a person. An
 * interruption ends the drive unless `leaveRunning`. Throws OPERATOR_NOT_REACHABLE, why the gateway refused the order
 * (STATION_UNKNOWN, MOTION_REFUSED, …), and INTERRUPTED where the robot may still be moving.
 */
export async function driveTo(toolkit: Toolkit, options: MotionGoOptions, context: CheckContext): Promise<MotionGo> {
  const { clock } = toolkit;
  const { station } = options;
  const beganMs = clock.monotonicMs();
  const to = station ?? 'the dock';
  const kind: RunKind<typeof runSchema> = {
    path: '/api/fahrt',
    schema: runSchema,
    what: `drive to ${to}`,
    progress: () => `Driving to ${to}`,
  };
  const body = station === null ? { dock: true } : { station };
  const { run, isInterrupted, operator } = await startAndFollow(toolkit, kind, body, options, context);
  const place = placeOf(toolkit, station);
  const isCompared = run.state === 'succeeded' && !isInterrupted && place !== undefined;
  const end = isCompared ? await compareEnd(operator, place, toolkit, context) : null;
  // The interruption that ended the drive must not end the look at its effect.
  const signal = isInterrupted ? new AbortController().signal : context.signal;
  const stood = await standstillFinding(run, operator, clock, signal);
  return {
    to: station,
    state: run.state,
    interrupted: isInterrupted,
    moveId: run.outcome?.moveId ?? null,
    reason: run.reason,
    failReason: run.outcome?.failReason ?? null,
    end,
    findings: [endedFinding(run, options, isInterrupted), ...stood, ...endFindings(end, run.state === 'succeeded')],
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

/** The place in the site file of this command; the gateway has its own file, and the comparison detects differences. */
function placeOf({ site }: Toolkit, station: string | null): NamedPlace | undefined {
  if (station === null) return site.dock && { name: 'the dock', ...site.dock };
  const place = Object.hasOwn(site.stations, station) ? site.stations[station] : undefined;
  return place && { name: station, ...place };
}

function endedFinding({ state, reason, outcome }: Run, { withinMs }: MotionGoOptions, isInterrupted: boolean): Finding {
  const base = { id: 'ended', title: 'Drive completed', spec: null };
  if (isInterrupted && state === 'stopped') return notChecked(base, 'interrupted, and cancelled on the way');
  switch (state) {
    case 'succeeded':
      return ok(base, 'the chassis reports success');
    case 'running':
      return wrong(
        base,
        `not completed within ${Math.round(withinMs / 1000)} s; the robot is still driving`,
        'Watch the robot; stop it with `gw motion stop`.',
      );
    case 'failed':
    case 'stopped':
      return wrong(
        base,
        `${state}: ${reason ?? 'no reason given'}`,
        outcome?.state === 'unknown' ? MAY_DRIVE_ON : 'Resolve the reason, then try again.',
      );
  }
}
