import { describe, expect, it } from 'vitest';
import { type FaultName, startSim } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { type Bench, moveTo, startBench, until } from './bench.ts';
import { recordsFor } from './snapshot.ts';

interface World extends AsyncDisposable {
  readonly sim: Awaited<ReturnType<typeof startSim>>;
  readonly bench: Bench;
  readonly sleep: (ms: number) => Promise<void>;
  readonly nowMs: () => number;
}

/** A simulated robot whose deeds differ from its words, on a clock that a busy machine does not shorten. */
async function world(options: { speedMS?: number; poseMs?: number; faults?: readonly FaultName[] }): Promise<World> {
  const { faults = [], ...how } = options;
  await using stack = new AsyncDisposableStack();
  const clock = createPacedClock();
  const sim = stack.use(await startSim({ clock, ...how }));
  const evidence = recordsFor(sim.chassis.serial, sim.chassis.software);
  const bench = stack.use(await startBench(sim.chassis, { clock, evidence }));
  for (const fault of faults) sim.setFault(fault, true);
  const all = stack.move();
  return {
    sim,
    bench,
    sleep: (ms) => clock.sleep(ms),
    nowMs: () => clock.monotonicMs(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Orders a move ahead and waits until the robot drives. */
async function drive({ sim, bench, sleep }: World): Promise<{ readonly ended: Promise<unknown> }> {
  const { xM, yM, yawRad } = sim.state();
  const ended = bench.motion.execute(moveTo(xM + 2 * Math.cos(yawRad), yM + 2 * Math.sin(yawRad)));
  // By the clock of the robot, which may run ahead of that of the test.
  for (let n = 0; n < 100 && sim.state().speedMS === 0; n += 1) await sleep(100);
  expect(sim.state().speedMS).not.toBe(0);
  // Its speed is known from its poses.
  await sleep(1_000);
  return { ended };
}

describe('a robot that acknowledges the cancel and drives on', () => {
  it.each([
    ['cancel-lies', 0.05],
    ['cancel-lies', 0.1],
    ['cancel-lies', 0.6],
    ['cancel-ignored', 0.1],
    ['coasting', 0.3],
    ['cancel-refused', 0.3],
  ] as const)('%s at %d m/s: never stands, alarm, gate closed, cancelled again', async (fault, speedMS) => {
    await using here = await world({ speedMS, faults: [fault] });
    const { bench, sim } = here;
    const moving = await drive(here);
    await bench.motion.stopRobot('person in the way', 'test');
    const stoppedAtMs = here.nowMs();
    const wasAt = sim.state();
    let alarmAfterMs: number | null = null;
    while (here.nowMs() - stoppedAtMs < 8_000 && sim.state().speedMS !== 0) {
      const { standstill, gate } = bench.motion.status();
      expect([standstill.verdict, gate.open]).not.toEqual(['stands', false]);
      expect(gate.open).toBe(false);
      if (standstill.verdict === 'drives-on') alarmAfterMs ??= here.nowMs() - stoppedAtMs;
      await here.sleep(100);
    }
    const wayM = Math.hypot(sim.state().xM - wasAt.xM, sim.state().yM - wasAt.yM);
    expect(wayM).toBeGreaterThan(0.15);
    // The way exceeds 7 cm, the noise of two poses, after this time.
    expect(alarmAfterMs).toBeLessThan(3_000 + (0.07 / speedMS) * 1_000);
    await moving.ended;
  });

  it('opens the gate to no order, and its stop cannot be cleared, until it was seen to stand', async () => {
    await using here = await world({ speedMS: 0.1, faults: ['cancel-lies'] });
    const { bench, sim } = here;
    const moving = await drive(here);
    await bench.motion.stopRobot('person in the way', 'test');
    await until(() => bench.motion.status().standstill.verdict === 'drives-on', 'the alarm', 20_000);
    await expect(bench.motion.clearStop('technician')).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
      message: expect.stringMatching(/^The stop stays latched: THE ROBOT DOES NOT STOP .* PRESS THE EMERGENCY STOP\./),
    });
    const { stop, gate } = bench.motion.status();
    expect(stop).toMatchObject({ latched: true, reason: 'person in the way', disobeyed: expect.any(String) });
    expect(gate.reasons.join()).toMatch(/THE ROBOT DOES NOT STOP .* PRESS THE EMERGENCY STOP\./);
    await expect(bench.motion.execute(moveTo(1, 1))).rejects.toMatchObject({ code: 'MOTION_STOPPED' });
    sim.setFault('emergency-stop', true);
    await until(() => sim.state().speedMS === 0, 'the robot to be stopped by hand', 20_000);
    await bench.stands();
    sim.setFault('emergency-stop', false);
    await moving.ended;
    // It stands, and it is known not to stop: a person decides, also after a restart.
    await until(() => bench.motion.status().stop.saved === true, 'the stop to be saved', 5_000);
    await bench.motion.stop();
    const again = await bench.again();
    const kept = again.status().stop;
    expect(kept).toMatchObject({ latched: true, reason: 'person in the way', disobeyed: stop.disobeyed });
    expect(again.status().gate.reasons[0]).toMatch(/The robot drove on: .* Verify the stop before it drives again/);
    expect(await again.clearStop('technician')).toMatchObject({ latched: false });
    expect(again.status().stop.disobeyed).toBeUndefined();
  });

  it('is cancelled again each second after a cancel without a stop, which is latched until a person clears it', async () => {
    await using here = await world({ speedMS: 0.1, faults: ['cancel-lies'] });
    const { bench, sim } = here;
    const { xM, yM, yawRad } = sim.state();
    const ending = new AbortController();
    const ended = bench.motion.execute(moveTo(xM + 2 * Math.cos(yawRad), yM + 2 * Math.sin(yawRad)), ending.signal);
    for (let n = 0; n < 100 && sim.state().speedMS === 0; n += 1) await here.sleep(100);
    await here.sleep(1_000);
    ending.abort(new Error('Ctrl-C'));
    await until(() => bench.motion.status().standstill.verdict === 'drives-on', 'the alarm', 20_000);
    expect(bench.motion.status().stop).toMatchObject({ latched: true, by: 'gw', disobeyed: expect.any(String) });
    // The robot gives up its lie: only a cancel that is repeated stops it.
    sim.setFault('cancel-lies', false);
    await bench.stands();
    await ended;
    expect(bench.motion.status().gate.reasons).toEqual([
      expect.stringMatching(
        /^A stop is latched by gw since .*: it did not stop when it was cancelled\. The robot drove on/,
      ),
    ]);
    await bench.motion.clearStop('technician');
    expect(bench.motion.status().gate).toEqual({ open: true, reasons: [] });
  });

  it('is cancelled again each second', async () => {
    await using here = await world({ speedMS: 0.1, faults: ['cancel-lies'] });
    const { bench } = here;
    const moving = await drive(here);
    await bench.motion.stopRobot('person in the way', 'test');
    const before = here.sim.state();
    await until(() => bench.motion.status().standstill.verdict === 'drives-on', 'the alarm', 20_000);
    // The robot gives up its lie: only a cancel that is repeated stops it.
    here.sim.setFault('cancel-lies', false);
    await bench.stands();
    expect(here.sim.state().xM).not.toBe(before.xM);
    await moving.ended;
  });
});

describe('a robot that moves although no move runs', () => {
  it.each(['creeping', 'spinning'] as const)('%s: no order passes, and no pose is set', async (fault) => {
    await using here = await world({ faults: [fault] });
    const { bench } = here;
    await until(() => bench.motion.status().standstill.verdict === 'moves', 'the movement', 20_000);
    const { gate } = bench.motion.status();
    expect(gate.reasons).toEqual([expect.stringMatching(/^The robot moves: /)]);
    await expect(bench.motion.execute(moveTo(1, 1))).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    const { pose } = bench.link.snapshot().values;
    if (pose.status !== 'received') throw new Error('no pose');
    const { chosenPose } = await import('../../src/lib/motion/index.ts');
    await expect(bench.motion.execute(chosenPose(pose.value, 'test'))).rejects.toMatchObject({
      code: 'MOTION_REFUSED',
    });
    here.sim.setFault(fault, false);
    await until(() => bench.motion.status().gate.open, 'the gate', 20_000);
  });
});

describe('a robot that reports why it should not drive', () => {
  it.each(['alert-active', 'manual-control', 'half-readable'] as const)('%s: no drive is ordered', async (fault) => {
    await using here = await world({ faults: fault === 'half-readable' ? [fault, 'emergency-stop'] : [fault] });
    const { bench } = here;
    await until(() => !bench.motion.status().gate.open, 'the gate to close', 20_000);
    await expect(bench.motion.execute(moveTo(1, 1))).rejects.toMatchObject({ code: 'MOTION_REFUSED' });
    expect(here.sim.state().moving).toBe(false);
  });
});

describe('a robot that obeys', () => {
  it.each([100, 1_000])(
    'is seen to stand after a stop, with a pose every %d ms, and the gate opens again',
    async (poseMs) => {
      await using here = await world({ poseMs, faults: ['noisy-pose', 'turned-by-hand'] });
      const { bench, sim } = here;
      await until(() => bench.link.snapshot().poseUnit.verdict === 'degrees', 'the unit', 40_000);
      sim.setFault('turned-by-hand', false);
      await until(() => bench.motion.status().standstill.verdict === 'stands', 'the robot to stand', 40_000);
      const moving = await drive(here);
      await bench.motion.stopRobot('person in the way', 'test');
      expect(bench.motion.status().standstill.verdict).not.toBe('stands');
      await until(() => bench.motion.status().standstill.verdict === 'stands', 'the standstill', 40_000);
      expect(sim.state().speedMS).toBe(0);
      await bench.motion.clearStop('technician');
      expect(bench.motion.status().gate).toEqual({ open: true, reasons: [] });
      await moving.ended;
    },
  );
});
