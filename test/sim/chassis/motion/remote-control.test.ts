import { describe, expect, it } from 'vitest';
import { createRobot } from '../../../../src/lib/sim/chassis/robot.ts';
import { createFaults } from '../../../../src/lib/sim/faults.ts';
import { dock, startSim } from '../../../../src/lib/sim/index.ts';
import { call, listen, until } from '../../raw-client.ts';

// Remote control as the vendor's guide describes it (HINWEIS): `/twist` over the topic stream, in remote mode only.

const twist = (linear: number, angular = 0) => ({
  topic: '/twist',
  linear_velocity: linear,
  angular_velocity: angular,
});

function newRobot() {
  const faults = createFaults(() => {});
  const robot = createRobot({ serial: 'T', now: () => 0, faults, onChange() {} });
  return { faults, robot };
}

/** Commands the robot ten times a second. */
function hold(robot: ReturnType<typeof newRobot>['robot'], linear: number, angular: number, seconds: number) {
  for (let t = 0; t < seconds; t += 0.1) {
    robot.remote.command(linear, angular);
    robot.step(0.1);
  }
}

describe('/twist', () => {
  it('is acknowledged to its sender, and moves the robot in remote mode only', async () => {
    await using sim = await startSim();
    await using driver = await listen(sim);
    await using other = await listen(sim);
    other.send({ enable_topic: '/twist_feedback' });
    await other.next(({ enabled_topics }) => enabled_topics?.includes('/twist_feedback'));
    driver.send(twist(0.5));
    expect(await driver.next(({ topic }) => topic === '/twist_feedback')).toEqual({ topic: '/twist_feedback' });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(sim.state().yM).toBe(dock.yM);
    await call(sim, 'POST', '/services/wheel_control/set_control_mode', { mode: 'remote' });
    await until(() => {
      driver.send(twist(0.5));
      return sim.state().yM > dock.yM + 0.05;
    });
    expect(other.received.some(({ topic }) => topic === '/twist_feedback')).toBe(false);
    // No further commands.
    await until(() => sim.state().speedMS === 0, 2000);
  });

  it('without numbers is no command', async () => {
    await using sim = await startSim();
    await using driver = await listen(sim);
    driver.send({ topic: '/twist', linear_velocity: '1', angular_velocity: 0 });
    driver.send({ topic: '/twist' });
    driver.send({ enable_topic: '/alerts' });
    await driver.next(({ topic }) => topic === '/alerts');
    expect(driver.received.some(({ topic }) => topic === '/twist_feedback')).toBe(false);
  });
});

describe('a robot in remote control', () => {
  it('drives and turns as commanded, within its limits, and brakes half a second after the last command', () => {
    const { robot } = newRobot();
    robot.setControlMode('remote');
    hold(robot, 0.3, 0, 2);
    expect(robot.speedMS()).toBeCloseTo(0.3, 6);
    expect(robot.pose().yM).toBeGreaterThan(dock.yM + 0.4);
    robot.step(0.35);
    expect(robot.speedMS()).toBeCloseTo(0.3, 6);
    robot.step(0.5);
    expect(robot.speedMS()).toBe(0);
    const before = robot.pose().yawRad;
    hold(robot, 0, -0.5, 1);
    expect(robot.pose().yawRad).toBeLessThan(before - 0.3);
    hold(robot, 1e9, 1e9, 0.5);
    expect(robot.speedMS()).toBeLessThanOrEqual(1);
  });

  it('stops in front of a wall, and can drive away again', () => {
    const { robot } = newRobot();
    robot.setControlMode('remote');
    robot.setPose({ xM: 0, yM: 2, yawRad: Math.PI / 2 });
    hold(robot, 0.5, 0, 5);
    // The wall of the lobby is at 2.9 m, and the robot has a radius of 0.25 m.
    expect(robot.pose().yM).toBeGreaterThan(2.5);
    expect(robot.pose().yM).toBeLessThan(2.65);
    expect(robot.speedMS()).toBe(0);
    hold(robot, -0.3, 0, 3);
    expect(robot.pose().yM).toBeLessThan(2.2);
  });

  it('stands still under an emergency stop and in every other mode', () => {
    for (const spoil of ['stop', 'manual', 'auto'] as const) {
      const { robot } = newRobot();
      robot.setControlMode('remote');
      hold(robot, 0.5, 0, 1);
      if (spoil === 'stop') robot.setSoftwareStop(true);
      else robot.setControlMode(spoil);
      hold(robot, 0.5, 0, 1);
      expect(robot.speedMS(), spoil).toBe(0);
      const at = robot.pose();
      hold(robot, 0.5, 0.5, 1);
      expect(robot.pose(), spoil).toEqual(at);
    }
  });

  it('cancels a running move', () => {
    const { robot } = newRobot();
    robot.order({ creator: '', type: 'standard', target_x: 1.4, target_y: 0 });
    for (let i = 0; i < 20; i += 1) robot.step(0.05);
    robot.setControlMode('remote');
    robot.step(0.05);
    expect(robot.moves.isMoving()).toBe(true);
    robot.remote.command(0.2, 0);
    robot.step(0.05);
    expect(robot.moves.latest()).toMatchObject({ state: 'cancelled' });
  });
});
