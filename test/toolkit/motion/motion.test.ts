import { mkdirSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { driveOutcome } from '../../../src/cli/drive-command.ts';
import {
  renderMotionClear,
  renderMotionGo,
  renderMotionPose,
  renderMotionStop,
  renderTourRun,
} from '../../../src/cli/render/motion.ts';
import { GwError } from '../../../src/lib/error/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { clearStop } from '../../../src/lib/toolkit/motion/clear.ts';
import { driveTo } from '../../../src/lib/toolkit/motion/go.ts';
import {
  motionClearSchema,
  motionGoSchema,
  motionPoseSchema,
  motionStopSchema,
} from '../../../src/lib/toolkit/motion/motion.result.ts';
import { setPose } from '../../../src/lib/toolkit/motion/pose.ts';
import { openStopPlace, stopTheRobot } from '../../../src/lib/toolkit/motion/stop.ts';
import type { StopPlace } from '../../../src/lib/toolkit/motion/stop-ways.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { tourRunSchema } from '../../../src/lib/toolkit/tour/run.result.ts';
import { runTour } from '../../../src/lib/toolkit/tour/run.ts';
import { httpServer, ownFolder } from '../kit.ts';
import { context, type FakeOperator, startFakeOperator } from '../operator/fake-operator.ts';

let fake: FakeOperator;
let toolkit: Toolkit;
let stateDir: string;
beforeEach(async () => {
  fake = await startFakeOperator();
  stateDir = ownFolder();
  const stations = { A: { xM: 3, yM: 4, yawDeg: 90 }, plain: { xM: 3, yM: 4 } };
  const maps = { lobby: { uid: 'u1', version: 2 } };
  const site = {
    ...fake.toolkit.site,
    chassis: { serial: 'SN0001' },
    tours: {},
    maps,
    stations,
    dock: { xM: 1, yM: 1, yawDeg: -90 },
    stateDir,
  } as unknown as Site;
  toolkit = { ...fake.toolkit, site };
});
afterEach(async () => {
  await fake[Symbol.asyncDispose]();
});

interface Run {
  id: string;
  state: string;
  reason: string | null;
  outcome: object | null;
  stations: readonly string[];
  at: number;
  outcomes: readonly object[];
}

/** A gateway with a run: `now` returns its state, by the number of queries. */
function drives(now: (queries: number) => Partial<Run> | null): { readonly ended: string[] } {
  const ended: string[] = [];
  let queries = 0;
  fake.override = ({ method, url }, body) => {
    if (url !== '/api/fahrt' && url !== '/api/touren/lauf') return undefined;
    if (method === 'DELETE') ended.push(body);
    else if (method === 'GET') queries += 1;
    const state = now(queries);
    const more = url === '/api/fahrt' ? { outcome: null } : { tour: 'demo', stations: ['A'], at: 0 };
    const run = state && { id: 'run-1', state: 'running', reason: null, ...more, ...state };
    return [method === 'POST' ? 202 : 200, { run }];
  };
  return { ended };
}

/** Answers one request in place of the gateway. */
const answerOn = (route: string, answer: (request: IncomingMessage, body: string) => readonly [number, object]) => {
  const before = fake.override;
  fake.override = (request, body) =>
    `${request.method} ${request.url}` === route ? answer(request, body) : before(request, body);
};

interface Seen {
  readonly verdict: string;
  readonly reason: string;
  readonly [key: string]: unknown;
}

/** The judgement of a gateway about a robot at A. */
const atA: Seen = {
  verdict: 'at-goal',
  reason: 'the robot stands 0.01 m from the goal',
  goal: { xM: 3, yM: 4, yawDeg: 90 },
  pose: { xM: 3.01, yM: 4, yawDeg: -269 },
  ...{ distanceM: 0.01, turnDeg: 1, isAtPlace: true, isAtHeading: true },
};
const besideA: Seen = {
  ...atA,
  verdict: 'elsewhere',
  reason: 'the robot stands 0.50 m from the goal (up to 0.3 m)',
  pose: { xM: 3.5, yM: 4, yawDeg: 90 },
  ...{ distanceM: 0.5, turnDeg: 0, isAtPlace: false },
};
const inRadians: Seen = {
  ...atA,
  verdict: 'elsewhere',
  reason: 'the robot stands 88.4° off its heading (up to 5°)',
  pose: { xM: 3, yM: 4, yawDeg: Math.PI / 2 },
  ...{ distanceM: 0, turnDeg: 88.4, isAtHeading: false },
};
const undecided = (verdict: string, reason: string): Seen => ({
  ...{ verdict, reason, goal: atA.goal, pose: null },
  ...{ distanceM: null, turnDeg: null, isAtPlace: null, isAtHeading: null },
});
const moving = undecided('moves', 'the robot still moves: it moves at 0.10 m/s');
const unknown = undecided('not-known', 'no pose was received since the end of the move');

const arrives = (arrival: Seen | undefined = atA, state = 'succeeded', reason: string | null = null) =>
  drives((queries) =>
    queries < 2 ? {} : { state, reason, outcome: { moveId: 7, failReason: null, ...(arrival && { arrival }) } },
  );
const follow = { withinMs: 60_000, leaveRunning: false };
const go = (more: object = {}, about: Partial<ReturnType<typeof context>> = {}) =>
  driveTo(toolkit, { station: 'A', ...follow, ...more }, { ...context(), ...about });
const first = (text: string) => text.split('\n')[0];

describe('gw motion go', () => {
  it('is green when the gateway found the standing robot at the place and in the heading of the station', async () => {
    arrives();
    const data = await go();
    expect(motionGoSchema.parse(data)).toEqual(data);
    expect(data.findings.map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'ok']);
    expect(first(renderMotionGo(data))).toBe('The robot stands at A, according to its reported pose.');
  });

  it.each([
    ['stands at another place', besideA, 'failed', 'wrong', /reports A reached, but the robot stands 0\.50 m from/],
    ['has a heading in radians', inRadians, 'failed', 'wrong', /reports A reached, but the robot stands 88\.4° off/],
    ['still moves', moving, 'failed', 'not-checked', /reports A reached, but the robot still moves/],
    ['reports no pose', unknown, 'failed', 'not-checked', /reports A reached, but no pose was received/],
  ])('is not green where the robot %s', async (_what, arrival, state, verdict, words) => {
    arrives(arrival, state, 'The chassis reports success');
    const data = await go();
    expect(motionGoSchema.parse(data)).toEqual(data);
    expect(first(renderMotionGo(data))).toMatch(words);
    expect(data.findings.slice(1).some((found) => found.verdict === verdict)).toBe(true);
    expect(driveOutcome(data)).toMatchObject({ ok: false, exitCode: 1 });
  });

  it('is not green when the gateway does not compare', async () => {
    drives((queries) => (queries < 2 ? {} : { state: 'succeeded', outcome: { moveId: 7, failReason: null } }));
    const data = await go();
    expect(first(renderMotionGo(data))).toBe('The chassis reports A reached; the final pose was not compared.');
    expect(data.findings.map(({ verdict }) => verdict)).toEqual(['ok', 'not-checked', 'not-checked']);
    // It may stand elsewhere.
    expect(driveOutcome(data)).toMatchObject({ ok: false, exitCode: 1 });
  });

  it('is not green when the gateway has another place for the station than the site file of the command', async () => {
    arrives({ ...atA, goal: { xM: 3.2, yM: 4, yawDeg: 90 } });
    const data = await go();
    expect(data.findings[1]).toMatchObject({
      verdict: 'wrong',
      detail: expect.stringContaining('another place for A'),
    });
    expect(first(renderMotionGo(data))).toContain('does not match');
  });

  it('reports the comparison with the dock', async () => {
    arrives({ ...atA, goal: { xM: 1, yM: 1, yawDeg: -90 } });
    expect(await go({ station: null })).toMatchObject({ to: null, end: { station: 'the dock', turnDeg: 1 } });
  });

  it('reports that the robot is still driving at its time limit', async () => {
    drives(() => ({}));
    const data = await go({ withinMs: 500 });
    expect(data.state).toBe('running');
    expect(first(renderMotionGo(data))).toContain('is not completed: the robot is still driving');
  });

  it('passes on the reason of a failure, with the number unchanged', async () => {
    drives(() => ({ state: 'failed', reason: 'gave up', outcome: { moveId: 7, failReason: 4711 } }));
    const data = await go();
    expect(data).toMatchObject({ state: 'failed', reason: 'gave up', failReason: 4711, moveId: 7 });
    expect(first(renderMotionGo(data))).toBe('The drive to A failed; the robot stands.');
  });

  it('reports that the robot may still be moving where the gateway does not know how its move ended', async () => {
    drives(() => ({ state: 'failed', reason: 'x', outcome: { state: 'unknown', moveId: 7, failReason: null } }));
    const data = await go();
    expect(motionGoSchema.parse(data)).toMatchObject({ state: 'failed', mayBeMoving: true });
    expect(first(renderMotionGo(data))).toBe(
      'The drive to A failed, its end is not confirmed: the robot stands now, and MAY DRIVE ON.',
    );
    expect(renderMotionGo(data)).toContain('emergency stop');
  });

  it('carries the alerts that the person passes, and names them under the headline', async () => {
    arrives();
    const bodies: unknown[] = [];
    const working = fake.override;
    fake.override = (request, body) => {
      if (request.method === 'POST' && request.url === '/api/fahrt') bodies.push(JSON.parse(body).although);
      const answer = working(request, body);
      return answer && (request.url === '/api/fahrt' ? withAlthough(answer) : answer);
    };
    const withAlthough = ([status, body]: readonly [number, object]): readonly [number, object] => {
      const { run } = body as { run: object | null };
      return [status, { run: run && { ...run, although: [8004] } }];
    };
    const data = await go({ although: [8004] });
    expect(bodies).toEqual([[8004]]);
    expect(data.although).toEqual([8004]);
    expect(renderMotionGo(data).split('\n')[1]).toBe('Ordered although the robot may report alert 8004.');
  });

  it('does not mistake the run of another client for its own', async () => {
    drives((queries) => (queries < 2 ? {} : { id: 'run-2', state: 'succeeded' }));
    expect(await go()).toMatchObject({ state: 'failed', reason: expect.stringContaining('no longer knows this run') });
  });

  it('tolerates a lost answer, and reports that the robot may be moving when none is received any more', async () => {
    arrives();
    const working = fake.override;
    fake.override = (request, body) => {
      const answer = working(request, body);
      const isLost = request.method === 'GET' && fake.requests.filter((line) => line === 'GET /api/fahrt').length === 1;
      return isLost ? [500, { nonsense: true }] : answer;
    };
    expect((await go()).state).toBe('succeeded');
    fake.override = ({ method }) =>
      method === 'POST' ? [202, { run: { id: 'run-1', state: 'running', reason: null, outcome: null } }] : [500, {}];
    await expect(go()).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
      message: expect.stringContaining('The state of the drive to A is unknown'),
      remedy: expect.stringContaining('emergency stop'),
    });
  });

  it('reports that the run may have been started only where the order was sent and not answered', async () => {
    arrives();
    answerOn('POST /api/fahrt', () => [500, { nonsense: true }]);
    await expect(go()).rejects.toMatchObject({
      message: expect.stringMatching(/Whether the drive to A was started is unknown\. THE ROBOT MAY STILL BE MOVING/),
    });
    await fake[Symbol.asyncDispose]();
    const refused = await go().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
      message: expect.stringMatching(/^Not started, no order was sent: not connected/),
      details: { ordered: false },
    });
    expect((refused as Error).message).not.toMatch(/unknown|MOVING/);
  });

  it.each([
    [409, 'MOTION_REFUSED', 'vendor.move.request is from a vendor description (HINWEIS) and was not verified.'],
    [423, 'MOTION_STOPPED', 'A stop is latched.'],
    [503, 'CHASSIS_NOT_CONNECTED', 'not connected'],
  ])('begins with the answer where the gate refused it with %i %s', async (status, code, message) => {
    fake.override = ({ method }) =>
      method === 'POST' ? [status, { error: { code, message, remedy: 'R.' } }] : undefined;
    await expect(go()).rejects.toMatchObject({
      code,
      message: `Not started, no order was sent: ${message}`,
      remedy: 'R.',
    });
  });
});

describe('an interruption', () => {
  /** A run that Ctrl-C interrupts at its first query; `then` once it was ended so often. */
  function interruptedRun(then: Partial<Run>, running: Partial<Run> = {}, after = 1) {
    const ending = new AbortController();
    const { ended } = drives(() => {
      ending.abort(new GwError('INTERRUPTED', 'Interrupted.'));
      return ended.length < after ? running : then;
    });
    return { ended, about: { signal: ending.signal } };
  }
  const endedByX = { state: 'stopped', reason: 'ended by x' };

  it('ends this run only, waits for its end, and reports it', async () => {
    const ending = new AbortController();
    const { ended } = drives((queries) => {
      if (queries === 2) ending.abort(new GwError('INTERRUPTED', 'Interrupted.'));
      return ended.length === 0 || queries < 6 ? {} : endedByX;
    });
    const data = await go({}, { signal: ending.signal });
    expect(ended).toEqual(['{"id":"run-1"}']);
    expect(data).toMatchObject({ state: 'stopped', interrupted: true });
    expect(data.findings.map(({ verdict }) => verdict)).toEqual(['not-checked', 'ok', 'not-checked', 'not-checked']);
    expect(driveOutcome(data)).toMatchObject({ ok: false, exitCode: 130 });
    expect(first(renderMotionGo(data))).toBe('Interrupted: the drive to A was ended; the robot stands.');
  });

  it.each([
    ['drives-on', 'wrong', /^Interrupted: .*, but THE ROBOT IS STILL MOVING: press its emergency stop\./],
    ['not-known', 'not-checked', /^Interrupted: .*, but THE ROBOT MAY STILL BE MOVING: it was not seen/],
  ])('is no standstill where the poses say: %s', async (verdict, found, words) => {
    const { about } = interruptedRun(endedByX);
    fake.standstill = () => ({ verdict, reason: 'its poses show it' });
    const data = await go({}, about);
    expect(data.findings.find(({ id }) => id === 'standstill')).toMatchObject({
      verdict: found,
      remedy: expect.stringMatching(/emergency stop/),
    });
    expect(first(renderMotionGo(data))).toMatch(words);
  });

  it.each([
    ['stands', /Resolve the reason, then try again/],
    ['drives-on', /^Check the robot\. Press its emergency stop/],
    ['moves', /^Check the robot\. Press its emergency stop/],
  ])('advises to try again only beside a robot that was seen to stand: %s', async (verdict, remedy) => {
    drives(() => ({ state: 'stopped', reason: 'stopped by the tablet' }));
    fake.standstill = () => ({ verdict, reason: 'its poses show it' });
    const ended = (await go()).findings.find(({ id }) => id === 'ended');
    expect(ended).toMatchObject({ verdict: 'wrong', remedy: expect.stringMatching(remedy) });
  });

  it('never reports a run as ended when its end was not confirmed', async () => {
    const outcome = { moveId: 7, failReason: null };
    const { about } = interruptedRun({ state: 'failed', reason: 'not confirmed', outcome });
    const data = await go({}, about);
    expect(data).toMatchObject({ state: 'failed', interrupted: true });
    expect(first(renderMotionGo(data))).toBe(
      'Interrupted, and the end of the drive to A is not confirmed: the robot stands now, and MAY DRIVE ON.',
    );
    expect(renderMotionGo(data)).not.toContain('was ended');
  });

  it('retries until it is answered', async () => {
    let refused = 0;
    const { ended, about } = interruptedRun({ state: 'stopped' }, {}, 3);
    const working = fake.override;
    fake.override = (request, body) => {
      const answer = working(request, body);
      if (request.method !== 'DELETE' || refused === 2) return answer;
      refused += 1;
      return [503, {}];
    };
    expect(await go({}, about)).toMatchObject({ state: 'stopped' });
    expect(ended).toHaveLength(3);
  });

  it('that ends no run reports that the robot may still be moving', async () => {
    const { about } = interruptedRun({});
    await expect(go({}, about)).rejects.toMatchObject({
      code: 'INTERRUPTED',
      message: expect.stringContaining('THE ROBOT MAY STILL BE MOVING'),
      remedy: expect.stringContaining('emergency stop'),
    });
  });

  it('ends no run with leaveRunning', async () => {
    const { ended, about } = interruptedRun({});
    await expect(go({ leaveRunning: true }, about)).rejects.toMatchObject({
      code: 'INTERRUPTED',
      message: expect.stringContaining('continues because of --leave-running'),
    });
    expect(ended).toEqual([]);
  });

  it('before the order was sent prevents it', async () => {
    drives(() => ({}));
    const signal = AbortSignal.abort(new GwError('INTERRUPTED', 'Interrupted.'));
    await expect(go({}, { signal })).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect(fake.requests).toEqual([]);
  });

  it('ends a paused tour, which has not ended by itself', async () => {
    const { ended, about } = interruptedRun(endedByX, { state: 'paused' });
    const data = await runTour(toolkit, { tour: 'demo', withinMs: 60_000 }, { ...context(), ...about });
    expect([data.state, ended.length]).toEqual(['stopped', 1]);
  });

  it('ends a tour in the same way', async () => {
    const { about } = interruptedRun(endedByX);
    const data = await runTour(toolkit, { tour: 'demo', withinMs: 60_000 }, { ...context(), ...about });
    expect(data).toMatchObject({ state: 'stopped', interrupted: true });
    expect(first(renderTourRun(data))).toBe('Interrupted: tour demo was ended; the robot stands.');
  });
});

describe('gw tour run', () => {
  it('counts its time without the pauses of a person', async () => {
    const reached = { state: 'succeeded', outcomes: [{ state: 'succeeded', arrival: atA }] };
    drives((queries) => (queries === 0 ? {} : queries < 12 ? { state: 'paused' } : reached));
    const data = await runTour(toolkit, { tour: 'demo', withinMs: 600 }, context());
    expect(data.state).toBe('succeeded');
    expect(data.tookMs).toBeGreaterThan(600);
    expect(first(renderTourRun({ ...data, state: 'paused' }))).toBe(
      'Tour demo is not completed: a person has paused it.',
    );
  });

  const tour = (state: string, arrivals: readonly (Seen | null)[]) => {
    const outcomes = arrivals.map((arrival) => ({
      state: arrival?.verdict === 'at-goal' ? 'succeeded' : 'failed',
      arrival,
    }));
    drives(() => ({ state, reason: state === 'succeeded' ? null : 'why', stations: ['A', 'plain'], at: 1, outcomes }));
    return runTour(toolkit, { tour: 'demo', withinMs: 60_000 }, context());
  };
  const atPlain: Seen = { ...atA, goal: { xM: 3, yM: 4, yawDeg: null }, turnDeg: null, isAtHeading: null };

  it('is green when the gateway found the standing robot at every station', async () => {
    const data = await tour('succeeded', [atA, atPlain]);
    expect(tourRunSchema.parse(data)).toEqual(data);
    expect(data.findings.map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'not-applicable']);
    expect(driveOutcome(data).ok).toBe(true);
    expect(data.arrivals.map(({ station, verdict }) => [station, verdict])).toEqual([
      ['A', 'at-goal'],
      ['plain', 'at-goal'],
    ]);
    expect(first(renderTourRun(data))).toBe('Tour demo succeeded, and the reported final pose matches.');
  });

  it.each([
    ['was not compared with an intermediate station', [null, atPlain]],
    ['was not compared with the last station', [atA]],
    ['was not at an intermediate station', [besideA, atPlain]],
    ['was compared with no station', []],
  ])('is not green when the robot %s', async (_what, arrivals) => {
    const data = await tour('succeeded', arrivals);
    expect(first(renderTourRun(data))).toBe('Tour demo ended; the final pose was not compared.');
  });

  it('names the station that was missed, and the distance', async () => {
    const data = await tour('failed', [besideA]);
    expect(first(renderTourRun(data))).toBe(
      'Tour demo failed: the chassis reports A reached, but the robot stands 0.50 m from the goal (up to 0.3 m).',
    );
    expect(data).toMatchObject({ end: { station: 'A', distanceM: 0.5 }, arrivals: [{ verdict: 'elsewhere' }] });
    expect(data.findings.map(({ verdict }) => verdict)).toEqual(['wrong', 'ok', 'wrong', 'ok']);
  });

  it('advises to check a robot that is not known to stand', async () => {
    const outcomes = [{ state: 'unknown', arrival: moving }];
    drives(() => ({ state: 'failed', reason: 'still moves', outcomes }));
    const data = await runTour(toolkit, { tour: 'demo', withinMs: 60_000 }, context());
    expect(first(renderTourRun(data))).toContain('reports A reached, but the robot still moves');
    expect(data.findings[0]?.remedy).toContain('emergency stop');
  });

  it('signs in where required, and names both ways without a session', async () => {
    drives(() => ({ state: 'succeeded' }));
    const working = fake.override;
    fake.override = (request, body) => {
      const isStart = request.method === 'POST' && request.url === '/api/touren/lauf';
      const isSignedIn = fake.sessions.has(request.headers.cookie ?? '');
      return isStart && !isSignedIn
        ? [401, { error: { code: 'NOT_SIGNED_IN', message: 'no' } }]
        : working(request, body);
    };
    const start = (password?: string) => runTour(toolkit, { tour: 'demo', withinMs: 60_000, password }, context());
    await expect(start()).rejects.toMatchObject({
      code: 'NOT_SIGNED_IN',
      remedy: expect.stringMatching(/--password-file.*on the gateway as the user/),
    });
    expect(await start(fake.password)).toMatchObject({ state: 'succeeded' });
    expect(fake.sessions.size).toBe(0);
  });
});

describe('gw motion stop', () => {
  const place = (over: Partial<StopPlace> = {}): StopPlace => ({
    dialer: toolkit.dialer,
    clock: toolkit.clock,
    host: '127.0.0.1',
    port: toolkit.site.operator.port,
    stateDir,
    chassis: null,
    ...over,
  });
  const options = { reason: 'drill', timeoutMs: 5_000 };
  const stop = (over: Partial<StopPlace> = {}) => stopTheRobot(place(over), options, context());
  const answers = (answer: object) => {
    fake.override = ({ url }: IncomingMessage) =>
      url === '/api/stopp' ? [200, { stop: answer, standstill: fake.standstill() }] : undefined;
  };

  it('reports STOPPED when the stop is latched, saved, and the chassis reports no move', async () => {
    answers({ latched: true, saved: true, by: 'me', reason: 'drill', since: '2026-01-01T00:00:00.000Z' });
    const data = await stop();
    expect(motionStopSchema.parse(data)).toEqual(data);
    expect(first(renderMotionStop(data))).toBe(
      'STOPPED: latched and saved. The robot stands, and the chassis reports no running move.',
    );
    expect(fake.requests[0]).toBe('POST /api/stopp');
  });

  it('is no STOPPED of a robot that drove on after this stop, also when it stands now', async () => {
    answers({
      latched: true,
      saved: true,
      by: 'me',
      reason: 'drill',
      since: null,
      disobeyed: 'it went 0.40 m further',
    });
    const data = await stop();
    expect(motionStopSchema.parse(data)).toMatchObject({ standstill: 'stands', disobeyed: 'it went 0.40 m further' });
    expect(first(renderMotionStop(data))).toBe(
      'STOP LATCHED, BUT THE ROBOT DROVE ON AFTER IT: latched and saved. It stands now. Take it out of service until a stop has been verified to stop it.',
    );
  });

  it.each([
    ['it is not saved', { latched: true, saved: false }, /^STOPPED: latched, NOT saved/],
    ['the disk has not saved it', { latched: true, saved: 'pending' }, /^STOPPED: latched, NOT saved yet/],
    ['the disk fails', { latched: true, saved: false, unsavedBecause: 'ENOSPC' }, /^STOPPED: .*disk {4}ENOSPC/s],
    ['no saved state is told', { latched: true }, /^STOPPED: latched; the gateway does not report whether it is saved/],
    ['the rest is invalid', { latched: true, saved: 'yes', by: 7, since: {} }, /^STOPPED: latched; .* does not report/],
  ])('counts, and reports when %s', async (_what, answer, words) => {
    answers(answer);
    const data = await stop();
    expect(data).toMatchObject({ delivered: true, move: 'ended' });
    expect(renderMotionStop(data)).toMatch(words);
  });

  it.each([
    ['moving', 'under-way', /^STOP LATCHED, BUT THE ROBOT IS STILL MOVING/],
    ['oscillating', 'not-known', /^STOP LATCHED, BUT THE MOVE STATE IS UNKNOWN/],
  ])('is not green while the chassis reports %s', async (word, move, words) => {
    fake.moveState = () => word;
    const data = await stop();
    expect(data.move).toBe(move);
    expect(first(renderMotionStop(data))).toMatch(words);
  });

  it.each([
    ['drives-on', /^STOP LATCHED, BUT THE ROBOT DOES NOT STOP: .* Press the emergency stop of the robot now/],
    ['moves', /^STOP LATCHED, BUT THE ROBOT IS STILL MOVING: .* Press the emergency stop of the robot now/],
    ['not-known', /^STOP LATCHED, BUT THE ROBOT WAS NOT SEEN TO STAND: .* press the emergency stop .* if it moves/],
  ])('is not green while the chassis reports no move and the poses of the robot say: %s', async (verdict, words) => {
    fake.standstill = () => ({ verdict, reason: 'its poses show it' });
    answers({ latched: true, saved: true });
    const data = await stop();
    expect(data).toMatchObject({ move: 'ended', standstill: verdict, standstillDetail: 'its poses show it' });
    expect(first(renderMotionStop(data))).toMatch(words);
  });

  it('waits until the robot is seen to stand, and is not green with a gateway that does not report it', async () => {
    const seen = ['moves', 'not-known', 'stands'];
    fake.standstill = () => ({ verdict: (seen.length > 1 ? seen.shift() : seen[0]) ?? '', reason: 'r' });
    expect(await stop()).toMatchObject({ standstill: 'stands' });
    fake.standstill = () => null;
    expect(await stop()).toMatchObject({ standstill: 'not-known', standstillDetail: 'the gateway does not report it' });
  });

  it('is not green when the robot continued to its goal', async () => {
    const words = ['moving', 'moving', 'succeeded'];
    fake.moveState = () => (words.length > 1 ? (words.shift() ?? '') : (words[0] ?? ''));
    const data = await stop();
    expect(data).toMatchObject({ delivered: true, move: 'drove-on' });
    expect(first(renderMotionStop(data))).toMatch(/^STOP LATCHED, BUT THE ROBOT COMPLETED ITS MOVE/);
  });

  it('is not green where the gateway is that of another robot, or names none', async () => {
    answerOn('POST /api/stopp', () => [200, { stop: { latched: true, saved: true }, robot: 'SN2' }]);
    const other = await stop({ robot: 'SN1' });
    expect(other).toMatchObject({ delivered: true, robot: 'SN2', meantRobot: 'SN1' });
    expect(first(renderMotionStop(other))).toMatch(
      /^NOT STOPPED: ROBOT SN1 .*SN2.*Press the emergency stop of SN1 now/,
    );
    answers({ latched: true, saved: true });
    expect(first(renderMotionStop(await stop({ robot: 'SN1' })))).toMatch(
      /^STOP LATCHED, BUT THE GATEWAY DOES NOT NAME ITS ROBOT/,
    );
  });

  it('is saved when the write completed while the robot came to rest', async () => {
    let queries = 0;
    fake.override = ({ url }) => {
      if (url !== '/api/stopp') return undefined;
      queries += 1;
      return [200, { stop: { latched: true, saved: queries === 1 ? 'pending' : true } }];
    };
    expect(await stop()).toMatchObject({ delivered: true, saved: true });
  });

  it('is not green when it was cleared meanwhile', async () => {
    answerOn('GET /api/stopp', () => [200, { stop: { latched: false } }]);
    expect(await stop()).toMatchObject({
      delivered: true,
      move: 'not-known',
      moveDetail: expect.stringMatching(/cleared/),
    });
  });

  it('is not green when the chassis reports nothing, or only reported before its connection was lost', async () => {
    for (const planning of [
      { status: 'not-received' },
      { status: 'received', ageMs: 9, stale: true, value: { moveState: 'idle' } },
    ]) {
      fake.override = ({ url }) =>
        url === '/api/chassis/state' ? [200, { values: { pose: { status: 'not-received' }, planning } }] : undefined;
      expect(await stop()).toMatchObject({ delivered: true, move: 'not-known' });
    }
  });

  it('is not delivered by an answer without latched', async () => {
    for (const answer of [{ latched: false }, {}, 'latched']) {
      answers(answer as object);
      const data = await stop();
      expect(data).toMatchObject({ delivered: false, saved: null, move: 'not-known' });
      expect(first(renderMotionStop(data))).toMatch(/^NOT STOPPED: .*Press the emergency stop of the robot now/);
    }
  });

  it('retries while the gateway refuses connections or restarts', async () => {
    let refusals = 3;
    fake.override = ({ method, url }) => {
      if (method !== 'POST' || url !== '/api/stopp' || refusals === 0) return undefined;
      refusals -= 1;
      return [503, { error: { code: 'BUSY', message: 'full' } }];
    };
    expect(await stop()).toMatchObject({ delivered: true });
  });

  it.each([
    ['refuses', 10_000],
    ['refuses', 40_000],
    ['hangs', 10_000],
  ])(
    'is latched by a gateway that %s for %d ms and is back, and says each second that it is not yet',
    async (how, awayMs) => {
      const beganMs = fake.nowMs();
      const isAway = () => fake.nowMs() - beganMs < awayMs;
      await using hanging = await httpServer((request, response) => {
        if (!isAway()) response.end(JSON.stringify({ stop: { latched: true, saved: true } }));
        else if (how === 'refuses') request.destroy();
      });
      const notes: string[] = [];
      const data = await stopTheRobot(
        place({ port: hanging.port }),
        { reason: 'drill', timeoutMs: 60_000 },
        { ...context(), onProgress: (text) => notes.push(text) },
      );
      expect(data).toMatchObject({ delivered: true, saved: true });
      const yet = notes.filter((note) => note.startsWith('NOT STOPPED yet, trying for '));
      const left = yet.map((note) => Number(/trying for (\d+) s more\. Press the emergency stop/.exec(note)?.[1]));
      expect(left.slice(0, awayMs / 1_000 - 1)).toEqual(Array.from({ length: awayMs / 1_000 - 1 }, (_, at) => 59 - at));
      expect(yet.every((note) => note.includes(`network 127.0.0.1:${hanging.port}: `))).toBe(true);
    },
  );

  it('gives up after the stated time, and begins no attempt after an interruption', async () => {
    answerOn('POST /api/stopp', () => [503, {}]);
    const beganMs = fake.nowMs();
    const given = await stopTheRobot(place(), { reason: 'drill', timeoutMs: 20_000 }, context());
    expect(given.delivered).toBe(false);
    expect(Math.round((fake.nowMs() - beganMs) / 1_000)).toBe(20);
    const ending = new AbortController();
    const onProgress = () => ending.abort(new Error('interrupted'));
    await stopTheRobot(place(), { reason: 'drill', timeoutMs: 60_000 }, { signal: ending.signal, onProgress });
    expect(fake.nowMs() - beganMs).toBeLessThan(23_000);
  });

  it('uses the local socket when the network connection hangs', async () => {
    mkdirSync(join(stateDir, 'local'));
    const progress: string[] = [];
    await using _local = await httpServer(
      ({ method, url }, response) => {
        progress.push(`${method} ${url}`);
        response.end(JSON.stringify(method === 'POST' ? { stop: { latched: true, saved: true } } : {}));
      },
      join(stateDir, 'local', 'gw.sock'),
    );
    await using hanging = await httpServer(() => {});
    const data = await stop({ host: undefined, port: hanging.port });
    expect(data).toMatchObject({
      delivered: true,
      ways: [
        { way: 'network', answer: 'not-awaited' },
        { way: 'local-socket', answer: 'latched' },
      ],
    });
    expect(progress[0]).toBe('POST /api/stopp');
  });

  it('cancels at the chassis when the gateway does not answer, and does not report that as stopped', async () => {
    const progress: string[] = [];
    let status = 200;
    await using chassis = await httpServer(({ method, url }, response) => {
      progress.push(`${method} ${url}`);
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"state":"cancelled"}');
    });
    const access = {
      endpoint: { host: '127.0.0.1', port: chassis.port },
      dialer: toolkit.dialer,
      clock: toolkit.clock,
    };
    const at = { chassis: { ...access, expectedSerial: 'X', secret: undefined } };
    answerOn('POST /api/stopp', () => [503, {}]);
    const data = await stop(at);
    expect(motionStopSchema.parse(data)).toEqual(data);
    expect(data).toMatchObject({ delivered: false, cancelledAtChassis: true, move: 'not-known' });
    // Each second after the first one: a robot that was cancelled once may drive on.
    expect(progress).toEqual(Array(4).fill('PATCH /chassis/moves/current'));
    expect(data.ways).toContainEqual(
      expect.objectContaining({ way: 'chassis', detail: expect.stringContaining('accepted 4 cancels') }),
    );
    expect(first(renderMotionStop(data))).toMatch(/^NOT STOPPED: CANCELLED AT THE CHASSIS, NOT LATCHED/);
    status = 500;
    expect(await stop(at)).toMatchObject({ delivered: false, cancelledAtChassis: false });
    progress.length = 0;
    fake.override = () => undefined;
    expect(await stop(at)).toMatchObject({ delivered: true, cancelledAtChassis: false });
    expect(progress).toEqual([]);
  });

  it('needs no site file, or a valid one', async () => {
    const { place: found, trouble } = await openStopPlace({ sitePath: join(stateDir, 'none.yaml') });
    expect(found).toMatchObject({ port: 5173, stateDir: null });
    expect(trouble).toMatch(/none\.yaml/);
    const named = await openStopPlace({ sitePath: stateDir, host: 'robot-7.local', port: 81 });
    expect(named.place).toMatchObject({ host: 'robot-7.local', port: 81 });
  });
});

describe('gw motion clear', () => {
  const clear = (password?: string) => clearStop(toolkit, { password }, context());
  beforeEach(() => {
    fake.override = ({ method, url }) => {
      if (method === 'GET' && url === '/api/touren')
        return [200, { gate: { open: false, reasons: ['not connected'] } }];
      if (method === 'GET' && url === '/api/stopp') {
        return [200, { stop: { latched: fake.latched, reason: 'drill', by: 'tablet', since: null } }];
      }
      return undefined;
    };
  });

  it('clears as a signed-in person, names the sender of the stop, and states that the gate is still closed', async () => {
    fake.latched = true;
    answerOn('DELETE /api/stopp', ({ headers }) => {
      if (!fake.sessions.has(headers.cookie ?? '')) return [401, { error: { code: 'NOT_SIGNED_IN', message: 'no' } }];
      fake.latched = false;
      return [200, { stop: { latched: false, reason: null, by: null, since: null } }];
    });
    const data = await clear(fake.password);
    expect(motionClearSchema.parse(data)).toEqual(data);
    expect(data).toMatchObject({ cleared: true, wasLatched: true, by: 'tablet', gate: { open: false } });
    expect(renderMotionClear(data)).toMatch(
      /^CLEARED: no stop is latched\. The gate is still closed:\n {2}not connected/,
    );
    expect(fake.sessions.size).toBe(0);
  });

  it('says first that the robot did not stop at what is cleared', async () => {
    const data = { cleared: true, wasLatched: true, reason: 'drill', by: 'tablet', since: null } as const;
    const gate = { open: true, reasons: [] };
    const text = renderMotionClear({ ...data, disobeyed: 'it went 0.40 m further', gate });
    expect(text).toMatch(/^CLEARED, BUT THE ROBOT DID NOT STOP AT IT: it went 0\.40 m further\.\nVerify .*verify stop/);
  });

  it('is not CLEARED when another stop was received meanwhile', async () => {
    fake.latched = true;
    answerOn('DELETE /api/stopp', () => [200, { stop: { latched: true, reason: 'again', by: 'tablet', since: null } }]);
    const data = await clear(fake.password);
    expect(data.cleared).toBe(false);
    expect(first(renderMotionClear(data))).toContain('STILL STOPPED');
  });

  it('names both ways to sign in, and prompts for nothing else', async () => {
    fake.latched = true;
    await expect(clear()).rejects.toMatchObject({ code: 'NOT_SIGNED_IN', remedy: expect.stringContaining('gw serve') });
    await expect(clear('wrong')).rejects.toMatchObject({ code: 'SIGN_IN_FAILED' });
    expect(fake.latched).toBe(true);
  });

  it('reports when no stop is latched', async () => {
    const data = await clear(fake.password);
    expect(renderMotionClear(data)).toMatch(/^No stop was latched: nothing to clear\. The gate is still closed/);
    expect(fake.requests).not.toContain('DELETE /api/stopp');
  });
});

describe('gw motion pose', () => {
  const sent: unknown[] = [];
  const answer = (state: string, reason: string | null = null) => {
    sent.length = 0;
    answerOn('POST /api/pose', (_, body) => {
      sent.push(JSON.parse(body));
      return [200, { outcome: { state, reason } }];
    });
  };
  const pose = (at: Parameters<typeof setPose>[1]['at']) =>
    setPose(toolkit, { at, password: fake.password }, context());

  it('sends the pose of the site file in metres and degrees', async () => {
    answer('succeeded');
    const data = await pose({ dock: true });
    expect(motionPoseSchema.parse(data)).toEqual(data);
    await pose({ station: 'A' });
    await pose({ xM: -1, yM: 2.5, yawDeg: -45 });
    expect(sent).toEqual([
      { xM: 1, yM: 1, yawDeg: -90, map: { uid: 'u1', version: 2, title: 'lobby' } },
      { xM: 3, yM: 4, yawDeg: 90, map: { uid: 'u1', version: 2, title: 'lobby' } },
      { xM: -1, yM: 2.5, yawDeg: -45 },
    ]);
    expect(first(renderMotionPose(data))).toMatch(/reports the pose that was set: 1 m, 1 m, -90° \(site file, dock\)/);
  });

  it.each([
    ['failed', 'The robot did not accept the pose'],
    ['unknown', 'Whether the robot accepted the pose is unknown'],
  ])('is not green when it %s', async (state, words) => {
    answer(state, 'it reports another one');
    const data = await pose({ dock: true });
    expect(renderMotionPose(data)).toContain(words);
    expect(renderMotionPose(data)).toContain('Do not let it drive');
  });

  it.each([
    [409, 'MOTION_REFUSED', true],
    [503, 'CHASSIS_NOT_CONNECTED', false],
    [502, 'CHASSIS_REFUSED', false],
  ])('says that no order was sent only where that is certain: %i %s', async (status, code, isCertain) => {
    answerOn('POST /api/pose', () => [status, { error: { code, message: 'M.', remedy: 'R.' } }]);
    const message = isCertain ? 'Not set, no order was sent: M.' : 'M.';
    await expect(pose({ dock: true })).rejects.toMatchObject({ code, message });
  });

  it('sends no request for an unknown place, or one without a heading', async () => {
    answer('succeeded');
    for (const station of ['plain', 'nowhere', 'toString']) {
      await expect(pose({ station })).rejects.toMatchObject({ code: 'STATION_UNKNOWN' });
    }
    toolkit = { ...toolkit, site: { ...toolkit.site, dock: undefined } };
    await expect(pose({ dock: true })).rejects.toMatchObject({ code: 'STATION_UNKNOWN' });
    expect(sent).toEqual([]);
  });
});
