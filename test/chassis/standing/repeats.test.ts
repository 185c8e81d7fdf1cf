import { describe, expect, it } from 'vitest';
import { createTrack, judgeAfterStop, judgeStanding, type PoseSample } from '../../../src/lib/chassis/index.ts';
import { isFull } from '../../properties.ts';
import { normal, seeded } from '../poses.ts';

/** How a chassis renews the pose that it publishes; null: it repeats the last one. */
type Renewal = (now: PoseSample, last: PoseSample, chance: () => number) => PoseSample | null;

const grid = (value: number, cell: number) => cell * Math.round(value / cell);
const streams: Readonly<Record<string, () => Renewal>> = {
  'after 0.2 m or half a radian': () => (now, last) =>
    Math.hypot(now.xM - last.xM, now.yM - last.yM) >= 0.2 || Math.abs(now.ori - last.ori) >= 28.65 ? now : null,
  'on a grid of 10 cm and 5 degrees': () => (now) => ({
    ...now,
    ...{ xM: grid(now.xM, 0.1), yM: grid(now.yM, 0.1), ori: grid(now.ori, 5) },
  }),
  'every 3.5 to 5 s': () => {
    let atMs = 0;
    return (now, _last, chance) => {
      if (now.atMs < atMs) return null;
      atMs = now.atMs + 3_500 + 1_500 * chance();
      return now;
    };
  },
};

/** What the robot does after its drive: it stands, creeps (m/s) or spins (degrees per second). */
interface Deed {
  readonly creepMS?: number;
  readonly spinDegS?: number;
}

const [SETS_OUT_S, CANCEL_S, END_S] = [5, 20, 55];
const STEP_S = 0.02;

interface Case {
  readonly renewal: Renewal;
  readonly hz: number;
  readonly speedMS: number;
  readonly seed: number;
  readonly noiseM: number;
  /** Whether the chassis reports its drive. */
  readonly isSaid: boolean;
}

/** The verdicts from a drive and its cancel on: while the robot moves, and while it stands. */
function follow({ creepMS = 0, spinDegS = 0 }: Deed, { renewal, hz, speedMS, seed, noiseM, isSaid }: Case) {
  const chance = seeded(seed * 77 + 5);
  const course = chance() * 2 * Math.PI;
  const place = { xM: 10 * chance(), yM: 10 * chance(), deg: (course * 180) / Math.PI };
  const track = createTrack();
  const whileMoving = new Set<string>();
  const whileStanding = new Set<string>();
  let speed = 0;
  let published: PoseSample | null = null;
  let nextS = chance() / hz;
  for (let s = 0; s < END_S; s += STEP_S) {
    const isDriving = s >= SETS_OUT_S && s < CANCEL_S;
    const wanted = isDriving ? speedMS : s >= CANCEL_S + speedMS ? creepMS : 0;
    speed += Math.max(-0.8 * STEP_S, Math.min(0.8 * STEP_S, wanted - speed));
    place.xM += speed * Math.cos(course) * STEP_S;
    place.yM += speed * Math.sin(course) * STEP_S;
    const isSpinning = spinDegS > 0 && s > CANCEL_S + 1;
    if (isSpinning) place.deg += spinDegS * STEP_S;
    if (s < nextS) continue;
    nextS += 1 / hz;
    const now: PoseSample = {
      atMs: s * 1_000,
      xM: place.xM + noiseM * normal(chance),
      yM: place.yM + noiseM * normal(chance),
      ori: place.deg + 30 * noiseM * normal(chance),
    };
    published = { ...(renewal(now, published ?? now, chance) ?? published ?? now), atMs: now.atMs };
    track.add({ ...published, ori: published.ori - 360 * Math.round(published.ori / 360) }, isSaid && isDriving);
    if (s <= CANCEL_S) continue;
    const about = {
      poses: track.poses(),
      nowMs: now.atMs,
      unit: 'degrees',
      acknowledgedAtMs: CANCEL_S * 1_000,
    } as const;
    const { verdict } = judgeAfterStop({ ...about, orderedAtMs: null });
    const isMoving = speed > 0 || isSpinning;
    (isMoving ? whileMoving : whileStanding).add(verdict);
    if (verdict === 'stands' && !isMoving) break;
  }
  return { whileMoving, whileStanding };
}

const rates = isFull ? [1, 3, 10] : [1, 10];
const speeds = [0.3, 1];
const seeds = isFull ? 2 : 1;
const cases = (renewal: () => Renewal) =>
  rates.flatMap((hz) =>
    speeds.flatMap((speedMS) =>
      [true, false].flatMap((isSaid) =>
        Array.from({ length: seeds }, (_, seed) => ({
          ...{ renewal: renewal(), hz, speedMS, isSaid, seed },
          noiseM: (seed + hz) % 2 === 0 ? 0 : 0.01,
        })),
      ),
    ),
  );

describe.each(Object.entries(streams))('a chassis that has driven, and renews its pose %s', (name, renewal) => {
  it.each<Deed>([
    { creepMS: 0.03 },
    { creepMS: 0.04 },
    { creepMS: 0.08 },
    { creepMS: 0.5 },
    { spinDegS: 4 },
    { spinDegS: 8 },
    { spinDegS: 20 },
  ])('is never said to stand after its cancel while it does not: %o', { tags: 'property' }, (deed) => {
    for (const one of cases(renewal)) {
      expect(follow(deed, one).whileMoving, JSON.stringify(one)).not.toContain('stands');
    }
  });

  it('raises no false alarm when it stops, and is seen to stand', { tags: 'property' }, () => {
    for (const one of cases(renewal)) {
      const { whileMoving, whileStanding } = follow({}, one);
      expect([...whileMoving, ...whileStanding], JSON.stringify(one)).not.toContain('drives-on');
      // A robot with noise at the edge of a cell jumps from one to the other.
      if (!name.includes('grid') || one.noiseM === 0) expect(whileStanding, JSON.stringify(one)).toContain('stands');
    }
  });
});

describe('a chassis that repeats poses', () => {
  const poses = (ms: readonly number[], xM: (at: number) => number, isDriven = true) => {
    const track = createTrack();
    for (const [at, atMs] of ms.entries()) track.add({ atMs, xM: xM(at), yM: 0, ori: 90 }, isDriven);
    return track.poses();
  };
  const every100 = (count: number) => Array.from({ length: count }, (_, at) => at * 100);

  it('says how long a rest must last', () => {
    // 0.2 m in every two seconds, then nothing for six.
    const rests = poses(every100(160), (at) => 0.2 * Math.min(5, Math.floor(at / 20)));
    expect(judgeStanding({ poses: rests, nowMs: 15_900, unit: 'degrees', sinceMs: 10_000 })).toMatchObject({
      verdict: 'not-known',
      reason: expect.stringContaining('the poses of this chassis change so coarsely that only a rest of 15.0 s shows'),
    });
  });

  it.each<[string, (at: number) => number]>([
    ['stands still in front of an obstacle, and then drives on', (at) => 0.02 * Math.max(0, at - 100)],
    ['is moved to another place once', (at) => (at < 60 ? 0 : 2)],
    ['rounds to a centimetre, and is on the edge of one', (at) => (Math.floor(at / 23) % 2 === 0 ? 0 : 0.01)],
  ])('and %s needs no longer rest', (_what, xM) => {
    expect(poses(every100(140), xM, false).at(-1)?.restMs).toBeUndefined();
  });

  it('begins anew with another connection', () => {
    const track = createTrack();
    for (let at = 0; at < 100; at += 1) track.add({ atMs: at * 100, xM: 0.2 * Math.floor(at / 20), yM: 0, ori: 90 });
    expect(track.poses().at(-1)?.restMs).toBeGreaterThan(3_000);
    track.interrupt();
    track.add({ atMs: 10_000, xM: 0, yM: 0, ori: 90 });
    expect(track.poses().at(-1)?.restMs).toBeGreaterThan(3_000);
    track.disconnect();
    track.add({ atMs: 10_100, xM: 0, yM: 0, ori: 90 });
    expect(track.poses().at(-1)?.restMs).toBeUndefined();
  });
});
