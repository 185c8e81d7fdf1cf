import { z } from 'zod';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { compareEnd, endFindings } from '../motion/end-pose.ts';
import { type FollowOptions, followedRunSchema, type RunKind, startAndFollow } from '../motion/followed-run.ts';
import { MAY_DRIVE_ON, standstillFinding } from '../motion/standstill.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { TourRun } from './run.result.ts';

export interface TourRunOptions extends Partial<FollowOptions> {
  /** A tour of the site file. */
  readonly tour: string;
  /** Time limit; after that the result is 'running', and the tour continues. */
  readonly withinMs: number;
}

const runSchema = followedRunSchema.extend({ tour: z.string(), stations: z.array(z.string()), at: z.int() });
type Run = z.output<typeof runSchema>;

/**
 * Starts a tour on the running gateway, follows it to its end, and compares the reported pose with the last station.
 * The comparison detects a wrong angle unit in site file, order or report. THE ROBOT MOVES: the caller has the
 * confirmation of a person. An interruption ends the tour unless `leaveRunning`.
 * Throws OPERATOR_NOT_REACHABLE, why the gateway refused the start, and INTERRUPTED where the robot may still be moving.
 */
export async function runTour(toolkit: Toolkit, options: TourRunOptions, context: CheckContext): Promise<TourRun> {
  const { clock, site } = toolkit;
  const began = clock.monotonicMs();
  const kind: RunKind<typeof runSchema> = {
    path: '/api/touren/lauf',
    schema: runSchema,
    what: `tour '${options.tour}'`,
    progress: ({ tour, stations, at }) =>
      `Tour ${tour}: to station ${stations[at] ?? '?'}, ${at + 1} of ${stations.length}`,
  };
  const follow = { ...options, leaveRunning: options.leaveRunning ?? false };
  const { run, isInterrupted, operator } = await startAndFollow(toolkit, kind, { tour: options.tour }, follow, context);
  const last = run.stations.at(-1) ?? '';
  const place = Object.hasOwn(site.stations, last) ? site.stations[last] : undefined;
  const isCompared = run.state === 'succeeded' && !isInterrupted && place !== undefined;
  const end = isCompared ? await compareEnd(operator, { name: last, ...place }, toolkit, context) : null;
  // The interruption that ended the tour must not end the look at its effect.
  const signal = isInterrupted ? new AbortController().signal : context.signal;
  const stood = await standstillFinding(run, operator, clock, signal);
  return {
    tour: run.tour,
    stations: run.stations,
    state: run.state,
    interrupted: isInterrupted,
    reason: run.reason,
    at: run.stations[run.at] ?? null,
    end,
    findings: [endedFinding(run, options, isInterrupted), ...stood, ...endFindings(end, run.state === 'succeeded')],
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

function endedFinding(run: Run, { withinMs }: TourRunOptions, isInterrupted: boolean): Finding {
  const base = { id: 'ended', title: 'Tour completed', spec: null };
  if (isInterrupted && run.state === 'stopped') {
    const detail = `interrupted, and cancelled on the way to ${run.stations[run.at] ?? '?'}`;
    return notChecked(base, detail);
  }
  switch (run.state) {
    case 'succeeded':
      return ok(base, `${run.stations.length} stations reached`);
    case 'running':
      return wrong(
        base,
        `not completed within ${Math.round(withinMs / 1000)} s; the robot is still driving`,
        'Watch the robot; stop it with `gw motion stop` or the stop button on the tablet.',
      );
    case 'failed':
    case 'stopped':
      return wrong(
        base,
        `${run.state} at station ${run.stations[run.at] ?? '?'}: ${run.reason ?? 'no reason given'}`,
        isInterrupted ? MAY_DRIVE_ON : 'Resolve the reason, then start the tour again.',
      );
  }
}
