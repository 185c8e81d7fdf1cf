import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PoseSample } from '../../src/lib/chassis/index.ts';
import { parseTopicMessage } from '../../src/lib/chassis/topics/message.ts';
import { GwError } from '../../src/lib/error/index.ts';
import type { Clock } from '../../src/lib/lifecycle/index.ts';
import { checkStillness } from '../../src/lib/maps/index.ts';
import { assertStill, createStillnessJudge, type Stillness } from '../../src/lib/maps/stillness.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { startSim } from '../../src/lib/sim/index.ts';
import { closedPort, type FakeChassis, fakeChassis } from '../chassis/peers.ts';
import { posesOf, type Robot } from '../chassis/poses.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { isFull, runs } from '../properties.ts';

const planning = (move_state: string) => ({
  topic: '/planning_state',
  ...{ action_id: 8, action_type: 'standard', move_state, fail_reason: 0 },
});
const tracked = ({ xM, yM, ori }: Pick<PoseSample, 'xM' | 'yM' | 'ori'>) => ({
  topic: '/tracked_pose',
  pos: [xM, yM],
  ori,
});
const place = (xM: number, ori = 90) => tracked({ xM, yM: -2, ori });

interface Checked {
  readonly found: Stillness;
  readonly tookMs: number;
  readonly progress: readonly string[];
}

/** The check of a chassis that publishes `frames` so often, by a clock that needs no waiting. */
async function check(
  hz: number,
  frames: (s: number, turn: number) => readonly object[],
  clock: Clock = createPacedClock(),
): Promise<Checked> {
  const progress: string[] = [];
  const beganMs = clock.monotonicMs();
  let turn = 0;
  using _publishing = clock.every(1_000 / hz, () => {
    for (const frame of frames((clock.monotonicMs() - beganMs) / 1_000, turn)) chassis.publish(frame);
    turn += 1;
  });
  const found = await checkStillness(
    { endpoint: chassis.endpoint, dialer: directDialer, clock },
    undefined,
    (text: string) => progress.push(text),
  );
  return { found, tookMs: clock.monotonicMs() - beganMs, progress };
}

/** That of the present test. */
let chassis: FakeChassis;
beforeEach(async () => {
  chassis = await fakeChassis();
});
afterEach(() => chassis[Symbol.asyncDispose]());

describe('whether the robot stands still', () => {
  it('is still where its poses show it and no move is under way', async () => {
    const { found } = await check(10, () => [place(1.5)]);
    expect(found).toEqual({
      verdict: 'still',
      detail: expect.stringMatching(/^it moved less than 0\.02 m\/s, .*; no move is under way \(move_state "idle"\)$/),
    });
    expect(chassis.received).toEqual([{ enable_topic: '/planning_state' }, { enable_topic: '/tracked_pose' }]);
  });

  it.each([
    [0.02, 1],
    [0.02, 10],
  ])(
    'is never still where the chassis says idle and the robot drifts at %d m/s, with %d poses a second',
    async (speed, hz) => {
      const { found } = await check(hz, (s) => [planning('idle'), place(1.5 + speed * s)]);
      expect(found.verdict).toBe('moving');
      expect(found.detail).toContain('it moves at');
    },
  );

  it.each([100, 1_000])(
    'is never still of the simulated robot that creeps, with a pose every %d ms',
    async (poseMs) => {
      const clock = createPacedClock();
      await using sim = await startSim({ clock, poseMs });
      sim.setFault('creeping', true);
      const { host, port } = sim.chassis;
      const found = await checkStillness({ endpoint: { host, port }, dialer: directDialer, clock });
      expect(found).toMatchObject({ verdict: 'moving', detail: expect.stringContaining('it moves at') });
      sim.setFault('creeping', false);
      expect((await checkStillness({ endpoint: { host, port }, dialer: directDialer, clock })).verdict).toBe('still');
    },
  );

  it('is not checked where a chassis says idle and sends one pose only', async () => {
    const { found } = await check(1, () => [planning('idle')]);
    expect(found).toEqual({
      verdict: 'not-checked',
      detail: expect.stringMatching(/^1 pose in 15 s were not enough: the newest pose is 1\d\.\d s old$/),
    });
  });

  it('waits for poses that come once a second, says so, and is still then', async () => {
    const { found, tookMs, progress } = await check(1, () => [place(1.5)]);
    expect(found.verdict).toBe('still');
    expect(tookMs).toBeGreaterThan(3_000);
    expect(progress[0]).toBe('checking by its poses that the robot stands still, for 3 to 15 s');
  });

  it.each([
    ['moving', [planning('moving')], 'a move is under way'],
    // An end that is reported afterwards does not make it still.
    ['moving, then idle', [planning('moving'), planning('idle')], 'a move is under way'],
  ])('is moving where the chassis reports %s, whatever its poses show', async (_what, frames, detail) => {
    const { found } = await check(10, (_s, turn) => [place(1.5), ...(turn < 10 ? [] : frames)]);
    expect(found).toEqual({ verdict: 'moving', detail });
  });

  it.each([
    ['creeps at 0.05 m/s', (s: number) => place(0.2 * Math.floor((0.05 * s) / 0.2))],
    ['turns by 8 degrees a second', (s: number) => place(1.5, 28.65 * Math.floor((8 * s) / 28.65))],
  ])(
    'is never still where the pose is renewed only after 0.2 m or half a radian, and the robot %s',
    async (_what, frame) => {
      for (const hz of [1, 10]) expect((await check(hz, (s) => [frame(s)])).found.verdict).not.toBe('still');
    },
  );

  it('waits for ten seconds where the pose never changes', async () => {
    const { found, tookMs } = await check(10, () => [place(1.5)]);
    expect(found.verdict).toBe('still');
    expect(tookMs).toBeGreaterThanOrEqual(9_900);
  });

  it('is moving where it turns in place', async () => {
    const { found } = await check(10, (s) => [place(1.5, 10 * s)]);
    expect(found.verdict).toBe('moving');
    expect(found.detail).toContain('its heading changes by 10.00 per second');
  });

  it.each([
    ['is unknown', 'finished', 'move_state "finished" is unknown'],
    ['is not received', null, '/planning_state was not received'],
  ])('is not checked where the move state %s, although its poses stand', async (_what, state, detail) => {
    chassis.unknownTopics.push('/planning_state');
    const frames = state === null ? [] : [planning(state)];
    const { found } = await check(10, () => [place(1.5), ...frames]);
    expect(found.verdict).toBe('not-checked');
    expect(found.detail).toContain(detail);
    expect(found.detail).toContain('it moved less than 0.02 m/s');
  });

  it('is not checked where the newest move state could not be read', async () => {
    const { found } = await check(10, () => [place(1.5), { ...planning('idle'), move_state: 5 }]);
    expect(found.verdict).toBe('not-checked');
    expect(found.detail).toContain('/planning_state');
  });

  it('is not checked without poses, after three seconds', async () => {
    chassis.unknownTopics.push('/tracked_pose');
    const { found, tookMs } = await check(10, () => [planning('idle')]);
    expect(found).toEqual({ verdict: 'not-checked', detail: 'no pose (/tracked_pose) was received within 3 s' });
    expect(tookMs).toBeLessThan(5_000);
  });

  it('is not checked where the position scatters, with that reason, after the limit', async () => {
    const { found, tookMs } = await check(5, (_s, turn) => [place(1.5 + ([0, 0.2, -0.1, 0.15].at(turn % 4) ?? 0))]);
    expect(found).toEqual({
      verdict: 'not-checked',
      detail: expect.stringMatching(/^\d+ poses in 15 s were not enough: its position scatters by /),
    });
    expect(tookMs).toBeGreaterThan(14_000);
    expect(tookMs).toBeLessThan(20_000);
  });

  it('is not checked where a noisy heading could be a turn in radians, and says why', async () => {
    const noisy = posesOf({ hz: 5, seconds: 60, noiseM: 0.01, noiseOri: 1 });
    const { found } = await check(5, (_s, turn) => [tracked(noisy[turn] ?? { xM: 0, yM: 0, ori: 45 })]);
    expect(found.verdict).toBe('not-checked');
    expect(found.detail).toContain('its unit is not decided');
  });

  it('is not checked when the stream cannot be opened, or is lost', async () => {
    const clock = createPacedClock();
    const closed = { endpoint: await closedPort(), dialer: directDialer, clock };
    expect(await checkStillness(closed)).toMatchObject({ verdict: 'not-checked' });
    const { found } = await check(10, (s) => {
      if (s > 2) for (const stream of chassis.streams) stream.terminate();
      return [place(1.5)];
    });
    expect(found).toEqual({ verdict: 'not-checked', detail: expect.stringContaining('topic stream') });
  });

  it('ends with INTERRUPTED at once when the user interrupts', async () => {
    const clock = createPacedClock();
    const options = { endpoint: chassis.endpoint, dialer: directDialer, clock };
    const ending = new AbortController();
    using _soon = clock.after(200, () => ending.abort());
    await expect(checkStillness(options, ending.signal)).rejects.toMatchObject({ code: 'INTERRUPTED' });
    await expect(checkStillness(options, AbortSignal.abort())).rejects.toMatchObject({ code: 'INTERRUPTED' });
  });
});

const LIMIT_S = 15;
const TRIES = isFull ? 100 : 10;

/** What the check says of such a robot whose chassis says idle: judged at each pose, as long as the check waits. */
function judged(robot: Omit<Robot, 'seconds'>): Stillness['verdict'] {
  const judge = createStillnessJudge();
  judge.add(parseTopicMessage(JSON.stringify(planning('idle'))), 0);
  for (const pose of posesOf({ ...robot, seconds: LIMIT_S })) {
    const found = judge.add(parseTopicMessage(JSON.stringify(tracked(pose))), pose.atMs);
    if (found !== null) return found.verdict;
  }
  return judge.timeIsUp(LIMIT_S * 1_000).verdict;
}

describe.each([1, 10])('with %d poses a second and noise of 1 cm', (hz) => {
  const noise = { hz, noiseM: 0.01, noiseOri: 0.1 };

  it('a robot that drifts at 0.02 to 1 m/s in any direction is never still', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.double({ min: 0.02, max: 0.1, noNaN: true }), fc.double({ min: 0.1, max: 1, noNaN: true })),
        fc.double({ min: -Math.PI, max: Math.PI, noNaN: true }),
        fc.integer({ min: 0, max: 1_000_000 }),
        (speed, course, seed) => {
          const xM = (s: number) => speed * Math.cos(course) * s;
          const yM = (s: number) => speed * Math.sin(course) * s;
          expect(judged({ ...noise, xM, yM, seed })).not.toBe('still');
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it.each([0.02, 0.05, 0.1, 0.3, 1])(
    'a robot that drifts at %d m/s is refused, mostly as moving',
    { tags: 'property' },
    (speed) => {
      const found = Array.from({ length: TRIES }, (_, seed) => judged({ ...noise, xM: (s) => speed * s, seed }));
      expect(found).not.toContain('still');
      expect(found.filter((verdict) => verdict === 'moving').length).toBeGreaterThanOrEqual(0.95 * TRIES);
    },
  );

  it('a robot at rest is still in at least 95 of 100 checks, and never moving', { tags: 'property' }, () => {
    const found = Array.from({ length: TRIES }, (_, seed) => judged({ ...noise, seed }));
    expect(found.filter((verdict) => verdict === 'still').length).toBeGreaterThanOrEqual(0.95 * TRIES);
    expect(found).not.toContain('moving');
  });
});

describe('what is done without stillness', () => {
  const errorOf = (work: () => void): GwError | null => {
    try {
      work();
      return null;
    } catch (error) {
      if (error instanceof GwError) return error;
      throw error;
    }
  };

  it.each([
    ['still', false, null],
    ['still', true, null],
    ['moving', false, 'CHASSIS_MOVING'],
    ['moving', true, 'CHASSIS_MOVING'],
    ['not-checked', false, 'CHASSIS_MOVING'],
    ['not-checked', true, null],
  ] as const)('%s, and a person says so: %s', (verdict, isConfirmed, code) => {
    expect(errorOf(() => assertStill({ verdict, detail: 'x' }, isConfirmed))?.code ?? null).toBe(code);
  });

  it('the refusal of what was not checked says that, why, and by which flag a person confirms it', () => {
    const error = errorOf(() =>
      assertStill({ verdict: 'not-checked', detail: '1 pose within 0.0 s are too few' }, false),
    );
    expect(error?.message).toContain('was not checked: 1 pose within 0.0 s are too few');
    expect(error?.message).toContain('--robot-stands-still');
  });
});
