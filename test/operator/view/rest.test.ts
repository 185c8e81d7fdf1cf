import { describe, expect, it } from 'vitest';
import { type ChassisSnapshot, judgeAfterStop, judgeStanding } from '../../../src/lib/chassis/index.ts';
import { createRest } from '../../../src/lib/operator/view/rest.ts';
import { posesOf, type Robot } from '../../chassis/poses.ts';
import { freeMotion, snapshotWith, tried } from '../stand-ins.ts';

const connected = snapshotWith({ kind: 'connected', tried });
type Unit = 'degrees' | 'not-decided';

/** It drives at 0.5 m/s, is cancelled after 9.5 s, brakes, and then does what is said. */
const stopping = (more: Partial<Robot>): Robot => ({
  ...{ hz: 10, seconds: 45, noiseM: 0.01, noiseOri: 0.5 },
  xM: (s) => (s < 9.5 ? 0.5 * s : s < 10.33 ? 4.75 + 0.5 * (s - 9.5) - 0.3 * (s - 9.5) ** 2 : 4.958),
  ...more,
});

/** Verdicts of the poses alone, and what people are shown, each 100 ms from the proof of the stop on. */
function watch(robot: Robot, unit: Unit) {
  const all = posesOf(robot);
  const rest = createRest();
  const seen: { readonly s: number; readonly judged: string; readonly shown: string }[] = [];
  for (let tick = 96; tick < robot.seconds * 10; tick += 1) {
    const nowMs = tick * 100;
    const poses = all.filter(({ atMs }) => atMs <= nowMs && atMs > nowMs - 30_000);
    if (seen.length === 0) {
      const proof = judgeAfterStop({ poses, nowMs, unit, acknowledgedAtMs: 9_550, orderedAtMs: 0 });
      if (proof.verdict !== 'stands') continue;
    }
    const snapshot: ChassisSnapshot = { ...connected, poses, poseUnit: { ...connected.poseUnit, verdict: unit } };
    const { verdict, reason } = judgeStanding({ poses, nowMs, unit });
    const shown = rest(snapshot, { verdict, reason, isOwed: false });
    seen.push({ s: tick / 10, judged: verdict, shown: shown.verdict });
  }
  return seen;
}

const seeds = Array.from({ length: 12 }, (_, at) => at + 1);

describe('a rest that was proven', () => {
  it.each<[string, Partial<Robot>, Unit]>([
    ['3 cm and a degree at 1 Hz', { hz: 1, noiseM: 0.03, noiseOri: 1 }, 'degrees'],
  ])('holds while the robot stays, whatever its noise of %s leaves open', (_what, robot, unit) => {
    const all = seeds.flatMap((seed) => watch(stopping({ ...robot, seed }), unit));
    expect(all.length).toBeGreaterThan(2_000);
    // Without it the same poses are not known to stand for seconds.
    expect(all.filter(({ judged }) => judged === 'not-known').length).toBeGreaterThan(5);
    expect(all.filter(({ judged, shown }) => judged === 'not-known' && shown !== 'stands')).toEqual([]);
  });

  it.each<[string, Partial<Robot>, Unit, number]>([
    ['creeps at 0.04 m/s', { xM: (s) => (s < 30 ? 0 : 0.04 * (s - 30)) }, 'degrees', 3],
    ['drives at 0.2 m/s', { xM: (s) => (s < 30 ? 0 : 0.2 * (s - 30)) }, 'degrees', 1],
    ['turns by 5 degrees a second', { ori: (s) => (s < 30 ? 45 : 45 + 5 * (s - 30)) }, 'degrees', 2],
    [
      'turns by 15 degrees a second in radians',
      { ori: (s) => (s < 30 ? 0.5 : 0.5 + 0.26 * (s - 30)), noiseOri: 0.01 },
      'not-decided',
      1,
    ],
  ])('ends where the robot %s', (_what, robot, unit, withinS) => {
    for (const seed of seeds) {
      const late = watch({ hz: 10, seconds: 45, noiseM: 0.01, noiseOri: 0.5, seed, ...robot }, unit).filter(
        ({ s, shown }) => s > 30 + withinS && shown === 'stands',
      );
      expect([seed, late]).toEqual([seed, []]);
    }
  });

  const standing = { ...freeMotion.standstill, verdict: 'stands' } as const;
  const open = { verdict: 'not-known', reason: 'x', isOwed: false } as const;
  const poses = posesOf({ hz: 10, seconds: 10, noiseM: 0.01 });
  const at = { ...connected, poses };

  it.each<
    [
      string,
      Partial<ChassisSnapshot>,
      typeof open | { verdict: 'moves' | 'drives-on'; reason: string; isOwed: boolean },
    ]
  >([
    ['the poses speak for a movement', {}, { ...open, verdict: 'moves' }],
    ['the robot does not obey', {}, { ...open, verdict: 'drives-on' }],
    ['a new cancel is not proven', {}, { ...open, isOwed: true } as never],
    ['the chassis is not connected', { link: { kind: 'not-connected', failure: 'cut', detail: 'x', tried } }, open],
    ['no pose is current', { values: { ...connected.values, pose: { status: 'not-received' } } }, open],
    ['it is somewhere else', { poses: posesOf({ hz: 10, seconds: 10, xM: () => 0.2 }) }, open],
    ['it has another heading', { poses: posesOf({ hz: 10, seconds: 10, ori: () => 51 }) }, open],
    ['it has no pose', { poses: [] }, open],
  ])('does not hold where %s, nor from then on', (_what, change, judged) => {
    const rest = createRest();
    rest(at, standing);
    expect(rest(at, open).verdict).toBe('stands');
    expect(rest({ ...at, ...change }, judged)).toBe(judged);
    expect(rest(at, open)).toBe(open);
  });

  it('is none before it was proven', () => expect(createRest()(at, open)).toBe(open));
});
