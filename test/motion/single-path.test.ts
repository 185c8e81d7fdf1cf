import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { facts, known, marks } from '../../src/lib/evidence/index.ts';
import type { Order } from '../../src/lib/motion/index.ts';
import { runs } from '../properties.ts';
import { moveTo, startBench, until } from './bench.ts';
import { startScriptedChassis } from './scripted-chassis.ts';
import { recordsFor, SERIAL, SOFTWARE } from './snapshot.ts';

const place = { xM: 3, yM: 4, yawDeg: degrees(90) };

describe('the single path to movement', () => {
  it('passes no assumed, open or unverified value to the chassis, in any form', { tags: 'property' }, async () => {
    await using chassis = await startScriptedChassis();
    await using bench = await startBench(chassis);
    const kind = fc.constantFrom('move', 'dock', 'pose');
    const forbidden = fc.constantFrom(...marks.filter((mark) => mark !== 'BELEGT'));
    const forged = fc
      .record({ kind, mark: fc.oneof(forbidden, fc.anything()), serial: fc.string(), software: fc.string() })
      .filter(({ mark }) => mark !== 'BELEGT' && mark !== 'CHOSEN')
      .map(({ kind, ...carried }) => {
        const goal = { ...carried, value: place, source: 'test' };
        return { kind, goal, pose: goal } as unknown as Order;
      });
    // Every VORSICHT or OFFEN fact of the ledger, used as a goal.
    const assumed = facts
      .filter(({ mark }) => mark === 'VORSICHT' || mark === 'OFFEN')
      .map(
        ({ mark, basis, source }) => ({ kind: 'move', goal: known(place, mark, basis, source) }) as unknown as Order,
      );
    expect(assumed.length).toBeGreaterThan(0);
    for (const order of assumed) {
      await expect(bench.motion.execute(order)).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    }
    await fc.assert(
      fc.asyncProperty(forged, async (order) => {
        await expect(bench.motion.execute(order)).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
      }),
      { numRuns: runs(300) },
    );
    expect(chassis.orders).toEqual([]);
  });

  it('stays closed while a fact that the order relies on is not verified on this device', async () => {
    await using chassis = await startScriptedChassis();
    for (const missing of recordsFor().map(({ fact }) => fact)) {
      if (missing === 'vendor.move.charge-target' || missing === 'vendor.pose.request') continue;
      const evidence = recordsFor().filter(({ fact }) => fact !== missing);
      await using bench = await startBench(chassis, { evidence });
      await expect(bench.motion.execute(moveTo(3, 4))).rejects.toThrow(missing);
    }
    for (const evidence of [[], recordsFor('OTHER-9'), recordsFor(SERIAL, `${SOFTWARE}-next`)]) {
      await using bench = await startBench(chassis, { evidence });
      await expect(bench.motion.startTour('round')).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    }
    expect(chassis.orders).toEqual([]);
  });

  it('stays closed for a chassis with another serial number', async () => {
    await using chassis = await startScriptedChassis();
    chassis.serial = 'OTHER-9';
    await using bench = await startBench({ host: chassis.host, port: chassis.port }, { connect: false });
    await until(() => bench.link.snapshot().link.kind === 'not-connected');
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toMatchObject({ code: 'CHASSIS_WRONG_DEVICE' });
    expect(chassis.orders).toEqual([]);
  });

  it('closes when the chassis is found to report radians, also during a move, and stays closed', async () => {
    await using chassis = await startScriptedChassis();
    await using bench = await startBench(chassis);
    const moving = bench.motion.execute(moveTo(3, 4));
    await until(() => chassis.orders.length === 1);
    let turn = 0;
    chassis.beforePose = () => {
      turn += 0.4;
      chassis.pose = { pos: [1, 2], ori: ((turn + Math.PI) % (2 * Math.PI)) - Math.PI };
    };
    await until(() => bench.link.snapshot().unitContradicted);
    chassis.beforePose = () => {};
    expect(await moving).toMatchObject({
      state: 'cancelled',
      reason: expect.stringMatching(/angles\.tracked-pose-ori/),
    });
    chassis.pose = { pos: [1, 2], ori: 170 };
    await until(() => {
      const { pose } = bench.link.snapshot().values;
      return pose.status === 'received' && pose.value.yawDeg === 170;
    });
    await expect(bench.motion.execute(moveTo(3, 4))).rejects.toThrow(/angles\.tracked-pose-ori/);
    expect(chassis.orders.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });
});
