import { describe, expect, it } from 'vitest';
import { moveTo, until } from './bench.ts';
import * as rig from './each-bench.ts';
import { recordsFor, SERIAL, SOFTWARE } from './snapshot.ts';

/** That the heading is reported in degrees was verified on this device, with this software. */
const verified = {
  ...{ fact: 'angles.tracked-pose-ori', value: 'degrees', serial: SERIAL, software: SOFTWARE },
  ...{ how: 'driven and watched', who: 'test', when: '2026-01-31T12:00:00Z' },
};

/** From here on the heading, as the chassis counts it, grows by so much per message; ten messages a second. */
function turns(perMessage: number, circle = Number.POSITIVE_INFINITY): void {
  rig.chassis.beforePose = () => {
    if (rig.chassis.pose === null) return;
    const ori = rig.chassis.pose.ori + perMessage;
    rig.chassis.pose = { ...rig.chassis.pose, ori: ori > circle / 2 ? ori - circle : ori };
  };
}

describe('degrees that were verified once, on a connection that does not show them', () => {
  rig.eachHasBench(() => ({ isUnitOpen: true, evidence: [...recordsFor(), verified] }));

  it.each([15, 25, 40])(
    'a robot in radians that turns at %d°/s after its cancel is not seen to stand',
    async (degPerS) => {
      rig.chassis.pose = { pos: [1, 2], ori: 0.4 };
      const { ended } = await rig.begin(moveTo(3, 2));
      turns((degPerS * Math.PI) / 1_800, 2 * Math.PI);
      await rig.stop();
      await ended;
      const seen = new Set<string>();
      using _watching = rig.motion.subscribe(() => void seen.add(rig.status().standstill.verdict));
      await until(() => rig.status().standstill.verdict === 'drives-on');
      expect(seen).not.toContain('stands');
      expect(rig.status().gate.open).toBe(false);
    },
  );

  it.each([0.9, -2.1, 3])('a heading of 0 is not matched by %d, which may be radians', async (ori) => {
    rig.chassis.arrives = false;
    rig.chassis.pose = { pos: [1, 2], ori };
    const { ended } = await rig.begin(moveTo(1, 2, 0));
    rig.succeed();
    expect(await ended).toMatchObject({
      state: 'unknown',
      arrival: {
        verdict: 'not-known',
        isAtPlace: true,
        isAtHeading: null,
        reason: expect.stringContaining('not shown over'),
      },
    });
  });

  it('a place without a heading, and a heading that fits in both units, are reached', async () => {
    rig.chassis.arrives = false;
    rig.chassis.pose = { pos: [1, 2], ori: 0.02 };
    for (const goal of [moveTo(1, 2), moveTo(1, 2, 0)]) {
      const { ended } = await rig.begin(goal);
      rig.succeed();
      expect(await ended).toMatchObject({ state: 'succeeded', arrival: { verdict: 'at-goal' } });
    }
  });

  it('a turn that only degrees explain shows them, and the heading counts', async () => {
    rig.chassis.arrives = false;
    const { ended } = await rig.begin(moveTo(1, 2, 130));
    turns(4);
    await until(() => (rig.chassis.pose?.ori ?? 0) >= 130);
    turns(0);
    rig.succeed();
    expect(await ended).toMatchObject({ state: 'succeeded', arrival: { verdict: 'at-goal' } });
  });
});
