import { describe, expect, it } from 'vitest';
import { chosenPose, frameNow } from '../../src/lib/motion/index.ts';
import { demoMap } from '../../src/lib/sim/chassis/floor/floor.ts';
import { type FaultName, startSim } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { isFull } from '../properties.ts';
import { moveTo, startBench, until } from './bench.ts';
import { recordsFor } from './snapshot.ts';

/** A simulated robot whose deeds differ from its words, on a clock that a busy machine does not shorten. */
async function world(options: { speedMS?: number; poseMs?: number; faults?: readonly FaultName[] }) {
  const { faults = [], ...how } = options;
  await using stack = new AsyncDisposableStack();
  const clock = createPacedClock();
  const sim = stack.use(await startSim({ clock, ...how }));
  const evidence = recordsFor(sim.chassis.serial, sim.chassis.software);
  const bench = stack.use(await startBench(sim.chassis, { clock, evidence, file: { maps: { ground: demoMap } } }));
  for (const fault of faults) sim.setFault(fault, true);
  const all = stack.move();
  const { motion } = bench;
  const status = () => motion.status();
  return {
    ...{ sim, bench, motion, clock, status },
    /** Until the standstill is so. */
    is: (verdict: string) => until(() => status().standstill.verdict === verdict),
    /** Orders a move ahead and waits until the robot drives, and its speed is known from its poses. */
    async drive(signal?: AbortSignal): Promise<{ readonly ended: Promise<unknown> }> {
      const { xM, yM, yawRad } = sim.state();
      const ended = motion.execute(
        moveTo(xM + 2 * Math.cos(yawRad), yM + 2 * Math.sin(yawRad), undefined, demoMap),
        signal,
      );
      await until(() => sim.state().speedMS !== 0);
      await clock.sleep(1_000);
      return { ended };
    },
    stop: () => motion.stopRobot('person in the way', 'test'),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

describe('a robot that acknowledges the cancel and drives on', () => {
  const slower = isFull
    ? ([
        ['cancel-lies', 0.05],
        ['cancel-lies', 0.6],
        ['cancel-ignored', 0.1],
      ] as const)
    : [];
  it.each([...slower, ['cancel-lies', 0.1], ['coasting', 0.3], ['cancel-refused', 0.3]] as const)(
    '%s at %d m/s: never stands, alarm, gate closed, cancelled again',
    { tags: 'property' },
    async (fault, speedMS) => {
      await using here = await world({ speedMS, faults: [fault] });
      const { clock, sim, status } = here;
      const moving = await here.drive();
      await here.stop();
      const stoppedAtMs = clock.monotonicMs();
      const forMs = () => clock.monotonicMs() - stoppedAtMs;
      const wasAt = sim.state();
      let alarmAfterMs: number | null = null;
      while (forMs() < 8_000 && sim.state().speedMS !== 0) {
        const { standstill, gate } = status();
        expect([standstill.verdict, gate.open]).not.toEqual(['stands', false]);
        expect(gate.open).toBe(false);
        if (standstill.verdict === 'drives-on') alarmAfterMs ??= forMs();
        await clock.sleep(100);
      }
      const wayM = Math.hypot(sim.state().xM - wasAt.xM, sim.state().yM - wasAt.yM);
      expect(wayM).toBeGreaterThan(0.15);
      // The way exceeds 7 cm, the noise of two poses, after this time.
      expect(alarmAfterMs).toBeLessThan(3_000 + (0.07 / speedMS) * 1_000);
      await moving.ended;
    },
  );

  it('opens the gate to no order, and its stop cannot be cleared, until it was seen to stand', async () => {
    await using here = await world({ speedMS: 0.1, faults: ['cancel-lies'] });
    const { bench, motion, sim, status } = here;
    const moving = await here.drive();
    await here.stop();
    await here.is('drives-on');
    await expect(motion.clearStop('technician')).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
      message: expect.stringMatching(/^The stop stays latched: THE ROBOT DOES NOT STOP .* PRESS THE EMERGENCY STOP\./),
    });
    const { stop, gate } = status();
    expect(stop).toMatchObject({ latched: true, reason: 'person in the way', disobeyed: expect.any(String) });
    expect(gate.reasons.join()).toMatch(/THE ROBOT DOES NOT STOP .* PRESS THE EMERGENCY STOP\./);
    await expect(motion.execute(moveTo(1, 1, undefined, demoMap))).rejects.toMatchObject({
      code: 'MOTION_STOPPED',
    });
    sim.setFault('emergency-stop', true);
    await until(() => sim.state().speedMS === 0);
    await bench.stands();
    sim.setFault('emergency-stop', false);
    await moving.ended;
    // It stands, and it is known not to stop: a person decides, also after a restart.
    await until(() => status().stop.saved === true);
    await motion.stop();
    const again = await bench.again();
    const kept = again.status().stop;
    expect(kept).toMatchObject({ latched: true, reason: 'person in the way', disobeyed: stop.disobeyed });
    expect(again.status().gate.reasons[0]).toMatch(/The robot drove on: .* Verify the stop before it drives again/);
    expect(await again.clearStop('technician')).toMatchObject({ latched: false });
    expect(again.status().stop.disobeyed).toBeUndefined();
  });

  it('is cancelled again each second after a cancel without a stop, which is latched until a person clears it', async () => {
    await using here = await world({ speedMS: 0.1, faults: ['cancel-lies'] });
    const { bench, motion, sim, status } = here;
    const ending = new AbortController();
    const { ended } = await here.drive(ending.signal);
    ending.abort(new Error('Ctrl-C'));
    await here.is('drives-on');
    expect(status().stop).toMatchObject({ latched: true, by: 'gw', disobeyed: expect.any(String) });
    // The robot gives up its lie: only a cancel that is repeated stops it.
    sim.setFault('cancel-lies', false);
    await bench.stands();
    await ended;
    const latched = /^A stop is latched by gw since .*: it did not stop, or drove off again\. The robot drove on/;
    expect(status().gate.reasons).toEqual([expect.stringMatching(latched)]);
    await motion.clearStop('technician');
    expect(status().gate).toEqual({ open: true, reasons: [] });
  });
});

const refused = (work: Promise<unknown>) => expect(work).rejects.toMatchObject({ code: 'MOTION_REFUSED' });

describe('a robot that moves although no move runs', () => {
  it.each(['creeping', 'spinning'] as const)('%s: no order passes, and no pose is set', async (fault) => {
    await using here = await world({ faults: [fault] });
    const { bench, motion, status } = here;
    await here.is('moves');
    expect(status().gate.reasons).toEqual([expect.stringMatching(/^The robot moves: /)]);
    await refused(motion.execute(moveTo(1, 1, undefined, demoMap)));
    const { pose } = bench.link.snapshot().values;
    if (pose.status !== 'received') throw new Error('no pose');
    await refused(motion.execute(chosenPose({ ...pose.value, map: frameNow(bench.link.snapshot().values) }, 'test')));
    here.sim.setFault(fault, false);
    await until(() => status().gate.open);
  });
});

it.each(['alert-active', 'manual-control', 'half-readable'] as const)('%s: no drive is ordered', async (fault) => {
  await using here = await world({ faults: fault === 'half-readable' ? [fault, 'emergency-stop'] : [fault] });
  await until(() => !here.status().gate.open);
  await refused(here.motion.execute(moveTo(1, 1, undefined, demoMap)));
  expect(here.sim.state().moving).toBe(false);
});

describe('a robot that obeys', () => {
  it.each(isFull ? [100, 1_000] : [1_000])(
    'is seen to stand after a stop, with a pose every %d ms, and the gate opens again',
    { tags: 'property' },
    async (poseMs) => {
      await using here = await world({ poseMs, faults: ['noisy-pose', 'turned-by-hand'] });
      const { bench, motion, sim, status } = here;
      await until(() => bench.link.snapshot().poseUnit.verdict === 'degrees');
      sim.setFault('turned-by-hand', false);
      await here.is('stands');
      const moving = await here.drive();
      await here.stop();
      expect(status().standstill.verdict).not.toBe('stands');
      await here.is('stands');
      expect(sim.state().speedMS).toBe(0);
      await motion.clearStop('technician');
      expect(status().gate).toEqual({ open: true, reasons: [] });
      await moving.ended;
    },
  );
});
