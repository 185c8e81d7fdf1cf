import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import type { PoseSample, PoseUnit } from '../../src/lib/chassis/index.ts';
import { chosen } from '../../src/lib/evidence/index.ts';
import { judgeArrival } from '../../src/lib/motion/arrival.ts';
import { moves as moving, standingNotKnown } from '../chassis/poses.ts';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { ground, readySnapshot, received, withValues } from './snapshot.ts';
import { time } from './time.ts';

const sample = (over: Partial<PoseSample> = {}): PoseSample => ({ xM: 1, yM: 2, ori: 90, atMs: 2_000, ...over });
/** At rest at x 1 m, y 2 m, 90 degrees, with a pose since the end of the move. */
const atRest = readySnapshot({ poses: [sample()] });
const seen = (snapshot = atRest, unit: PoseUnit = 'degrees') => ({ snapshot, unit, endedAtMs: 1_000 });
const onMap = (other: object) =>
  received({ name: ground.title, uid: ground.uid as string, mapVersion: 3, overlaysVersion: 1, ...other });
const dock = (xM: number, yM: number, yawDeg: number) =>
  ({ kind: 'dock', goal: chosen({ xM, yM, yawDeg: degrees(yawDeg), map: ground }, 'test') }) as const;

describe('the arrival', () => {
  it.each([
    ['at the goal', moveTo(1.2, 2.2, 92), 'at-goal', 0.28, 2],
    ['over the seam of a full turn', moveTo(1, 2, -273), 'at-goal', 0, 3],
    ['at a goal without a heading', moveTo(1, 2), 'at-goal', 0, null],
    ['beside the goal', moveTo(1.31, 2, 90), 'elsewhere', 0.31, 0],
    ['at the goal in another heading', moveTo(1, 2, 96), 'elsewhere', 0, 6],
    ['at the goal in radians', moveTo(1, 2, 1.57), 'elsewhere', 0, 88.4],
    ['at the dock, which was measured by hand', dock(1.2, 2.2, 108), 'at-goal', 0.28, 18],
    ['in front of the dock', dock(1, 1, 90), 'elsewhere', 1, 0],
    ['at the dock with its back to it', dock(1, 2, -90), 'elsewhere', 0, 180],
  ] as const)('%s', (_where, order, verdict, distanceM, turnDeg) => {
    const arrival = judgeArrival(order, seen());
    expect(arrival).toMatchObject({ verdict, pose: { xM: 1, yM: 2, yawDeg: 90 } });
    expect(arrival.distanceM).toBeCloseTo(distanceM, 2);
    if (turnDeg === null) expect(arrival.turnDeg).toBeNull();
    else expect(arrival.turnDeg).toBeCloseTo(turnDeg, 1);
  });

  const stalePose = received({ xM: 1, yM: 2, yawDeg: degrees(90) }, { stale: true });
  const tried = { address: '127.0.0.1', port: 8090 };
  const silent = { kind: 'not-connected', failure: 'silent', detail: 'no data', tried } as const;
  it.each([
    ['the robot moves, whatever it reports', { ...atRest, standing: moving }, 'moves', /it moves at 0.10 m\/s/],
    ['its standing is not known', { ...atRest, standing: standingNotKnown }, 'not-known', /no pose was received/],
    ['no pose is newer', { ...atRest, poses: [sample({ atMs: 1_000 })] }, 'not-known', /no pose was received since/],
    ['the chassis is not connected', { ...atRest, link: silent }, 'not-known', /not connected/],
    [
      'its pose is stale',
      { ...atRest, values: withValues({ pose: stalePose }).values },
      'not-known',
      /no current pose/,
    ],
    [
      'it is on another map, at the same coordinates',
      { ...atRest, values: withValues({ map: onMap({ uid: 'map-first', name: 'First floor' }) }).values },
      'not-known',
      /on the map 'First floor'/,
    ],
    [
      'its map has changed',
      { ...atRest, values: withValues({ map: onMap({ mapVersion: 4 }) }).values },
      'not-known',
      /version 3, now 4/,
    ],
    ['its angles contradict the measured unit', { ...atRest, unitContradicted: true }, 'not-known', /angles/],
  ] as const)('is never at the goal while %s', (_what, snapshot, verdict, why) => {
    for (const order of [moveTo(1, 2), moveTo(1, 2, 90), moveTo(50, 50)]) {
      expect(judgeArrival(order, seen(snapshot))).toMatchObject({ verdict, reason: expect.stringMatching(why) });
    }
  });
});

describe('a robot that reports success', () => {
  rig.eachHasBench(() => ({ file: { dock: { xM: 7, yM: 8, yawDeg: -90 } } }));
  const start = async (run: Promise<unknown> = rig.motion.startTour('round')) => {
    await run;
    await rig.ordered();
  };

  it('has each station compared by its pose at rest, and only then gets the next order', async () => {
    await start();
    rig.succeed();
    await time.sleep(1_500);
    expect([rig.moves().length, rig.tour()?.state, rig.tour()?.at]).toEqual([1, 'running', 0]);
    for (const leg of [2, 3]) {
      await rig.ordered(leg);
      rig.succeed();
    }
    await rig.tourEnded();
    expect(rig.tour()?.outcomes.map(({ arrival }) => arrival?.verdict)).toEqual(['at-goal', 'at-goal', 'at-goal']);
    const goal = { xM: 3, yM: 4, yawDeg: 90 };
    expect(rig.tour()?.outcomes[1]?.arrival).toMatchObject({ goal, distanceM: 0, turnDeg: 0 });
    expect(rig.cancels()).toBe(0);
  });

  it('one metre beside an intermediate station ends the tour there, with the distance', async () => {
    rig.chassis.arrives = false;
    await start();
    rig.chassis.pose = { pos: [1, 3], ori: 90 };
    rig.succeed();
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({
      ...{ state: 'failed', at: 0, outcomes: [{ state: 'failed', arrival: { verdict: 'elsewhere', distanceM: 1 } }] },
      reason: expect.stringMatching(/On the way to A: .*reports success, but the robot stands 1\.00 m from the goal/),
    });
    expect(rig.moves()).toHaveLength(1);
  });

  it('and drives on is cancelled, gets no further order, and counts as an unowned move while it reports one', async () => {
    rig.drifts(0.02);
    await start();
    rig.succeed();
    await rig.tourEnded();
    expect(rig.tour()).toMatchObject({
      ...{ state: 'failed', at: 0, outcomes: [{ state: 'unknown' }] },
      reason: expect.stringMatching(/reports success, but the robot still moves: it moves at 0\.20 m\/s/),
    });
    expect(rig.moves()).toHaveLength(1);
    expect(rig.cancels()).toBeGreaterThan(0);
    rig.chassis.plan({ move_state: 'moving' });
    await until(() => rig.status().unownedMove !== null);
  });

  it('and rolls on to its goal has arrived once it stands there', async () => {
    rig.chassis.arrives = false;
    rig.chassis.pose = { pos: [-0.2, 2], ori: 180 };
    rig.drifts(0.03);
    const { ended } = await rig.begin(moveTo(1, 2, 180));
    rig.succeed();
    await until(() => (rig.chassis.pose?.pos[0] ?? 0) >= 0.99);
    rig.drifts(0);
    expect(await ended).toMatchObject({ state: 'succeeded', arrival: { verdict: 'at-goal' } });
    expect(rig.cancels()).toBe(0);
  });

  it('and no pose afterwards is not at its goal', async () => {
    await start(rig.motion.startDrive({ station: 'A' }));
    rig.chassis.pose = null;
    rig.succeed();
    await rig.driveEnded();
    const outcome = { state: 'unknown', arrival: { verdict: 'not-known' } };
    expect(rig.drive()).toMatchObject({ state: 'failed', outcome });
    expect(rig.cancels()).toBeGreaterThan(0);
  });

  it('in front of the dock has not docked', async () => {
    rig.chassis.arrives = false;
    await start(rig.motion.startDrive({ dock: true }));
    rig.chassis.pose = { pos: [7, 7], ori: -90 };
    rig.succeed();
    await rig.driveEnded();
    expect(rig.drive()).toMatchObject({
      state: 'failed',
      reason: expect.stringMatching(/stands 1\.00 m from the dock/),
    });
  });

  it.each([
    ['before it was compared, away from its goal, is cancelled once it stands', false, 0, 'cancelled'],
    ['before it was compared, at its goal, has succeeded once it stands', true, 0, 'succeeded'],
    ['while it moves is not known to be cancelled', true, 0.02, 'unknown'],
  ] as const)('and is ended %s', async (_what, isAtGoal, driftM, state) => {
    rig.chassis.arrives = isAtGoal;
    rig.drifts(driftM);
    const ending = new AbortController();
    const { ended } = await rig.begin(moveTo(3, 4), ending.signal);
    rig.succeed();
    await time.sleep(500);
    ending.abort(new Error('aborted by the technician'));
    const outcome = await ended;
    expect(outcome).toMatchObject({ state });
    expect(rig.cancels()).toBeGreaterThan(0);
    if (state === 'unknown') expect(outcome.reason).toMatch(/aborted by the technician.* still moves/);
  });
});
