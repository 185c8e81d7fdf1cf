import { z } from 'zod';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { arrivalOf, endFindings, endOf, type NamedPlace, notCompared, outcomeSchema } from './end-pose.ts';
import { type FollowOptions, followedRunSchema, type RunKind, startAndFollow } from './followed-run.ts';
import type { MotionGo } from './motion.result.ts';
import { shownName } from './shown-name.ts';
import { isSeenToStand, MAY_DRIVE_ON, standstillFinding } from './standstill.ts';

export interface MotionGoOptions extends FollowOptions {
  /** A station of the site file; null: the dock. */
  readonly station: string | null;
}

const runSchema = followedRunSchema.extend({
  state: followedRunSchema.shape.state.exclude(['paused']),
  outcome: outcomeSchema.extend({ moveId: z.int().nullable(), failReason: z.int().nullable() }).nullable(),
});
type Run = z.output<typeof runSchema>;

/**
 * One drive to a station or to the dock through the running gateway, followed to its end: the gateway compares the pose
 * of the standing robot with the place. THE ROBOT MOVES: the caller has the confirmation of a person. An interruption ends the drive unless `leaveRunning`. Throws OPERATOR_NOT_REACHABLE, why the gateway refused the order
 * (STATION_UNKNOWN, MOTION_REFUSED, …), and INTERRUPTED where the robot may still be moving.
 */
export async function driveTo(toolkit: Toolkit, options: MotionGoOptions, context: CheckContext): Promise<MotionGo> {
  const { clock } = toolkit;
  const { station } = options;
  const beganMs = clock.monotonicMs();
  const to = station ?? 'the dock';
  const shown = station === null ? to : shownName(toolkit.site, 'stations', station);
  const kind: RunKind<typeof runSchema> = {
    path: '/api/fahrt',
    schema: runSchema,
    what: `drive to ${shown}`,
    progress: () => `Driving to ${shown}`,
  };
  const body = station === null ? { dock: true } : { station };
  const { run, isInterrupted, operator } = await startAndFollow(toolkit, kind, body, options, context);
  const arrival = run.outcome?.arrival ?? null;
  const compared =
    arrival === null
      ? notCompared(run.state === 'succeeded' ? 'not reported by the gateway' : 'the robot did not arrive')
      : endFindings(to, arrival, placeOf(toolkit, station));
  // The interruption that ended the drive must not end the look at its effect.
  const signal = isInterrupted ? new AbortController().signal : context.signal;
  const stood = await standstillFinding(run, operator, clock, signal);
  return {
    to: station,
    state: run.state,
    interrupted: isInterrupted,
    mayBeMoving: run.outcome?.state === 'unknown',
    moveId: run.outcome?.moveId ?? null,
    although: run.although,
    reason: run.reason,
    failReason: run.outcome?.failReason ?? null,
    arrival: arrivalOf(to, arrival),
    end: endOf(to, arrival),
    findings: [endedFinding(run, options, { isInterrupted, isStanding: isSeenToStand(stood) }), ...stood, ...compared],
    tookMs: Math.round(clock.monotonicMs() - beganMs),
  };
}

/** The place in the site file of this command; the gateway has its own file. */
function placeOf({ site }: Toolkit, station: string | null): NamedPlace | undefined {
  if (station === null) return site.dock && { name: 'the dock', ...site.dock };
  const place = Object.hasOwn(site.stations, station) ? site.stations[station] : undefined;
  return place && { name: station, ...place };
}

function endedFinding(
  { state, reason, outcome }: Run,
  { withinMs }: MotionGoOptions,
  { isInterrupted, isStanding }: { readonly isInterrupted: boolean; readonly isStanding: boolean },
): Finding {
  const arrival = outcome?.arrival ?? null;
  const base = { id: 'ended', title: 'Drive completed', spec: null };
  if (isInterrupted && state === 'stopped') return notChecked(base, 'interrupted, and cancelled on the way');
  switch (state) {
    case 'succeeded':
      return ok(base, arrival === null ? 'the chassis reports success' : arrival.reason);
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
        isStanding && outcome?.state !== 'unknown' ? 'Resolve the reason, then try again.' : MAY_DRIVE_ON,
      );
  }
}
