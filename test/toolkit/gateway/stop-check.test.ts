import { describe, expect, it } from 'vitest';
import { checkStop } from '../../../src/lib/toolkit/gateway/stop-check.ts';
import { eachTest, verdictsOf } from '../kit.ts';
import { context, type FakeOperator, startFakeOperator } from '../operator/fake-operator.ts';

/** A robot that drives along x at 0.5 m/s from the start of a tour, and behaves as `after` once stopped. */
function driving(fake: FakeOperator, after: (ms: number) => number = () => 0): { stoppedAtMs: number | null } {
  const seen = { startedAtMs: null as number | null, stoppedAtMs: null as number | null };
  fake.override = ({ method, url }) => {
    if (method === 'POST' && url === '/api/touren/lauf' && !fake.latched) seen.startedAtMs ??= fake.nowMs();
    if (method === 'POST' && url === '/api/stopp') seen.stoppedAtMs ??= fake.nowMs();
    return undefined;
  };
  const xAt = (ms: number): number => {
    if (seen.startedAtMs === null) return 0;
    const untilMs = Math.min(ms, seen.stoppedAtMs ?? ms);
    return Math.max(0, untilMs - seen.startedAtMs) * 0.0005 + (ms > untilMs ? after(ms - untilMs) : 0);
  };
  fake.pose = (ms) => ({ xM: xAt(ms), yM: 0, yawDeg: 0 });
  fake.moveState = () => (seen.startedAtMs !== null && seen.stoppedAtMs === null ? 'moving' : 'cancelled');
  fake.poseAgeMs = () => fake.nowMs() % 100;
  return seen;
}

const options = { tour: 'acceptance', password: 'correct horse' };

let fake: FakeOperator;
eachTest(startFakeOperator, (one) => {
  fake = one;
});

describe('a measured stop', () => {
  it('is ok where the robot was driving, comes to rest, stays stopped, and a signed-in person clears it', async () => {
    driving(fake, (ms) => Math.min(ms, 400) * 0.0002);
    const result = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(result.findings)).toEqual({
      answered: 'ok',
      driving: 'ok',
      standstill: 'ok',
      holds: 'ok',
      cleared: 'ok',
    });
    expect(result.standstillMs).toBeGreaterThan(200);
    expect(result.distanceM).toBeGreaterThan(0.05);
    expect(fake.latched).toBe(false);
    expect(fake.sessions.size).toBe(0);
  });

  it.each([
    [true, 'ok', /latched, saved$/],
    ['pending', 'ok', /latched, not saved yet$/],
    [false, 'wrong', /NOT saved: a restart of gw would forget it$/],
  ] as const)('that is answered with saved: %s is %s', async (saved, verdict, detail) => {
    driving(fake, (ms) => Math.min(ms, 400) * 0.0002);
    const drive = fake.override;
    fake.override = (request, body) => {
      const answer = drive(request, body);
      if (request.method !== 'POST' || request.url !== '/api/stopp') return answer;
      fake.latched = true;
      return [200, { stop: { latched: true, saved } }];
    };
    const { findings } = await checkStop(fake.toolkit, options, context());
    expect(findings.find(({ id }) => id === 'answered')).toMatchObject({
      verdict,
      detail: expect.stringMatching(detail),
    });
  });

  it('starts its tours as a signed-in person where sign-in is required', async () => {
    driving(fake);
    const moving = fake.override;
    fake.override = (request, body) => {
      const isStart = request.method === 'POST' && request.url === '/api/touren/lauf';
      if (isStart && !fake.sessions.has(request.headers.cookie ?? '')) {
        return [401, { error: { code: 'NOT_SIGNED_IN', message: 'no' } }];
      }
      return moving(request, body);
    };
    const { findings } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ driving: 'ok', holds: 'ok' });
  });

  it('is not checked where the tour ends at once, since the robot is at its only station', async () => {
    fake.override = ({ method, url }) =>
      method === 'GET' && url === '/api/touren/lauf' ? [200, { run: { state: 'succeeded' } }] : undefined;
    const { findings, distanceM } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ answered: 'ok', driving: 'not-checked', standstill: 'not-checked' });
    expect(distanceM).toBeNull();
    expect(fake.latched).toBe(false);
  });

  it('is wrong where the robot drives on, also when the chassis reports that the move was cancelled', async () => {
    driving(fake, (ms) => ms * 0.0003);
    const { findings, standstillMs } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ answered: 'ok', standstill: 'wrong' });
    expect(standstillMs).toBeNull();
  });

  it.each([
    [0.3, 100],
    [0.07, 100],
    [0.03, 100],
    [0.03, 1_000],
  ])(
    'is never ok where the robot creeps on at %d m/s and reports cancelled, with a pose every %d ms',
    async (speed, everyMs) => {
      driving(fake, (ms) => (ms * speed) / 1_000);
      fake.poseAgeMs = () => fake.nowMs() % everyMs;
      const progress: string[] = [];
      const { findings, standstillMs } = await checkStop(fake.toolkit, options, {
        ...context(),
        onProgress: (text) => progress.push(text),
      });
      expect(verdictsOf(findings)).toMatchObject({ standstill: 'wrong' });
      expect(findings.find(({ id }) => id === 'standstill')?.detail).toContain('it still moves: it moves at 0.');
      expect(progress.at(-1)).toBe('THE ROBOT STILL MOVES: press the emergency stop');
      expect(standstillMs).toBeNull();
    },
  );

  it('is ok with one pose per second, and measures the rest from the pose that shows it', async () => {
    driving(fake, (ms) => Math.min(ms, 400) * 0.0002);
    fake.poseAgeMs = () => fake.nowMs() % 1_000;
    const { findings, standstillMs } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ driving: 'ok', standstill: 'ok' });
    expect(standstillMs).toBeLessThan(2_100);
  });

  it('is not checked where the position scatters too much to tell', async () => {
    driving(fake);
    const still = fake.pose;
    let turn = 0;
    fake.pose = (ms) => {
      const pose = still(ms);
      turn += 1;
      return pose && { ...pose, yM: [0, 0.15, -0.1, 0.12, -0.14].at(turn % 5) ?? 0 };
    };
    const { findings } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ standstill: 'not-checked' });
  });

  it('is wrong where the chassis still reports a move of a robot at rest', async () => {
    driving(fake);
    fake.moveState = () => 'moving';
    const { findings } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ standstill: 'wrong' });
    expect(findings.find(({ id }) => id === 'standstill')?.detail).toContain("'moving'");
  });

  it('is wrong where the robot is at rest because it reached its goal, and open where the chassis reports neither', async () => {
    const seen = driving(fake, (ms) => Math.min(ms, 1_500) * 0.0005);
    fake.moveState = () =>
      seen.stoppedAtMs === null || fake.nowMs() < seen.stoppedAtMs + 1_500 ? 'moving' : 'succeeded';
    const drove = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(drove.findings)).toMatchObject({ driving: 'ok', standstill: 'wrong' });
    await using other = await startFakeOperator();
    const left = driving(other);
    other.moveState = () => (left.stoppedAtMs === null ? 'moving' : 'idle');
    const open = await checkStop(other.toolkit, options, context());
    expect(verdictsOf(open.findings)).toMatchObject({ standstill: 'not-checked' });
  });

  it('proves no standstill without poses: a stream that falls silent looks like rest', async () => {
    const seen = driving(fake);
    const moving = fake.pose;
    // The last pose only ages.
    fake.poseAgeMs = () => (seen.stoppedAtMs === null ? fake.nowMs() % 100 : fake.nowMs() - seen.stoppedAtMs + 50);
    fake.pose = (ms) => moving(seen.stoppedAtMs === null ? ms : seen.stoppedAtMs - 50);
    const { findings } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ standstill: 'not-checked' });
  });

  it('is wrong where a tour starts although the robot is stopped, and stops it again', async () => {
    driving(fake);
    const drives = fake.override;
    fake.override = (request, body) => {
      drives(request, body);
      const isStart = request.method === 'POST' && request.url === '/api/touren/lauf';
      return isStart ? [202, { run: { state: 'running' } }] : undefined;
    };
    const { findings } = await checkStop(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ holds: 'wrong' });
    const again = fake.requests.lastIndexOf('POST /api/touren/lauf');
    expect(fake.requests.slice(again)).toContain('POST /api/stopp');
  });

  it('is wrong where a stop can be cleared without a session', async () => {
    driving(fake);
    const drives = fake.override;
    fake.override = (request, body) => {
      drives(request, body);
      if (request.method !== 'DELETE' || request.url !== '/api/stopp') return undefined;
      fake.latched = false;
      return [200, { stop: { latched: false } }];
    };
    expect(verdictsOf((await checkStop(fake.toolkit, options, context())).findings)).toMatchObject({
      cleared: 'wrong',
    });
  });

  it('starts no tour without a session, nor while the robot is stopped already', async () => {
    await expect(checkStop(fake.toolkit, { ...options, password: 'wrong' }, context())).rejects.toMatchObject({
      code: 'SIGN_IN_FAILED',
    });
    fake.latched = true;
    await expect(checkStop(fake.toolkit, options, context())).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    expect(fake.requests).not.toContain('POST /api/touren/lauf');
    expect(fake.latched).toBe(true);
  });

  it('leaves the robot stopped when it is interrupted', async () => {
    const ending = new AbortController();
    fake.moveState = () => 'moving';
    fake.override = ({ method, url }) => {
      if (method === 'GET' && url === '/api/chassis/state' && fake.requests.includes('POST /api/touren/lauf')) {
        ending.abort(new Error('interrupted'));
      }
      return undefined;
    };
    const running = checkStop(fake.toolkit, options, { ...context(), signal: ending.signal });
    await expect(running).rejects.toThrow('interrupted');
    expect(fake.requests).toContain('POST /api/stopp');
    expect(fake.latched).toBe(true);
  });
});
