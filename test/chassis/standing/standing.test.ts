import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTrack, judgeStanding, type PoseSample } from '../../../src/lib/chassis/index.ts';
import { runs } from '../../properties.ts';
import { posesOf, type Robot } from '../poses.ts';

type Unit = Parameters<typeof judgeStanding>[0]['unit'];

function judged(robot: Robot, unit: Unit = 'degrees', laterMs = 0) {
  const poses = posesOf(robot);
  return judgeStanding({ poses, nowMs: (poses.at(-1)?.atMs ?? 0) + laterMs, unit });
}

const hz = fc.constantFrom(1, 2, 10, 25);
const seed = fc.integer({ min: 0, max: 1_000_000 });
const direction = fc.double({ min: -Math.PI, max: Math.PI, noNaN: true });

describe('whether the robot stands, from its poses', () => {
  it('never says of a robot that drives at 0.02 to 1.5 m/s that it stands', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.02, max: 1.5, noNaN: true }),
        direction,
        hz,
        fc.double({ min: 3, max: 14, noNaN: true }),
        fc.double({ min: 0, max: 0.01, noNaN: true }),
        seed,
        (speed, course, rate, seconds, noiseM, random) => {
          const { verdict } = judged({
            xM: (s) => speed * Math.cos(course) * s,
            yM: (s) => speed * Math.sin(course) * s,
            hz: rate,
            seconds,
            noiseM,
            noiseOri: 0.3,
            seed: random,
          });
          expect(verdict).not.toBe('stands');
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it('never says that a robot stands that turns in place', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.double({ min: 5.5, max: 120, noNaN: true }),
        fc.constantFrom<readonly [Unit, number]>(
          ['degrees', 1],
          ['not-decided', 1],
          ['not-decided', Math.PI / 180],
          ['radians', Math.PI / 180],
        ),
        fc.constantFrom(1, 10),
        fc.constantFrom(1, -1),
        seed,
        (degPerS, [unit, scale], rate, side, random) => {
          // Half a turn between two poses cannot be distinguished from none: at one pose per second the turn is slower.
          const perS = rate === 1 ? Math.min(degPerS, 100) : degPerS;
          const ori = (s: number) => {
            const deg = 45 + side * perS * s;
            return (deg - 360 * Math.round(deg / 360)) * scale;
          };
          const { verdict } = judged(
            { ori, hz: rate, seconds: 9, noiseM: 0.005, noiseOri: 0.1 * scale, seed: random },
            unit,
          );
          expect(verdict).not.toBe('stands');
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('never says of a robot at rest that it moves, with noise of a centimetre and of half a degree', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(
        hz,
        fc.double({ min: 0, max: 14, noNaN: true }),
        fc.constantFrom<Unit>('degrees', 'not-decided'),
        seed,
        (rate, seconds, unit, random) => {
          const { verdict } = judged({ hz: rate, seconds, noiseM: 0.01, noiseOri: 0.5, seed: random }, unit);
          expect(verdict).not.toBe('moves');
        },
      ),
      { numRuns: runs(1_000) },
    );
  });

  it.each([
    [1, 10],
    [10, 5],
  ])('says of a robot at rest with %d poses per second that it stands, within %d s', (rate, seconds) => {
    const found = Array.from({ length: 200 }, (_, random) =>
      judged({ hz: rate, seconds, noiseM: 0.01, noiseOri: 0.5, seed: random }),
    );
    expect(found.filter(({ verdict }) => verdict === 'stands').length).toBeGreaterThan(196);
  });

  it('does not say that a robot stands that rocks to and fro, or circles within half a metre', () => {
    for (const rate of [1.3, 10]) {
      for (const everyS of [2, 4, 8]) {
        const wave = (s: number) => Math.sin((2 * Math.PI * s) / everyS);
        expect(judged({ xM: (s) => 0.1 * wave(s), hz: rate, seconds: 14 }).verdict).not.toBe('stands');
        expect(
          judged({ xM: (s) => 0.25 * wave(s), yM: (s) => 0.25 * wave(s + everyS / 4), hz: rate, seconds: 14 }).verdict,
        ).not.toBe('stands');
      }
    }
  });

  it('says within three seconds that a robot moves which stood for long and sets out', () => {
    const setOut = (s: number) => Math.max(0, s - 10) * 0.1;
    expect(judged({ xM: setOut, hz: 10, seconds: 13, noiseM: 0.01 }).verdict).toBe('moves');
    expect(judged({ xM: setOut, hz: 1, seconds: 13, noiseM: 0.01 }).verdict).toBe('moves');
  });

  it('does not say of a robot that it moves, once it has stood for more than a second, and not yet that it stands', () => {
    for (const speed of [0.3, 1]) {
      const stopped = (s: number) => speed * Math.min(s, 8);
      expect(judged({ xM: stopped, hz: 10, seconds: 9.5, noiseM: 0.005 }).verdict).toBe('not-known');
      expect(judged({ xM: stopped, hz: 10, seconds: 8, noiseM: 0.005 }).verdict).toBe('moves');
    }
    const turned = (s: number) => 60 * Math.min(s, 2);
    expect(judged({ ori: turned, hz: 10, seconds: 3.5, noiseOri: 0.2 }).verdict).toBe('not-known');
  });

  it('knows nothing from fewer than four poses, less than three seconds, or old poses, and says so', () => {
    expect(judgeStanding({ poses: [], nowMs: 0, unit: 'degrees' })).toMatchObject({
      verdict: 'not-known',
      reason: 'no pose was received',
    });
    expect(judged({ hz: 1, seconds: 2.9 })).toMatchObject({
      verdict: 'not-known',
      reason: expect.stringMatching(/^[23] poses within 2\.0 s|^[23] poses within 1\.0 s/),
    });
    expect(judged({ hz: 10, seconds: 2.9 }).verdict).toBe('not-known');
    expect(judged({ hz: 10, seconds: 8 }).verdict).toBe('stands');
    expect(judged({ hz: 10, seconds: 8 }, 'degrees', 3_100)).toMatchObject({
      verdict: 'not-known',
      reason: 'the newest pose is 3.1 s old',
    });
  });

  it('judges nothing across a gap of more than three seconds', () => {
    const poses: PoseSample[] = [0, 1, 2, 3, 4, 8, 9, 10].map((s) => ({ atMs: s * 1_000, xM: 0, yM: 0, ori: 0 }));
    expect(judgeStanding({ poses, nowMs: 10_000, unit: 'degrees' }).verdict).toBe('not-known');
    expect(judgeStanding({ poses: poses.slice(0, 5), nowMs: 4_000, unit: 'degrees' }).verdict).toBe('stands');
  });

  it('does not know whether a robot stands whose position scatters by ten centimetres', () => {
    const standing = judged({ hz: 10, seconds: 14, noiseM: 0.1 });
    expect(standing).toMatchObject({ verdict: 'not-known', reason: expect.stringContaining('scatters') });
  });

  it('reads an undecided heading in both units: noise of degrees is no turn, and no rest either until it decides', () => {
    const noisy = { hz: 1, seconds: 5, noiseOri: 0.5 };
    expect(judged(noisy, 'degrees').verdict).toBe('stands');
    expect(judged(noisy, 'not-decided')).toMatchObject({
      verdict: 'not-known',
      reason: expect.stringContaining('its unit is not decided'),
    });
  });

  it('decides over a longer time where a heading of undecided unit has noise of half a degree', () => {
    const judgedOver = (maxMs?: number) =>
      Array.from({ length: 50 }, (_, random) => {
        const poses = posesOf({ hz: 1, seconds: 30, noiseM: 0.01, noiseOri: 0.5, seed: random });
        const nowMs = poses.at(-1)?.atMs ?? 0;
        return judgeStanding({ poses, nowMs, unit: 'not-decided', ...(maxMs !== undefined && { maxMs }) }).verdict;
      });
    expect(judgedOver().filter((verdict) => verdict === 'stands').length).toBeGreaterThanOrEqual(48);
    expect(judgedOver(10_000)).not.toContain('stands');
  });

  it('takes a heading across ±180 degrees, and across ±π, for standing', () => {
    let at = 0;
    const across = (half: number) => () => (at++ % 2 === 0 ? half - 0.001 : -half + 0.001);
    expect(judged({ ori: across(180), hz: 10, seconds: 8 }, 'degrees').verdict).toBe('stands');
    expect(judged({ ori: across(Math.PI), hz: 10, seconds: 8 }, 'radians').verdict).toBe('stands');
  });

  it.each([0, 180])(
    'a noisy heading at the seam of degrees, %d°, whose unit is not decided, is like any other',
    (seamDeg) => {
      const inRange = (deg: number) => (seamDeg === 0 ? (deg + 360) % 360 : deg - 360 * Math.round(deg / 360));
      for (const hz of [1, 2, 10]) {
        for (let random = 0; random < 20; random += 1) {
          const at = (deg: number) =>
            posesOf({ ori: () => deg, hz, seconds: 30, noiseM: 0.01, noiseOri: 0.3, seed: random }).map((pose) => ({
              ...pose,
              ori: inRange(pose.ori),
            }));
          const judge = (poses: readonly PoseSample[]) =>
            judgeStanding({ poses, nowMs: poses.at(-1)?.atMs ?? 0, unit: 'not-decided' });
          expect(judge(at(seamDeg))).toEqual(judge(at(seamDeg + 45)));
        }
      }
    },
  );

  it('a turn across the seam of degrees is one, in a heading whose unit is not decided', () => {
    const turning = (s: number) => (357 + 5.5 * s) % 360;
    expect(judged({ ori: turning, hz: 10, seconds: 9, noiseOri: 0.1 }, 'not-decided').verdict).toBe('moves');
  });
});

describe('the poses that standing is judged from', () => {
  const pose = (s: number, xM = 0): PoseSample => ({ atMs: s * 1_000, xM, yM: 0, ori: 0 });

  it('begin anew at a relocalisation, and are forgotten with the connection', () => {
    const track = createTrack();
    for (let n = 0; n < 50; n += 1) track.add(pose(n / 10));
    expect(track.standing(5_000, 'degrees').verdict).toBe('stands');
    track.add(pose(5, 2));
    expect(track.poses()).toHaveLength(1);
    expect(track.standing(5_000, 'degrees').verdict).toBe('not-known');
    track.interrupt();
    expect(track.poses()).toEqual([]);
  });

  it('are bounded, and what was handed out does not change', () => {
    const track = createTrack();
    for (let s = 0; s < 30; s += 0.001) track.add(pose(s));
    const before = track.poses();
    const copy = [...before];
    expect(before.length).toBeLessThan(900);
    track.add(pose(31));
    expect(before).toEqual(copy);
  });

  it('grow old without a new one', () => {
    const track = createTrack();
    for (let n = 0; n < 50; n += 1) track.add(pose(n / 10));
    expect(track.standing(5_000, 'degrees').verdict).toBe('stands');
    expect(track.standing(8_100, 'degrees').verdict).toBe('not-known');
    expect(track.standing(5_100, 'degrees').verdict).toBe('stands');
  });
});
