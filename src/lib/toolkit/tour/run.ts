import { z } from 'zod';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { arrivalOf, endFindings, endOf, notCompared, outcomeSchema } from '../motion/end-pose.ts';
import { type FollowOptions, followedRunSchema, type RunKind, startAndFollow } from '../motion/followed-run.ts';
import { shownName } from '../motion/shown-name.ts';
import { isSeenToStand, MAY_DRIVE_ON, standstillFinding } from '../motion/standstill.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { TourRun } from './run.result.ts';

export interface TourRunOptions extends Partial<FollowOptions> {
  /** A tour of the site file. */
  readonly tour: string;
  /** Time limit without pauses; after that the result is 'running' or 'paused', and the tour continues. */
  readonly withinMs: number;
}

const runSchema = followedRunSchema.extend({
  tour: z.string(),
  stations: z.array(z.string()),
  at: z.int(),
  outcomes: z.array(outcomeSchema).default([]),
});
type Run = z.output<typeof runSchema>;

/**
 * Starts a tour on the running gateway and follows it to its end; the gateway compares the pose of the standing robot
 * with each station. THE ROBOT MOVES: the caller has the confirmation of a person. An interruption ends the tour unless
 * `leaveRunning`.
 * Throws OPERATOR_NOT_REACHABLE, why the gateway refused the start, and INTERRUPTED where the robot may still be moving.
 */
export async function runTour(toolkit: Toolkit, options: TourRunOptions, context: CheckContext): Promise<TourRun> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const kind: RunKind<typeof runSchema> = {
    path: '/api/touren/lauf',
    schema: runSchema,
    what: `tour '${shownName(site, 'tours', options.tour)}'`,
    progress: ({ tour, stations, at, state }) =>
      `Tour ${shownName(site, 'tours', tour)}${state === 'paused' ? ', paused' : ''}: to station ${shownName(site, 'stations', stations[at] ?? '?')}, ${at + 1} of ${stations.length}`,
  };
  const follow = { ...options, leaveRunning: options.leaveRunning ?? false };
  const { run, isInterrupted, operator } = await startAndFollow(toolkit, kind, { tour: options.tour }, follow, context);
  const { outcomes, stations } = run;
  const last = stations[outcomes.length - 1] ?? '';
  const arrival = outcomes.at(-1)?.arrival ?? null;
  const arrivals = outcomes.flatMap((outcome, at) => arrivalOf(stations[at] ?? '?', outcome.arrival) ?? []);
  const place = Object.hasOwn(site.stations, last) ? site.stations[last] : undefined;
  const isLeftOut = run.state === 'succeeded' && !isReached(run);
  const compared =
    arrival === null || isLeftOut
      ? notCompared(isLeftOut ? 'the gateway did not compare every station' : 'the robot did not arrive')
      : endFindings(last, arrival, place && { name: last, ...place });
  // The interruption that ended the tour must not end the look at its effect.
  const signal = isInterrupted ? new AbortController().signal : context.signal;
  const stood = await standstillFinding(run, operator, clock, signal);
  return {
    tour: run.tour,
    stations: run.stations,
    state: run.state,
    interrupted: isInterrupted,
    mayBeMoving: mayBeMoving(run),
    although: run.although,
    reason: run.reason,
    at: run.stations[run.at] ?? null,
    arrivals,
    end: endOf(last, arrival),
    findings: [endedFinding(run, options, { isInterrupted, isStanding: isSeenToStand(stood) }), ...stood, ...compared],
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

/** Whether the gateway found the robot at every station. */
function isReached({ stations, outcomes }: Run): boolean {
  return outcomes.length === stations.length && outcomes.every(({ arrival }) => arrival?.verdict === 'at-goal');
}

function mayBeMoving({ outcomes }: Run): boolean {
  return outcomes.at(-1)?.state === 'unknown';
}

function endedFinding(
  run: Run,
  { withinMs }: TourRunOptions,
  { isInterrupted, isStanding }: { readonly isInterrupted: boolean; readonly isStanding: boolean },
): Finding {
  const base = { id: 'ended', title: 'Tour completed', spec: null };
  if (isInterrupted && run.state === 'stopped') {
    const detail = `interrupted, and cancelled on the way to ${run.stations[run.at] ?? '?'}`;
    return notChecked(base, detail);
  }
  switch (run.state) {
    case 'succeeded':
      return ok(base, isReached(run) ? `${run.stations.length} stations reached` : 'the chassis reports success');
    case 'running':
      return wrong(
        base,
        `not completed within ${Math.round(withinMs / 1000)} s; the robot is still driving`,
        'Watch the robot; stop it with `gw motion stop` or the stop button on the tablet.',
      );
    case 'paused':
      return wrong(base, `not completed within ${Math.round(withinMs / 1000)} s; a person has paused it`, MAY_DRIVE_ON);
    case 'failed':
    case 'stopped':
      return wrong(
        base,
        `${run.state} at station ${run.stations[run.at] ?? '?'}: ${run.reason ?? 'no reason given'}`,
        isStanding && !isInterrupted && !mayBeMoving(run)
          ? 'Resolve the reason, then start the tour again.'
          : MAY_DRIVE_ON,
      );
  }
}
