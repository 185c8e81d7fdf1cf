import { z } from 'zod';
import { degrees, turnBetween } from '../angle/index.ts';
import { GwError } from '../error/index.ts';
import type { Finding } from './finding.result.ts';
import { type OperatorAccess, operatorAccess } from './operator-access.ts';
import type { CheckContext, Toolkit } from './toolkit.ts';
import type { TourRun } from './tour-run.result.ts';

export interface TourRunOptions {
  /** A tour of the site file. */
  readonly tour: string;
  /** How long it may take; after that the result is 'running', and the robot drives on. */
  readonly withinMs: number;
  /** Where the operator server is; by default on this machine. */
  readonly host?: string;
}

/** How near the reported pose must be to the station. Decision of ours. */
const NEAR_M = 0.3;
const NEAR_DEG = 5;
const POLL_MS = 100;
/** So long is waited for a pose that came after the end; a chassis may also stay silent while it stands still. */
const POSE_WITHIN_MS = 2_000;

const runSchema = z.looseObject({
  run: z
    .looseObject({
      id: z.string(),
      tour: z.string(),
      stations: z.array(z.string()),
      state: z.enum(['running', 'succeeded', 'failed', 'stopped']),
      at: z.int(),
      reason: z.string().nullable(),
    })
    .nullable(),
});
type Run = NonNullable<z.output<typeof runSchema>['run']>;

const stateSchema = z.looseObject({
  values: z.looseObject({
    pose: z.discriminatedUnion('status', [
      z.looseObject({ status: z.literal('not-heard') }),
      z.looseObject({
        status: z.literal('heard'),
        ageMs: z.number(),
        stale: z.boolean(),
        value: z.looseObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() }),
      }),
    ]),
  }),
});

/**
 * Starts a tour on the running gateway, follows it to its end, and compares where the chassis then says it stands
 * with the station as a person named it. A wrong angle unit anywhere between site file, order and report shows in
 * that comparison. THE ROBOT MOVES: the caller has asked a person. Throws OPERATOR_NOT_REACHABLE and why the
 * gateway refused the start.
 */
export async function runTour(toolkit: Toolkit, options: TourRunOptions, context: CheckContext): Promise<TourRun> {
  const { clock } = toolkit;
  const began = clock.monotonicMs();
  const operator = operatorAccess(toolkit, context, options.host);
  const started = (await operator.ask('POST', '/api/touren/lauf', runSchema, { tour: options.tour })).run;
  if (started === null) {
    throw new GwError('OPERATOR_NOT_REACHABLE', 'The operator server started the tour without saying so.');
  }
  const run = await follow(operator, started, toolkit, options.withinMs, context);
  const end = run.state === 'succeeded' ? await compareEnd(operator, run, toolkit, context) : null;
  return {
    tour: run.tour,
    stations: run.stations,
    state: run.state,
    reason: run.reason,
    at: run.stations[run.at] ?? null,
    end,
    findings: [endedFinding(run, options), ...endFindings(end)],
    tookMs: Math.round(clock.monotonicMs() - began),
  };
}

async function follow(
  operator: OperatorAccess,
  started: Run,
  { clock }: Toolkit,
  withinMs: number,
  { signal, onProgress }: CheckContext,
): Promise<Run> {
  const began = clock.monotonicMs();
  let run = started;
  try {
    while (run.state === 'running' && clock.monotonicMs() - began < withinMs) {
      onProgress(
        `Tour ${run.tour}: to station ${run.stations[run.at] ?? '?'}, ${run.at + 1} of ${run.stations.length}`,
      );
      await clock.sleep(POLL_MS, signal);
      const { run: now } = await operator.ask('GET', '/api/touren/lauf', runSchema);
      if (now?.id !== started.id) {
        return { ...run, state: 'stopped', reason: 'The gateway does not know this run any more.' };
      }
      run = now;
    }
    return run;
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new GwError('INTERRUPTED', `Interrupted; the robot drives on with tour '${started.tour}'.`, {
      remedy: 'Stop it with the stop button of the operator surface if it should not.',
      cause: error,
    });
  }
}

async function compareEnd(
  operator: OperatorAccess,
  run: Run,
  { clock, site }: Toolkit,
  { signal }: CheckContext,
): Promise<TourRun['end']> {
  const station = run.stations.at(-1) ?? '';
  const expected = Object.hasOwn(site.stations, station) ? site.stations[station] : undefined;
  if (expected === undefined) return null;
  const began = clock.monotonicMs();
  for (;;) {
    const { pose } = (await operator.ask('GET', '/api/chassis/state', stateSchema)).values;
    const waitedMs = clock.monotonicMs() - began;
    const isLate = waitedMs >= POSE_WITHIN_MS;
    if (pose.status === 'heard' && !pose.stale && (pose.ageMs < waitedMs || isLate)) {
      const { xM, yM, yawDeg } = pose.value;
      const turn = expected.yawDeg === undefined ? null : turnBetween(degrees(expected.yawDeg), degrees(yawDeg));
      return {
        station,
        expected: { xM: expected.xM, yM: expected.yM, yawDeg: expected.yawDeg ?? null },
        reported: { xM, yM, yawDeg },
        distanceM: Math.hypot(xM - expected.xM, yM - expected.yM),
        turnDeg: turn === null ? null : Math.abs(turn),
      };
    }
    if (isLate) return null;
    await clock.sleep(POLL_MS, signal);
  }
}

function endedFinding(run: Run, { withinMs }: TourRunOptions): Finding {
  const base = { id: 'ended', title: 'The tour came to its end', spec: null };
  switch (run.state) {
    case 'succeeded':
      return { ...base, verdict: 'ok', detail: `${run.stations.length} stations were driven to`, remedy: null };
    case 'running':
      return {
        ...base,
        verdict: 'wrong',
        detail: `it had not ended after ${Math.round(withinMs / 1000)} s; the robot drives on`,
        remedy: 'Watch the robot; stop it with the stop button of the operator surface.',
      };
    case 'failed':
    case 'stopped':
      return {
        ...base,
        verdict: 'wrong',
        detail: `${run.state} at station ${run.stations[run.at] ?? '?'}: ${run.reason ?? 'no reason was given'}`,
        remedy: 'Mend what the reason names, then start the tour again.',
      };
  }
}

function endFindings(end: TourRun['end']): Finding[] {
  const place = { id: 'place', title: 'The chassis stands at the last station', spec: 'Map and overlays' };
  const heading = { id: 'heading', title: 'It looks where the station looks', spec: 'Angles (critical rule)' };
  if (end === null) {
    const detail = 'there was no fresh pose at the end of the tour to compare with';
    return [place, heading].map((base) => ({ ...base, verdict: 'not-checked', detail, remedy: null }));
  }
  const { station, distanceM, turnDeg, expected, reported } = end;
  return [
    {
      ...place,
      verdict: distanceM <= NEAR_M ? 'ok' : 'wrong',
      detail: `${distanceM.toFixed(2)} m from ${station} (up to ${NEAR_M} m)`,
      remedy: distanceM <= NEAR_M ? null : 'Compare the station in the site file with where the robot stands.',
    },
    turnDeg === null
      ? { ...heading, verdict: 'not-checked', detail: `station ${station} has no heading`, remedy: null }
      : {
          ...heading,
          verdict: turnDeg <= NEAR_DEG ? 'ok' : 'wrong',
          detail: `${reported.yawDeg.toFixed(1)}° reported, ${expected.yawDeg?.toFixed(1)}° named: ${turnDeg.toFixed(1)}° off (up to ${NEAR_DEG}°)`,
          remedy: turnDeg <= NEAR_DEG ? null : 'Do not drive on: an angle unit may be wrong. Run `gw chassis probe`.',
        },
  ];
}
