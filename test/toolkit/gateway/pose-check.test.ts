import { describe, expect, it } from 'vitest';
import { checkPose } from '../../../src/lib/toolkit/gateway/pose-check.ts';
import { eachTest, verdictsOf } from '../kit.ts';
import { context, type FakeOperator, type FakePose, startFakeOperator } from '../operator/fake-operator.ts';

const options = { password: 'correct horse' };

/** A chassis that applies `takes` to a pose. */
function robotAtRest(fake: FakeOperator, at: FakePose, apply: (set: FakePose) => FakePose = (set) => set): FakePose[] {
  const wishes: FakePose[] = [];
  let now = at;
  fake.pose = () => now;
  fake.override = ({ method, url }, body) => {
    if (method !== 'POST' || url !== '/api/pose') return undefined;
    const wish = JSON.parse(body) as FakePose;
    wishes.push(wish);
    now = apply(wish);
    return [200, { outcome: { state: 'succeeded', reason: null } }];
  };
  return wishes;
}

let fake: FakeOperator;
eachTest(startFakeOperator, (one) => {
  fake = one;
});

describe('the pose read-back', () => {
  it('sets another heading at the same place, reads it back, and restores the original pose', async () => {
    const wishes = robotAtRest(fake, { xM: 1, yM: -2, yawDeg: 10 });
    const result = await checkPose(fake.toolkit, options, context());
    expect(verdictsOf(result.findings)).toEqual({ 'read-back': 'ok', restored: 'ok' });
    expect(result.findings[0]?.title).toContain('1.5708');
    expect(wishes).toEqual([
      { xM: 1, yM: -2, yawDeg: 90 },
      { xM: 1, yM: -2, yawDeg: 10 },
    ]);
  });

  it('chooses a heading other than the current one', async () => {
    const wishes = robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 88 });
    expect((await checkPose(fake.toolkit, options, context())).set.yawDeg).toBe(-90);
    expect(wishes).toHaveLength(2);
  });

  it.each([
    ['the chassis reports radians', (set: FakePose) => ({ ...set, yawDeg: (set.yawDeg * Math.PI) / 180 })],
    ['the chassis reports gradians', (set: FakePose) => ({ ...set, yawDeg: set.yawDeg / 0.9 })],
    ['the pose changes nothing', () => ({ xM: 0, yM: 0, yawDeg: 10 })],
    ['the place is another one', (set: FakePose) => ({ ...set, xM: set.xM + 1 })],
  ])('is wrong where %s, although the gateway reports success', async (_, apply) => {
    robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 10 }, apply);
    const { findings } = await checkPose(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toMatchObject({ 'read-back': 'wrong' });
  });

  it('is refused where the poses show a movement, although the chassis says idle', async () => {
    const wishes = robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 10 });
    fake.standing = () => ({ verdict: 'moves', reason: 'it moves at 0.10 m/s' });
    await expect(checkPose(fake.toolkit, options, context())).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
      message: expect.stringContaining('it moves at 0.10 m/s'),
    });
    expect(wishes).toEqual([]);
  });

  it('restores the pose also where the gateway refuses until it knows again that the robot stands', async () => {
    const wishes = robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 10 });
    const sets = fake.override;
    let setAtMs: number | null = null;
    fake.override = (request, body) => {
      if (request.method !== 'POST' || request.url !== '/api/pose') return undefined;
      if (setAtMs !== null && fake.nowMs() < setAtMs + 5_000) {
        return [409, { error: { code: 'MOTION_REFUSED', message: 'whether it stands is not known' } }];
      }
      setAtMs ??= fake.nowMs();
      return sets(request, body);
    };
    const { findings } = await checkPose(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toEqual({ 'read-back': 'ok', restored: 'ok' });
    expect(wishes.at(-1)).toEqual({ xM: 0, yM: 0, yawDeg: 10 });
  });

  it('is not checked where no pose is received afterwards, and reports that the pose is lost', async () => {
    robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 10 });
    const pose = fake.pose;
    fake.pose = (ms) => (fake.requests.includes('POST /api/pose') ? null : pose(ms));
    const { findings } = await checkPose(fake.toolkit, options, context());
    expect(verdictsOf(findings)).toEqual({ 'read-back': 'not-checked', restored: 'wrong' });
    expect(findings[1]?.remedy).toContain('0.00 m, 0.00 m, 10.0°');
  });

  it('sets nothing while the robot drives, nor without an original pose to restore', async () => {
    const wishes = robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 10 });
    fake.moveState = () => 'moving';
    await expect(checkPose(fake.toolkit, options, context())).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    fake.moveState = () => 'idle';
    fake.pose = () => null;
    await expect(checkPose(fake.toolkit, options, context())).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    expect(wishes).toEqual([]);
  });

  it('restores the original pose when it is interrupted between the two', async () => {
    const ending = new AbortController();
    const wishes = robotAtRest(fake, { xM: 0, yM: 0, yawDeg: 10 }, () => {
      ending.abort(new Error('interrupted'));
      return { xM: 0, yM: 0, yawDeg: 0 };
    });
    const running = checkPose(fake.toolkit, options, { ...context(), signal: ending.signal });
    await expect(running).rejects.toThrow('interrupted');
    expect(wishes.at(-1)).toEqual({ xM: 0, yM: 0, yawDeg: 10 });
  });
});
