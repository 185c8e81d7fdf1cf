import { describe, expect, it } from 'vitest';
import { createTrack, judgeAfterStop, type PoseSample } from '../../../src/lib/chassis/index.ts';
import { noiseOf } from '../../../src/lib/chassis/standing/noise.ts';
import { isFull } from '../../properties.ts';
import { posesOf } from '../poses.ts';

const CANCEL_S = 12;
const SPEEDS = [0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.3, 0.5, 0.7, 1];
const TRIES = isFull ? 100 : 5;
/** Three seconds, and what a pose may need to come. */
const NOTICED_S = 3.25;
/** The way that is not noise, in multiples of the noise that the poses show; see NOISE of after-stop.ts. */
const NOISE = 7;

/** Where a robot is that drives at this speed and brakes with 0.8 m/s² from the cancel on. */
function braking(speed: number) {
  return (s: number) => {
    const since = Math.min(Math.max(0, s - CANCEL_S), speed / 0.8);
    return speed * Math.min(s, CANCEL_S) + speed * since - 0.4 * since * since;
  };
}

/** The first time of each verdict after the cancel, in seconds; the robot is judged at most five times a second. */
function follow(
  xM: (s: number) => number,
  hz: number,
  seed: number,
  orderedS: number | null = null,
  more: { readonly noiseM?: number; readonly seconds?: number } = {},
) {
  const { noiseM = 0.01, seconds = 11 } = more;
  const poses = posesOf({ xM, hz, seconds: CANCEL_S + seconds, noiseM, noiseOri: 0.5, seed });
  const first: Partial<Record<ReturnType<typeof judgeAfterStop>['verdict'], number>> = {};
  for (const [at, { atMs }] of poses.entries()) {
    if (atMs <= CANCEL_S * 1_000 || (hz > 5 && at % 2 === 0)) continue;
    const { verdict } = judgeAfterStop({
      poses: poses.slice(0, at + 1),
      nowMs: atMs,
      unit: 'degrees',
      acknowledgedAtMs: CANCEL_S * 1_000,
      orderedAtMs: orderedS === null ? null : orderedS * 1_000,
    });
    first[verdict] ??= atMs / 1_000 - CANCEL_S;
    if (first.stands !== undefined) break;
  }
  const noise = noiseOf(poses.filter(({ atMs }) => atMs <= CANCEL_S * 1_000));
  let exceedsS = 0;
  while (xM(CANCEL_S + exceedsS) - xM(CANCEL_S) < NOISE * noise && exceedsS < 60) exceedsS += 0.01;
  return { ...first, exceedsS };
}

describe.each([1, 10])('after an acknowledged cancel, with %d poses per second and noise of 1 cm', (hz) => {
  it.each(SPEEDS)(
    'a robot that drives on at %d m/s never stands, and is noticed within 3 s of its way exceeding the noise',
    { tags: 'property' },
    (speed) => {
      for (let seed = 0; seed < TRIES; seed += 1) {
        const found = follow((s) => speed * s, hz, seed);
        expect(found.stands, `seed ${seed}`).toBeUndefined();
        expect(found['drives-on'], `seed ${seed}`).toBeLessThan(found.exceedsS + NOTICED_S);
      }
    },
  );

  it.each(SPEEDS)(
    'a robot that brakes from %d m/s is found to stand, at least 95 times in 100, without a false alarm',
    { tags: 'property' },
    (speed) => {
      const found = Array.from({ length: TRIES }, (_, seed) => follow(braking(speed), hz, seed));
      expect(found.filter(({ stands }) => stands !== undefined).length).toBeGreaterThanOrEqual(0.95 * TRIES);
      expect(found.filter((one) => one['drives-on'] !== undefined)).toEqual([]);
    },
  );
});

describe.each([1, 2, 5, 10])('after an acknowledged cancel, with %d poses per second and noise of up to 3 cm', (hz) => {
  it.each([0, 0.1, 0.3, 0.7, 1])(
    'a robot that brakes from %d m/s stands, and raises no false alarm',
    { tags: 'property' },
    (speed) => {
      for (const noiseM of [0.005, 0.02, 0.03]) {
        for (let seed = 0; seed < TRIES / 4; seed += 1) {
          const found = follow(braking(speed), hz, seed, null, { noiseM, seconds: 25 });
          expect(found['drives-on'], `${noiseM} m, seed ${seed}`).toBeUndefined();
          expect(found.stands, `${noiseM} m, seed ${seed}`).toBeDefined();
        }
      }
    },
  );

  it('a robot that drives on at 0.3 m/s never stands, and is noticed', { tags: 'property' }, () => {
    for (let seed = 0; seed < TRIES / 4; seed += 1) {
      const found = follow((s) => 0.3 * s, hz, seed, null, { noiseM: 0.03 });
      expect(found.stands, `seed ${seed}`).toBeUndefined();
      expect(found['drives-on'], `seed ${seed}`).toBeLessThan(found.exceedsS + NOTICED_S);
    }
  });
});

describe.each([1, 10])('after a cancel while the robot sets out, with %d poses per second', (hz) => {
  // A second of acceleration at most, a reaction of 0.2 s, then braking with 0.8 m/s².
  it.each([0, 0.2, 0.5, 0.8, 1])(
    'a robot that accelerated for %d s raises no false alarm',
    { tags: 'property' },
    (forS) => {
      const began = CANCEL_S - forS;
      const topS = CANCEL_S + 0.2;
      const top = topS - began;
      const xM = (s: number) => {
        if (s < began) return 0;
        if (s < topS) return (s - began) ** 2 / 2;
        const since = Math.min(s - topS, top / 0.8);
        return top ** 2 / 2 + top * since - 0.4 * since ** 2;
      };
      for (let seed = 0; seed < TRIES; seed += 1) {
        expect(follow(xM, hz, seed, began)['drives-on'], `seed ${seed}`).toBeUndefined();
      }
    },
  );

  it.each(SPEEDS)(
    'a robot that drives on and gains up to %d m/s never stands, and is noticed as early',
    { tags: 'property' },
    (speed) => {
      for (const orderedS of [-1, 0, 0.25, 0.5, 1, 2]) {
        for (const acceleration of [0.3, 1]) {
          const xM = (s: number) => {
            const since = Math.max(0, s - CANCEL_S + orderedS);
            const fullS = speed / acceleration;
            return since < fullS
              ? (acceleration * since ** 2) / 2
              : (acceleration * fullS ** 2) / 2 + speed * (since - fullS);
          };
          for (let seed = 0; seed < (isFull ? 8 : 1); seed += 1) {
            const found = follow(xM, hz, seed, CANCEL_S - orderedS);
            const what = `ordered ${orderedS} s before, ${acceleration} m/s², seed ${seed}`;
            expect(found.stands, what).toBeUndefined();
            expect(found['drives-on'], what).toBeLessThan(found.exceedsS + NOTICED_S);
          }
        }
      }
    },
  );
});

/** The track of a robot whose poses were measured ten times a second, and of these times arrive at others. */
function arrivingAt(xM: (s: number) => number, seconds: number, arrivesS: (s: number) => number) {
  const track = createTrack();
  for (let n = 0; n <= seconds * 10; n += 1) {
    track.add({ atMs: 1_000 * arrivesS(n / 10), xM: xM(n / 10), yM: 0, ori: 0 });
  }
  return track.poses();
}

describe('after an acknowledged cancel, with poses that arrive in bunches', () => {
  // The gateway reads nothing for 0.6 s, then what was held back, every 20 ms, and meanwhile the answer to its cancel.
  const held = (s: number) => (s > CANCEL_S - 0.6 && s <= CANCEL_S ? CANCEL_S + (s - CANCEL_S + 0.6) / 5 - 0.02 : s);
  const judge = (poses: readonly PoseSample[]) =>
    judgeAfterStop({
      poses,
      nowMs: poses.at(-1)?.atMs ?? 0,
      unit: 'degrees',
      acknowledgedAtMs: CANCEL_S * 1_000 + 10,
      orderedAtMs: null,
    });
  /** It set out half a second before the gateway received nothing more. */
  const setsOut = (s: number) => 0.5 * Math.max(0, Math.min(s, CANCEL_S + 0.3) - CANCEL_S + 1);

  it('0.25 m within 0.1 s is not decided, and the reason names the bunches', () => {
    const poses = arrivingAt((s) => 0.5 * setsOut(s), CANCEL_S + 0.1, held);
    const arrivedOnly = poses.map(({ lateMs: _lateMs, ...pose }) => pose);
    expect(judge(arrivedOnly).verdict).toBe('drives-on');
    expect(judge(poses)).toMatchObject({
      verdict: 'not-known',
      isTimeInDoubt: true,
      reason: expect.stringMatching(/more than braking explains.* but poses arrived in bunches, up to 0\.\d s late/),
    });
  });

  it('a robot that drives on is noticed all the same, within 3 s, and never stands', () => {
    const found: { readonly s: number; readonly verdict: string }[] = [];
    for (let s = CANCEL_S + 0.1; s < CANCEL_S + 6; s += 0.1) {
      found.push({ s, verdict: judge(arrivingAt((at) => 0.5 * Math.max(0, at - CANCEL_S + 1), s, held)).verdict });
    }
    expect(found.find(({ verdict }) => verdict === 'drives-on')?.s).toBeLessThan(CANCEL_S + 3);
    expect(found.filter(({ verdict }) => verdict === 'stands')).toEqual([]);
  });

  it('a robot that stops stands', () => {
    expect(judge(arrivingAt(setsOut, CANCEL_S + 8, held)).verdict).toBe('stands');
  });

  it('poses that come regularly are never late, however seldom, and also from when they come more often on', () => {
    for (const arrivals of [[1_000], [20], [1_000, 100]]) {
      const track = createTrack();
      let atMs = 0;
      for (const gapMs of arrivals) {
        for (let n = 0; n < 100; n += 1) {
          atMs += gapMs;
          track.add({ atMs, xM: 0, yM: 0, ori: 0 });
        }
      }
      // The second one may have been held back for the whole time: how often they come is not known yet.
      const late = track.poses().filter((pose) => pose.lateMs !== undefined && pose.atMs > 2 * (arrivals[0] ?? 0));
      expect(late).toEqual([]);
    }
  });

  it('at the beginning of a connection a pose may be as late as the time without one before it', () => {
    const track = createTrack();
    for (const atMs of [1_000, 2_200, 2_260, 2_320, 2_380, 2_440, 2_500]) {
      track.add({ atMs, xM: atMs / 2_000, yM: 0, ori: 0 });
    }
    expect(track.poses().map(({ lateMs = 0 }) => lateMs)).toEqual([0, 1_200, 1_140, 1_140, 1_140, 1_140, 1_140]);
  });

  it('a pause in which no pose was measured hides no lateness after it', () => {
    const track = createTrack();
    let arrivedMs = 0;
    for (let measuredMs = 0; measuredMs < 23_000; measuredMs += 100) {
      if (measuredMs > 14_000 && measuredMs < 16_000) continue;
      const isHeld = measuredMs > 20_500 && measuredMs < 21_500;
      arrivedMs = Math.max(isHeld ? 21_500 : measuredMs, arrivedMs + 30);
      track.add({ atMs: arrivedMs, xM: 0, yM: 0, ori: 0 });
      const lateMs = track.poses().at(-1)?.lateMs ?? 0;
      if (measuredMs > 20_500) expect(lateMs, `${measuredMs} ms`).toBeGreaterThan(arrivedMs - measuredMs - 50);
    }
  });

  it('no pose is taken for later than the heartbeat of the connection lets it be', () => {
    const track = createTrack();
    for (const atMs of [1_000, 6_000]) track.add({ atMs, xM: 0, yM: 0, ori: 0 });
    expect(track.poses().at(-1)?.lateMs).toBe(2_000);
  });

  it('a pose that was set changes nothing in when poses come; over another connection they begin anew', () => {
    const track = createTrack();
    const add = (atMs: number) => track.add({ atMs, xM: 0, yM: 0, ori: 0 });
    for (let atMs = 0; atMs < 3_000; atMs += 100) add(atMs);
    track.interrupt();
    add(3_000);
    add(3_700);
    expect(track.poses().map(({ lateMs }) => lateMs)).toEqual([undefined, 600]);
    track.disconnect();
    add(5_000);
    expect(track.poses().map(({ lateMs }) => lateMs)).toEqual([undefined]);
  });

  it('how late poses are is seen while they catch up, also where they are held back for most of the time', () => {
    // Ten a second; of each 1.5 s the gateway reads nothing for 0.9 s, then one each 30 ms.
    const track = createTrack();
    const errorsMs: number[] = [];
    let arrivedMs = 0;
    for (let measuredMs = 0; measuredMs < 30_000; measuredMs += 100) {
      const heldMs = measuredMs % 1_500 < 900 ? measuredMs - (measuredMs % 1_500) + 900 : measuredMs;
      arrivedMs = Math.max(heldMs, arrivedMs + 30);
      track.add({ atMs: arrivedMs, xM: 0, yM: 0, ori: 0 });
      const newest = track.poses().at(-1);
      if (measuredMs > 10_000) errorsMs.push(arrivedMs - measuredMs - (newest?.lateMs ?? 0));
    }
    expect(Math.max(...errorsMs)).toBeLessThan(50);
    expect(Math.min(...errorsMs)).toBeGreaterThan(-50);
  });

  it('of poses that arrive together the newest shows where the robot is', () => {
    const poses = arrivingAt(
      (s) => 0.5 * s,
      20,
      (s) => Math.ceil(s / 0.7) * 0.7,
    );
    expect(poses.at(-1)).toMatchObject({ xM: 10 });
    expect(poses.length).toBeLessThan(60);
  });
});

describe('after an acknowledged cancel, with poses that are under way for seconds', () => {
  const judge = (xM: (s: number) => number, delayMs: number, s: number) => {
    const poses = posesOf({ xM, ori: () => 0, hz: 10, seconds: s });
    return judgeAfterStop({
      poses: poses
        .map((pose) => ({ ...pose, atMs: pose.atMs + delayMs, delayMs }))
        .filter(({ atMs }) => atMs <= s * 1_000),
      nowMs: s * 1_000,
      unit: 'degrees',
      acknowledgedAtMs: CANCEL_S * 1_000,
      orderedAtMs: null,
    });
  };

  it.each([500, 1_000, 2_000, 2_900, 5_000])('a robot that stops did not drive on: %d ms', (delayMs) => {
    for (const speed of [0.2, 0.5, 1]) {
      for (let s = CANCEL_S + 0.1; s < CANCEL_S + 10; s += 0.1) {
        expect(judge(braking(speed), delayMs, s).verdict, `${speed} m/s, ${s} s`).not.toBe('drives-on');
      }
    }
    expect(judge(braking(0.5), delayMs, CANCEL_S + 12).verdict).toBe(delayMs > 3_000 ? 'not-known' : 'stands');
  });

  it.each([500, 2_900, 5_000])('one that sets out then never stands, and is noticed: %d ms', (delayMs) => {
    const setsOut = (s: number) => 0.5 * Math.max(0, s - CANCEL_S);
    const verdicts = Array.from({ length: 120 }, (_, n) => judge(setsOut, delayMs, CANCEL_S + n / 10).verdict);
    expect(verdicts).not.toContain('stands');
    expect(verdicts.at(-1)).toBe('drives-on');
    expect(verdicts.indexOf('drives-on') / 10).toBeLessThan(2 * (delayMs / 1_000) + 3);
    expect(judge(setsOut, delayMs, CANCEL_S + delayMs / 1_000 + 0.8).reason).not.toMatch(/bunches/);
  });
});

describe('after an acknowledged cancel', () => {
  const judge = (xM: (s: number) => number, seconds: number, ori = (_s: number) => 0) => {
    const poses = posesOf({ xM, ori, hz: 10, seconds });
    const nowMs = poses.at(-1)?.atMs ?? 0;
    return judgeAfterStop({ poses, nowMs, unit: 'degrees', acknowledgedAtMs: CANCEL_S * 1_000, orderedAtMs: null });
  };

  it('a robot that coasts for 4 s at 0.3 m/s is noticed while it does, and stands afterwards', () => {
    const coasting = (s: number) => 0.3 * Math.min(s, CANCEL_S + 4);
    expect(judge(coasting, CANCEL_S + 2)).toMatchObject({
      verdict: 'drives-on',
      reason: expect.stringContaining('more than braking explains'),
    });
    expect(judge(coasting, CANCEL_S + 9).verdict).toBe('stands');
  });

  it('a robot that accelerates as it is cancelled, and brakes as fast, did not drive on', { tags: 'property' }, () => {
    const acceleration = 1;
    for (let seed = 0; seed < TRIES / 4; seed += 1) {
      const start = CANCEL_S - 0.45 - (seed % 10) * 0.08;
      const driven = CANCEL_S - start;
      const atCancel = (acceleration * driven ** 2) / 2;
      const accelerating = (s: number) => {
        if (s <= CANCEL_S) return (acceleration * Math.max(0, s - start) ** 2) / 2;
        const since = Math.min(s - CANCEL_S, driven);
        return atCancel + acceleration * driven * since - (acceleration * since ** 2) / 2;
      };
      const found = follow(accelerating, 10, seed, start);
      expect(found['drives-on'], `seed ${seed}`).toBeUndefined();
      expect(found.stands, `seed ${seed}`).toBeDefined();
    }
  });

  it('a robot that spins in place is noticed', () => {
    expect(
      judge(
        () => 0,
        CANCEL_S + 3,
        (s) => 15 * s,
      ).verdict,
    ).toBe('drives-on');
  });

  it('a robot that stood sets out on an order that was under way: noticed, and not called standing before', () => {
    const late = (s: number) => 0.5 * Math.max(0, s - CANCEL_S - 0.5);
    expect(judge(late, CANCEL_S + 0.4)).toMatchObject({
      verdict: 'not-known',
      reason: expect.stringContaining('too few'),
    });
    for (let s = CANCEL_S + 0.1; s < CANCEL_S + 3; s += 0.1) expect(judge(late, s).verdict).not.toBe('stands');
    expect(judge(late, CANCEL_S + 3).verdict).toBe('drives-on');
  });

  it('nothing is known without a pose since the cancel', () => {
    expect(judge(() => 0, CANCEL_S - 0.2)).toMatchObject({
      verdict: 'not-known',
      reason: 'no pose was received since the cancel',
    });
    expect(
      judgeAfterStop({ poses: [], nowMs: 0, unit: 'degrees', acknowledgedAtMs: 0, orderedAtMs: null }).verdict,
    ).toBe('not-known');
  });
});
