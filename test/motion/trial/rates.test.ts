import { describe, expect, it } from 'vitest';
import { isFull } from '../../properties.ts';
import { conductStopTrial, type Deed, type Delivery, type GeneratedRobot } from './generated-robot.ts';

const SPEEDS = isFull ? [0.02, 0.05, 0.1, 0.35, 1] : [0.05, 0.35];
const LATE_SPEEDS = isFull ? [0.1, 0.35, 1] : [0.35];
/** Of one pose to another, with noise of 1 cm in each. */
const NOISE_M = 0.07;
const ALARM_MS = 3_000;
/** The benchmark conducts a hundred of each. */
const TRIES = isFull ? 3 : 1;
const FEW = isFull ? 2 : 1;

/** Where poses come seldom a fast robot needs a longer way, as the trial tells. */
const wayOf = (speedMS: number, isSeldom: boolean) => (isSeldom && speedMS > 0.5 ? 2 : 1);

async function conducted(robot: Omit<GeneratedRobot, 'seed'>, tries = TRIES) {
  const distanceM = wayOf(robot.speedMS, robot.hz === 1 || robot.delivery !== undefined);
  return Promise.all(Array.from({ length: tries }, (_, seed) => conductStopTrial({ distanceM, ...robot, seed })));
}

describe.each([1, 10])('a stop trial, with %d poses per second and noise of 1 cm', (hz) => {
  it.each(SPEEDS)(
    'verifies a robot of %d m/s that stops, and gives no shorter time than it took',
    { tags: 'property' },
    async (speedMS) => {
      for (const { ended, alarm, restAtMs, cancelAtMs } of await conducted({ deed: 'obeys', speedMS, hz })) {
        expect([ended.outcome, alarm], ended.reason ?? '').toEqual(['verified', null]);
        const [, within] = /at rest within ([\d.]+) s/.exec(ended.facts[0]?.why ?? '') ?? [];
        const tookMs = (restAtMs ?? 0) - (cancelAtMs ?? 0);
        expect(Number(within) * 1_000).toBeGreaterThanOrEqual(tookMs);
        expect(Number(within) * 1_000).toBeLessThan(tookMs + 7_000);
      }
    },
  );

  const dishonest: readonly Deed[] = ['lies', 'refuses'];
  it.each(dishonest.flatMap((deed) => SPEEDS.map((speedMS) => [deed, speedMS] as const)))(
    'never verifies a robot that %s the cancel at %d m/s, and alerts the person in time',
    { tags: 'property' },
    async (deed, speedMS) => {
      for (const { ended, alarm, exceededAtMs, cancelAtMs } of await conducted({ deed, speedMS, hz }, FEW)) {
        expect(cancelAtMs).not.toBeNull();
        expect(ended.outcome).not.toBe('verified');
        expect(alarm?.text).toMatch(/^PRESS THE EMERGENCY STOP/);
        expect(alarm?.atMs).toBeLessThan((exceededAtMs(NOISE_M) ?? 0) + ALARM_MS);
      }
    },
  );

  it.each(
    (isFull ? [0.05, 0.3] : [0.3]).flatMap(
      (speedMS) =>
        [
          ['pauses', speedMS],
          ['coasts', speedMS],
        ] as const,
    ),
  )('never verifies a robot that %s for four seconds at %d m/s', { tags: 'property' }, async (deed, speedMS) => {
    for (const { ended, alarm } of await conducted({ deed, speedMS, hz }, FEW)) {
      expect(ended.outcome).not.toBe('verified');
      if (deed === 'coasts') continue;
      expect(ended.outcome).toBe('contradicted');
      expect(alarm?.text).toMatch(/^PRESS THE EMERGENCY STOP/);
    }
  });

  const pauses = isFull ? Array.from({ length: 24 }, (_, at) => 5_000 + at * 750) : [6_000, 9_000, 11_000, 13_000];
  it('never verifies beside an alarm, and records nothing of a robot that has driven off', {
    tags: 'property',
  }, async () => {
    for (const pauseMs of pauses) {
      for (const found of await conducted({ deed: 'pauses', speedMS: 0.3, hz, pauseMs, distanceM: 1 }, FEW)) {
        const { ended, report, alarm, disobeyed, keptAfterM } = found;
        if (alarm !== null) {
          expect([ended.outcome, report.outcome], `${pauseMs} ms`).not.toContain('verified');
          expect(report.facts.filter(({ verdict }) => verdict === 'holds')).toEqual([]);
          expect(disobeyed, 'the stop is latched').not.toBeNull();
        }
        if (ended.outcome === 'verified') expect(keptAfterM, `${pauseMs} ms`).toBeLessThan(0.3);
      }
    }
  });

  it('never verifies a robot that spins in place, whatever the unit of its heading', {
    tags: [hz > 1 ? 'large' : 'property'],
  }, async () => {
    const rad = Math.PI / 180;
    for (const [unit, scale] of [
      ['degrees', 1],
      ['radians', rad],
      ['not-decided', 1],
      ['not-decided', rad],
    ] as const) {
      const spin = { oriPerS: 15 * scale, noiseOri: 0.3 * scale };
      const robots = await conducted({ deed: 'spins', speedMS: 0.3, hz, unit, ...spin }, FEW);
      for (const { ended, alarm } of robots) {
        expect(ended.outcome, unit).not.toBe('verified');
        expect(alarm?.text, unit).toMatch(/^PRESS THE EMERGENCY STOP/);
      }
    }
  });

  it('verifies a robot that stops while the unit of its heading is not decided, with noise of half a degree', {
    tags: 'property',
  }, async () => {
    const robots = await conducted({ deed: 'obeys', speedMS: 0.3, hz, unit: 'not-decided', noiseOri: 0.5 }, FEW);
    for (const { ended } of robots) expect(ended.outcome, ended.reason ?? '').toBe('verified');
  });
});

const LATE = /poses arrived in bunches, up to \d\.\d s late/;

/** Nothing else has changed: the robot does what the others of its kind do, and only its poses are late. */
describe.each<Delivery>([
  { everyMs: 700, heldMs: 600, apartMs: 0 },
  { everyMs: 3_000, heldMs: 600, apartMs: 45 },
  { everyMs: 1_500, heldMs: 900, apartMs: 30 },
])(
  'a stop trial whose poses, of each $everyMs ms, are held back for $heldMs ms and arrive $apartMs ms apart',
  (delivery) => {
    it.each(LATE_SPEEDS)(
      'contradicts no robot of %d m/s that stops, and raises no alarm',
      { tags: 'property' },
      async (speedMS) => {
        for (const { ended, alarm } of await conducted({ deed: 'obeys', speedMS, hz: 10, delivery })) {
          const why = ended.facts[0]?.why ?? ended.reason ?? '';
          expect(alarm, why).toBeNull();
          if (ended.outcome !== 'verified')
            expect([ended.outcome, why]).toEqual(['not-decided', expect.stringMatching(LATE)]);
        }
      },
    );

    const dishonest: readonly Deed[] = ['lies', 'coasts', 'pauses'];
    it.each(dishonest.flatMap((deed) => LATE_SPEEDS.map((speedMS) => [deed, speedMS] as const)))(
      'never verifies a robot that %s at %d m/s, and alerts the person',
      { tags: 'property' },
      async (deed, speedMS) => {
        for (const { ended, alarm, exceededAtMs } of await conducted({ deed, speedMS, hz: 10, delivery })) {
          expect(ended.outcome).not.toBe('verified');
          expect(alarm?.text).toMatch(/^PRESS THE EMERGENCY STOP/);
          const setsOutMs = deed === 'pauses' ? 4_000 : 0;
          const dueMs = (exceededAtMs(NOISE_M) ?? 0) + setsOutMs + ALARM_MS + delivery.heldMs;
          expect(alarm?.atMs).toBeLessThan(dueMs);
        }
      },
    );
  },
);
