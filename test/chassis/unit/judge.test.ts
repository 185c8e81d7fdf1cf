import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUnitJudge, type PoseSample, shownUnit } from '../../../src/lib/chassis/index.ts';
import { runs } from '../../properties.ts';
import {
  anyDelivery,
  anyDoing,
  anyStart,
  calm,
  type Delivery,
  type Doing,
  type Encoding,
  inDegrees,
  inRadians,
  nearZero,
  samplesOf,
} from '../turning-robot.ts';

function judged(...connections: readonly (readonly PoseSample[])[]) {
  const judge = createUnitJudge();
  for (const samples of connections) {
    judge.interrupt();
    for (const sample of samples) judge.add(sample);
  }
  return judge.verdict();
}

/** The same robot, reported in one encoding. */
function reportedIn(encoding: Encoding, doings: readonly Doing[], delivery: Delivery = calm(10), turns = 0) {
  return judged(samplesOf(encoding, { deg: 30, turns }, doings, delivery));
}

const turned = (degPerS: number, circles: number): Doing[] => [
  { kind: 'stand', seconds: 3 },
  { kind: 'turn', seconds: (circles * 360) / degPerS, degPerS },
  { kind: 'stand', seconds: 1 },
];

/** Legs through a place: along corridors and across a hall, each some metres long. */
const tour = (degPerS: number): Doing[] =>
  [40, 75, 110, -60, 95, 130, -80, 50, 70, -110, 65, 85, -45, 120].flatMap((deg): Doing[] => [
    { kind: 'turn', seconds: Math.abs(deg) / degPerS, degPerS: Math.sign(deg) * degPerS },
    { kind: 'drive', seconds: 6, mPerS: 0.6, degPerS: 0 },
  ]);

const motions = fc.record({
  start: anyStart,
  doings: fc.array(anyDoing, { minLength: 1, maxLength: 14 }),
  delivery: anyDelivery,
});

const nearZeroMotions = fc.record({
  start: fc.record({ deg: fc.integer({ min: -600, max: 600 }).map((tenths) => tenths / 100), turns: fc.constant(0) }),
  doings: fc.array(nearZero, { minLength: 1, maxLength: 20 }),
  delivery: anyDelivery,
});

describe('the unit of the heading, whatever the robot does and however messages arrive', () => {
  it.each([
    ['degrees are never judged as radians', motions, inDegrees, 'radians', 1_500],
    [
      'degrees within a few degrees of 0, in the range of radians, are never judged as radians',
      ...([nearZeroMotions, inDegrees, 'radians', 3_000] as const),
    ],
    [
      'radians are never judged as degrees: normalised either way, or unwrapped and many turns from 0',
      ...([motions, inRadians, 'degrees', 2_000] as const),
    ],
  ] as const)('%s', { tags: 'property' }, (_, moving, encodings, wrong, count) => {
    fc.assert(
      fc.property(moving, fc.constantFrom<Encoding>(...encodings), ({ start, doings, delivery }, encoding) => {
        expect(judged(samplesOf(encoding, start, doings, delivery)).verdict).not.toBe(wrong);
      }),
      { numRuns: runs(count) },
    );
  });

  it('over a connection that follows proven degrees, radians are never shown to be degrees', {
    tags: 'property',
  }, () => {
    const proof = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 2), calm(10));
    fc.assert(
      fc.property(motions, fc.constantFrom<Encoding>(...inRadians), ({ start, doings, delivery }, encoding) => {
        expect(judged(proof).verdict).toBe('degrees');
        const now = judged(proof, samplesOf(encoding, start, doings, delivery));
        expect([now.verdict, now.shown]).not.toContain('degrees');
        expect(now.shown).toBeUndefined();
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('numbers within ±3.1 that follow no robot are never judged as radians', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -3.1, max: 3.1, noNaN: true }), { minLength: 50, maxLength: 500 }),
        fc.integer({ min: 1, max: 20 }),
        (oris, hz) => {
          const samples = oris.map((ori, i) => ({ ori, xM: 0, yM: 0, atMs: (i * 1_000) / hz }));
          expect(judged(samples).verdict).toBe('not-decided');
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('a heading in degrees that drifts and is corrected repeatedly is never judged as radians', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(
        // Corrections that differ from 2π by more than a twentieth; see docs/chassis.md for the ones that do not.
        fc.oneof(fc.integer({ min: 50, max: 595 }), fc.integer({ min: 665, max: 900 })).map((n) => n / 100),
        fc.integer({ min: 30, max: 300 }).map((n) => n / 100),
        fc.integer({ min: 1, max: 20 }),
        fc.constantFrom(-1, 1),
        (correction, driftPerS, hz, sign) => {
          let at = 0;
          const samples = Array.from({ length: 40 * hz }, (_, i) => {
            at += driftPerS / hz;
            if (at > correction / 2) at -= correction;
            return { ori: sign * at, xM: 0, yM: 0, atMs: (i * 1_000) / hz };
          });
          expect(judged(samples).verdict).not.toBe('radians');
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

describe('degrees', () => {
  it('proven before hold on the next connection once a turn of a third of a circle shows them', () => {
    const proof = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 2), calm(10));
    for (const hz of [5, 10, 20]) {
      for (const degPerS of [20, 40, 60]) {
        const next = (circles: number) =>
          judged(proof, samplesOf('degrees ±180', { deg: 100, turns: 0 }, turned(degPerS, circles), calm(hz)));
        expect(next(0)).toMatchObject({ verdict: 'not-decided', doubt: null });
        expect(next(1 / 3)).toMatchObject({ verdict: 'degrees', shown: true });
        // Without a proof of before it is none, and enough to read the headings of this connection.
        const alone = judged(samplesOf('degrees ±180', { deg: 100, turns: 0 }, turned(degPerS, 1 / 6), calm(hz)));
        expect([alone.verdict, shownUnit(alone), shownUnit({ ...alone, doubt: 'looks like radians' })]).toEqual([
          'not-decided',
          'degrees',
          'not-decided',
        ]);
      }
    }
  });

  it('are not shown by unwrapped radians that a stall has held back, and that then come all at once', () => {
    const turn: Doing[] = [{ kind: 'turn', seconds: 25, degPerS: 100 }];
    const samples = samplesOf('radians unwrapped', { deg: 0, turns: 0 }, turn, calm(10));
    const endMs = samples.at(-1)?.atMs ?? 0;
    const late = samples.map((sample, i) => (i < 5 ? sample : { ...sample, atMs: endMs + 4 * i }));
    const { shown = false, verdict } = judged(late);
    expect([shown, verdict]).toEqual([false, 'not-decided']);
  });

  it.each(inDegrees)('are proven by one full turn by hand, at usual speeds and rates: %s', (encoding) => {
    for (const hz of [1, 2, 5, 10, 20]) {
      for (const degPerS of [20, 40, 60, 100]) {
        // At 100 degrees a second and one message a second a circle has four messages.
        const circles = hz === 1 && degPerS === 100 ? 2 : 1;
        const { verdict, reason } = reportedIn(encoding, turned(degPerS, circles), calm(hz), 3);
        expect([hz, degPerS, verdict]).toEqual([hz, degPerS, 'degrees']);
        expect(reason).toMatch(
          /^the heading changed by \d+ in one direction within \d+\.\d s, faster than radians can$/,
        );
      }
    }
  });

  it.each(inDegrees)('are proven by the courses of a robot that turns too slowly for that: %s', (encoding) => {
    expect(reportedIn(encoding, tour(5))).toMatchObject({
      verdict: 'degrees',
      reason: expect.stringContaining('6 different courses'),
      doubt: null,
    });
  });

  it('are not proven by one value, however large: unwrapped radians reach it after some turns', () => {
    for (const ori of [0, 0.5, 3.1, -3.14, 6.2, 6.458, 90, -179.9, 359]) {
      const samples = Array.from({ length: 100 }, (_, i) => ({ ori, xM: 0, yM: 0, atMs: 100 * i }));
      expect(judged(samples)).toMatchObject({ verdict: 'not-decided', doubt: null, largest: Math.abs(ori) });
    }
  });

  it('are not proven by a position that is found again, twice, far from its estimate', () => {
    const stand = { kind: 'stand', seconds: 2 } as const;
    const leap = (xM: number): Doing => ({ kind: 'leap', deg: 170, xM, yM: 0, resets: true });
    for (const encoding of [...inRadians, ...inDegrees]) {
      const { verdict } = reportedIn(encoding, [stand, leap(3), stand, leap(-3), stand], calm(10), -50);
      expect(verdict).toBe('not-decided');
    }
  });

  it('are not proven by half a minute of unwrapped radians that arrive all at once', () => {
    const stalls = [{ fromS: 5, seconds: 30 }];
    for (const hz of [1, 5, 10, 20]) {
      const { verdict } = reportedIn('radians unwrapped', turned(100, 12), { ...calm(hz), stalls }, 9);
      expect(verdict).toBe('not-decided');
    }
  });
});

describe('courses', () => {
  /** A robot with one heading, pushed to and fro along an axis that it cannot drive along. */
  const pushed = (ori: number, axis: number) =>
    Array.from({ length: 2_000 }, (_, i) => {
      const along = Math.abs(((i / 10) % 20) - 10) * 0.5;
      return { ori, xM: along * Math.cos(axis), yM: along * Math.sin(axis), atMs: i * 100 };
    });

  it('of a robot pushed to and fro without turning prove nothing and raise no doubt', () => {
    // 90 read as radians points along 2.035, read as degrees along π/2.
    expect(judged(pushed(90, 90 % (2 * Math.PI)))).toMatchObject({ verdict: 'not-decided', doubt: null });
    expect(judged(pushed(90, Math.PI / 2))).toMatchObject({ verdict: 'not-decided', doubt: null });
  });

  it('that fit neither unit are a doubt that names every explanation, and turns on the spot do not end it', () => {
    const sloped = tour(60);
    const quick = { ...calm(10), noiseDeg: 0.5 };
    const start = { deg: 30, turns: 0 };
    const odd: Readonly<Record<string, (deg: number) => number>> = {
      clockwise: (deg) => -deg,
      'from +y': (deg) => deg - 90,
      gradians: (deg) => deg / 0.9,
    };
    for (const [name, encode] of Object.entries(odd)) {
      const driven = samplesOf('degrees unwrapped', start, [...sloped, ...sloped, ...sloped, ...sloped], quick);
      const samples = driven.map((sample) => ({ ...sample, ori: encode(sample.ori) }));
      const { verdict, doubt, misfit } = judged(samples);
      expect([name, verdict, misfit]).toEqual([name, 'not-decided', true]);
      expect(doubt).toMatch(/6 different courses .* neither as degrees nor as radians: .*unit.*clockwise.*along \+x/);
    }
    const slow = samplesOf('radians ±π', start, [...tour(5), ...tour(5), ...tour(5)], quick);
    const clockwise = judged(slow.map((sample) => ({ ...sample, ori: -sample.ori })));
    expect([clockwise.verdict, clockwise.doubt === null]).toEqual(['not-decided', false]);
    const offset = samplesOf('degrees ±180', start, sloped, quick).map((it) => ({ ...it, ori: it.ori + 90 }));
    const turning = samplesOf('degrees ±180', start, turned(60, 3), quick);
    const sound = samplesOf('degrees ±180', start, tour(5), quick);
    expect(judged(offset, turning)).toMatchObject({ verdict: 'not-decided', misfit: true });
    expect(judged(offset, sound)).toMatchObject({ verdict: 'degrees', doubt: null });
    expect(judged(offset, sound).misfit).toBeUndefined();
  });

  it('that fit neither unit do not add up over courses that fit degrees, nor over pushes with one heading', () => {
    const leg = (sinceMs: number, course: number, ori: number): PoseSample[] =>
      Array.from({ length: 21 }, (_, i) => ({
        ori,
        xM: i * 0.05 * Math.cos((course * Math.PI) / 180),
        yM: i * 0.05 * Math.sin((course * Math.PI) / 180),
        atMs: sinceMs + i * 100,
      }));
    const headings = [10, 45, 90, 125, 170, 205, 250, 285, 320, 355];
    const sideways = (count: number) => headings.slice(0, count).map((deg) => leg(0, deg + 60, deg));
    expect(judged(...sideways(5))).toMatchObject({ verdict: 'not-decided', doubt: null });
    expect(judged(...sideways(6))).toMatchObject({ misfit: true });
    expect(judged(...sideways(5), leg(0, 30, 30), ...sideways(5))).toMatchObject({ doubt: null });
    const pushes = headings.map((_, i) => leg(0, (i % 2) * 180 + 60, 120 + (i % 3)));
    expect(judged(...pushes)).toMatchObject({ verdict: 'not-decided', doubt: null });
  });

  it('of a robot in degrees never fail to fit, whatever it does', { tags: 'property' }, () => {
    fc.assert(
      fc.property(motions, fc.constantFrom(...inDegrees), ({ start, doings, delivery }, encoding) => {
        expect(judged(samplesOf(encoding, start, doings, delivery)).misfit).toBeUndefined();
      }),
      { numRuns: runs(500) },
    );
  });

  it('with a constant heading error, as where 0 is not along +x, prove nothing', () => {
    for (const encoding of [...inDegrees, ...inRadians]) {
      const quarter = encoding.startsWith('degrees') ? 90 : Math.PI / 2;
      // So slow that only the courses can decide it.
      const samples = samplesOf(encoding, { deg: 30, turns: 2 }, tour(5), { ...calm(10), noiseDeg: 1 });
      const shifted = samples.map((sample) => ({ ...sample, ori: sample.ori + quarter }));
      expect([encoding, judged(shifted).verdict]).toEqual([encoding, 'not-decided']);
    }
  });
});

describe('radians', () => {
  it.each(['radians ±π', 'radians 0 to 2π'] as const)(
    'are proven by two full turns at 10 and 20 Hz: %s',
    (encoding) => {
      for (const hz of [10, 20]) {
        for (const degPerS of [20, 40, 60, 100, 150]) {
          const { verdict, reason, doubt } = reportedIn(encoding, turned(degPerS, 2), calm(hz), 3);
          expect([hz, degPerS, verdict, doubt]).toEqual([hz, degPerS, 'radians', null]);
          expect(reason).toMatch(/^the heading passed the seam (at ±π|between 2π and 0) 2 times in one direction/);
        }
      }
    },
  );

  it.each(inRadians)('are in doubt after one full turn by hand, never green: %s', (encoding) => {
    for (const hz of [2, 5, 10, 20]) {
      for (const degPerS of [20, 40, 60, 100]) {
        const { verdict, reason, doubt } = reportedIn(encoding, turned(degPerS, 1), calm(hz), 7);
        expect([hz, degPerS, verdict]).toEqual([hz, degPerS, 'not-decided']);
        expect(doubt).toBe(reason);
        expect(doubt).toMatch(/^the heading (passed the seam|changed steadily)/);
      }
    }
  });

  it.each(inRadians)(
    'are proven by six courses and in doubt after two, also when the robot drives backwards: %s',
    (encoding) => {
      for (const hz of [2, 10]) {
        const driven = tour(40);
        const backwards = driven.map((doing): Doing => (doing.kind === 'drive' ? { ...doing, mPerS: -0.6 } : doing));
        for (const doings of [driven, backwards]) {
          expect(reportedIn(encoding, doings, calm(hz), 11)).toMatchObject({
            verdict: 'radians',
            reason: expect.stringContaining('6 different courses in a row that fit its heading read as radians'),
          });
          expect(reportedIn(encoding, doings.slice(0, 10), calm(hz), 11)).toMatchObject({
            verdict: 'not-decided',
            doubt: expect.stringMatching(/^the robot drove \d different courses/),
          });
        }
      }
    },
  );

  it('override degrees proven before, permanently', () => {
    const delivery = calm(10);
    const degrees = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 1), delivery);
    const radians = samplesOf('radians ±π', { deg: 0, turns: 0 }, turned(60, 2), delivery);
    const { verdict, reason } = judged(degrees, radians);
    expect(verdict).toBe('radians');
    expect(reason).toContain('degrees had been considered proven before: the heading changed by');
    expect(judged(radians, degrees)).toMatchObject({ verdict: 'radians', doubt: null });
  });

  it('are reset at a lost connection, when the heading leaves its range, and at a pause too long to follow', () => {
    const start = { deg: 90, turns: 0 };
    const turn: Doing[] = [{ kind: 'turn', seconds: 7.2, degPerS: 100 }];
    const [samples, within] = (['radians ±π', 'radians 0 to 2π'] as const).map((encoding) =>
      samplesOf(encoding, start, turn, calm(10)),
    ) as [PoseSample[], PoseSample[]];
    expect([judged(samples).verdict, judged(within).verdict]).toEqual(['radians', 'radians']);
    for (const half of [10, 30, 36]) {
      expect(judged(samples.slice(0, half), samples.slice(half)).verdict).not.toBe('radians');
    }
    const left = within.map((sample, i) => (i === 36 ? { ...sample, ori: -40 } : sample));
    const paused = within.map((sample, i) => ({ ...sample, atMs: sample.atMs + (i < 36 ? 0 : 4_000) }));
    expect([judged(left).verdict, judged(paused).verdict]).toEqual(['not-decided', 'not-decided']);
  });
});

describe('a turn tracked within one range of radians', () => {
  /** A heading by its number, one sample each `everyMs`, of a robot that does not change its position. */
  const headings = (count: number, everyMs: number, ori: (i: number) => number): PoseSample[] =>
    Array.from({ length: count }, (_, i) => ({ ori: ori(i), xM: 1, yM: 2, atMs: 7_654_321 + i * everyMs }));

  it.each([5, 50, 100, 200])(
    'ends where degrees leave the range: 0.9° a sample, continuously turning, every %i ms',
    (everyMs) => {
      for (const from of [-180, 0]) {
        const wrap = (deg: number) => ((((deg - from) % 360) + 360) % 360) + from;
        const rounds = headings(2_000, everyMs, (i) => wrap(0.45 + 0.9 * i));
        expect(judged(rounds)).toMatchObject({ verdict: expect.stringMatching('degrees|not-decided'), doubt: null });
      }
    },
  );

  it.each([
    [6.7, 0.3, 10],
    [6.8, 1.2, 5],
    [7, 0.9, 20],
    [7.2, 0.6, 10],
  ])('ends where degrees leave the range: corrected by %d repeatedly, drifting by %d a second', (by, perS, hz) => {
    for (const sign of [1, -1]) {
      let at = 0;
      const drifting = headings(40 * hz, 1_000 / hz, () => {
        at += perS / hz;
        if (at > by / 2) at -= by;
        return sign * at;
      });
      expect(judged(drifting).verdict).toBe('not-decided');
    }
  });

  it('ends at a step that no turn can make between two samples, however regularly it recurs', () => {
    for (const step of [2.1, 2.5, 3, -2.5]) {
      const wrapped = headings(400, 100, (i) => Math.atan2(Math.sin(step * i), Math.cos(step * i)));
      expect(judged(wrapped).verdict).not.toBe('radians');
    }
  });
});

describe('a doubt', () => {
  it('is not raised by a robot that is at rest, drives straight on, or turns in degrees', () => {
    for (const hz of [1, 2, 10, 20]) {
      const delivery = { ...calm(hz), noiseDeg: 1 };
      for (const encoding of inDegrees) {
        expect(
          judged(samplesOf(encoding, { deg: 0, turns: 0 }, [{ kind: 'stand', seconds: 60 }], delivery)).doubt,
        ).toBeNull();
        expect(reportedIn(encoding, tour(60), delivery)).toMatchObject({
          verdict: hz < 2 ? expect.stringMatching('degrees|not-decided') : 'degrees',
          doubt: null,
        });
      }
      for (const encoding of inRadians) {
        const atRest = samplesOf(encoding, { deg: 100, turns: 5 }, [{ kind: 'stand', seconds: 60 }], delivery);
        expect(judged(atRest)).toMatchObject({ verdict: 'not-decided', doubt: null });
      }
    }
  });

  it('revokes degrees proven before, and is cleared by degrees proven afterwards', () => {
    const delivery = calm(10);
    const proving = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 1), delivery);
    const doubtful = samplesOf('radians unwrapped', { deg: 0, turns: 4 }, turned(60, 1), delivery);
    expect(judged(proving)).toMatchObject({ verdict: 'degrees', doubt: null });
    expect(judged(proving, doubtful)).toMatchObject({ verdict: 'not-decided', doubt: expect.any(String) });
    expect(judged(proving, doubtful, proving)).toMatchObject({ verdict: 'degrees', doubt: null });
    expect(judged(doubtful, proving)).toMatchObject({ verdict: 'degrees', doubt: null });
  });

  it('is not raised by a robot that creeps by some degrees once the connection has proven degrees', () => {
    const quiet = { ...calm(10), noiseDeg: 0 };
    const creeping: Doing[] = [
      { kind: 'stand', seconds: 1 },
      { kind: 'turn', seconds: 5, degPerS: 2 },
      { kind: 'stand', seconds: 1 },
    ];
    const alone = samplesOf('degrees ±180', { deg: 0, turns: 0 }, creeping, quiet);
    expect(judged(alone)).toMatchObject({ verdict: 'not-decided', doubt: expect.any(String) });
    const doings = [...turned(60, 1), ...creeping];
    const both = samplesOf('degrees ±180', { deg: 0, turns: 0 }, doings, quiet);
    expect(judged(both)).toMatchObject({ verdict: 'degrees', doubt: null });
    const before = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 1), quiet);
    expect(judged(before, alone).doubt).not.toBeNull();
  });

  it('is not ended by a turn that shows degrees proven before, and proves none', () => {
    const before = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 1), calm(10));
    const creeping: Doing[] = [
      { kind: 'stand', seconds: 1 },
      { kind: 'turn', seconds: 5, degPerS: 2 },
      ...turned(60, 1 / 6),
    ];
    const next = samplesOf('degrees ±180', { deg: 0, turns: 0 }, creeping, { ...calm(10), noiseDeg: 0 });
    expect(judged(before, next)).toMatchObject({ verdict: 'not-decided', shown: true, doubt: expect.any(String) });
  });

  it('is none of a heading that leaps, but it has to show degrees again, as over another connection', () => {
    const proving = samplesOf('degrees ±180', { deg: 0, turns: 0 }, turned(60, 1), calm(10));
    const last = proving.at(-1);
    if (last === undefined) throw new Error('no sample');
    const at = (s: number, ori: number) => ({ ...last, atMs: last.atMs + s * 1_000, ori });
    const then = (ori: (s: number) => number) => Array.from({ length: 60 }, (_, n) => at((n + 1) / 10, ori(n / 10)));
    const leaping = [...proving, ...then(() => last.ori + 40)];
    expect(judged(leaping)).toMatchObject({ verdict: 'not-decided', doubt: null });
    // Its turns of before show nothing of the headings since.
    const inRadians = [...proving, ...then((s) => last.ori + 40 + Math.min(s, 1.5))];
    expect(judged(inRadians).verdict).toBe('not-decided');
    expect(judged([...proving, ...then((s) => last.ori + 40 + 30 * s)]).verdict).toBe('degrees');
  });

  it('persists over a lost connection', () => {
    const doubtful = samplesOf('radians 0 to 2π', { deg: 0, turns: 4 }, turned(60, 1), calm(10));
    expect(judged(doubtful, []).doubt).not.toBeNull();
  });
});

describe('samples', () => {
  it('that are not finite numbers are ignored', () => {
    const judge = createUnitJudge();
    const sound = { ori: -1, xM: 0, yM: 0, atMs: 0 };
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, '90' as unknown as number]) {
      expect(judge.add({ ...sound, ori: bad })).toBe(false);
      expect(judge.add({ ...sound, xM: bad })).toBe(false);
    }
    expect(judge.verdict()).toMatchObject({
      verdict: 'not-decided',
      samples: 0,
      largest: null,
      reason: 'no pose was received',
    });
    expect(judge.add(sound)).toBe(true);
    expect(judge.verdict()).toMatchObject({ samples: 1, largest: 1 });
  });
});
