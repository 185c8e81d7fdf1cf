import { z } from 'zod';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { compareEnd, endFindings } from '../motion/end-pose.ts';
import {
  type FollowOptions,
  followedRunSchema,
  MAY_DRIVE_ON,
  type RunKind,
  startAndFollow,
} from '../motion/followed-run.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { TourRun } from './run.result.ts';

export interface TourRunOptions extends Partial<FollowOptions> {
  /** A tour of the site file. */
  readonly tour: string;
  /** How long it may take; after that the result is 'running', and the robot drives on. */
  readonly withinMs: number;
}

const runSchema = followedRunSchema.extend({ tour: z.string(), stations: z.array(z.string()), at: z.int() });
type Run = z.output<typeof runSchema>;

/**
 * Starts a tour on the running gateway, follows it to its end, and compares where the chassis then says it stands
 * with the station as a person named it. A wrong angle unit anywhere between site file, order and report shows in
 * that comparison. THE ROBOT MOVES: the caller has asked a person. An interruption ends the tour unless `leaveRunning`.
 * Throws OPERATOR_NOT_REACHABLE, why the gateway refused the start, and INTERRUPTED where the robot may drive on.
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
  return {
    tour: run.tour,
    stations: run.stations,
    state: run.state,
    interrupted: isInterrupted,
    reason: run.reason,
    at: run.stations[run.at] ?? null,
    end,
    findings: [endedFinding(run, options, isInterrupted), ...endFindings(end, run.state === 'succeeded')],
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

function endedFinding(run: Run, { withinMs }: TourRunOptions, isInterrupted: boolean): Finding {
  const base = { id: 'ended', title: 'The tour came to its end', spec: null };
  if (isInterrupted && run.state === 'stopped') {
    const detail = `interrupted, and ended on the way to ${run.stations[run.at] ?? '?'}`;
    return notChecked(base, detail);
  }
  switch (run.state) {
    case 'succeeded':
      return ok(base, `${run.stations.length} stations were driven to`);
    case 'running':
      return wrong(
        base,
        `it had not ended after ${Math.round(withinMs / 1000)} s; the robot drives on`,
        'Watch the robot; stop it with `gw motion stop` or the stop button of the operator surface.',
      );
    case 'failed':
    case 'stopped':
      return wrong(
        base,
        `${run.state} at station ${run.stations[run.at] ?? '?'}: ${run.reason ?? 'no reason was given'}`,
        isInterrupted ? MAY_DRIVE_ON : 'Mend what the reason names, then start the tour again.',
      );
  }
}
