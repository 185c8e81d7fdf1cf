import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFloorGrid } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { cellIndex, FREE } from '../../../../src/lib/sim/chassis/floor/grid.ts';
import { settingTable } from '../../../../src/lib/sim/chassis/rest/settings.ts';
import { createRobot } from '../../../../src/lib/sim/chassis/robot.ts';
import { createFaults } from '../../../../src/lib/sim/faults.ts';
import { startSim } from '../../../../src/lib/sim/index.ts';
import { call, fastClock, until } from '../../raw-client.ts';

// /system/settings and the older /robot-params, as the vendor's book describes them (HINWEIS).

const SPEED = 'control.max_forward_velocity';

describe('the settings of the robot', () => {
  it('have a schema, defaults, user values and effective values', async () => {
    await using sim = await startSim();
    const at = async (name: string) => (await call(sim, 'GET', `/system/settings/${name}`)).json;
    expect(await at('schema')).toMatchObject({
      ax: expect.arrayContaining([
        {
          name: SPEED,
          title: expect.any(String),
          type: 'float',
          default: 1,
          range: expect.stringMatching(/^\[.*, .*\]$/),
        },
      ]),
    });
    const defaults = (await at('default')) as Record<string, number>;
    expect(await at('effective')).toEqual(defaults);
    expect(await at('user')).toEqual({});
    const patch = (body: unknown) => call(sim, 'PATCH', '/system/settings/user', body);
    expect((await patch({ [SPEED]: 0.5 })).json).toEqual({ [SPEED]: 0.5 });
    expect((await patch({ 'control.max_angular_velocity': 1 })).status).toBe(200);
    expect(await at('effective')).toEqual({ ...defaults, [SPEED]: 0.5, 'control.max_angular_velocity': 1 });
    expect((await call(sim, 'POST', '/system/settings/user', { [SPEED]: 0.4 })).status).toBe(201);
    expect(await at('user')).toEqual({ [SPEED]: 0.4 });
    // No part of a refused body is stored.
    for (const body of [{ [SPEED]: 5 }, { [SPEED]: '0.5' }, { [SPEED]: 0.3, nothing: 1 }, { [SPEED]: null }, [], 'x']) {
      expect((await patch(body)).status, JSON.stringify(body)).toBe(400);
    }
    expect(await at('user')).toEqual({ [SPEED]: 0.4 });
    for (const name of ['schema', 'default', 'effective']) {
      expect((await call(sim, 'PATCH', `/system/settings/${name}`, {})).status, name).toBe(405);
    }
  });

  it('are available under their older names', async () => {
    await using sim = await startSim();
    const param = '/wheel_control/max_forward_velocity';
    expect((await call(sim, 'GET', '/robot-params')).json).toMatchObject({ [param]: 1 });
    expect((await call(sim, 'POST', '/robot-params', { [param]: 0.7 })).status).toBe(201);
    expect((await call(sim, 'GET', '/robot-params')).json).toMatchObject({ [param]: 0.7 });
    expect((await call(sim, 'GET', '/robot-params/default')).json).toMatchObject({ [param]: 1 });
    expect((await call(sim, 'GET', '/system/settings/user')).json).toEqual({ [SPEED]: 0.7 });
    expect((await call(sim, 'POST', '/robot-params', { '/control/unknown': 1 })).status).toBe(400);
  });

  it('are kept over a restart of the software', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    await call(sim, 'PATCH', '/system/settings/user', { [SPEED]: 0.5 });
    await call(sim, 'POST', '/services/restart_service');
    await until(async () => (await call(sim, 'GET', '/system/settings/user')).status === 200);
    expect((await call(sim, 'GET', '/system/settings/user')).json).toEqual({ [SPEED]: 0.5 });
  });

  it('take effect also during a move, without a collision with any of them', () => {
    const floor = createFloorGrid();
    const touches = ({ xM, yM }: { xM: number; yM: number }) => {
      for (let angle = 0; angle < 2 * Math.PI; angle += Math.PI / 12) {
        const at = { xM: xM + 0.25 * Math.cos(angle), yM: yM + 0.25 * Math.sin(angle) };
        if (floor.cells[cellIndex(floor, at)] !== FREE) return true;
      }
      return false;
    };
    const values = fc.record(
      Object.fromEntries(
        Object.entries(settingTable).map(([name, { min, max }]) => [name, fc.double({ min, max, noNaN: true })]),
      ),
    );
    fc.assert(
      fc.property(values, values, (first, second) => {
        const robot = createRobot({ serial: 'T', now: () => 0, faults: createFaults(() => {}), onChange() {} });
        expect(robot.settings.replace(first)).toBeUndefined();
        robot.order({ creator: '', type: 'standard', target_x: 5.7, target_y: 3.5 });
        for (let i = 0; robot.moves.isMoving(); i += 1) {
          if (i === 200) robot.settings.replace(second);
          const limit = Math.max(first[SPEED] ?? 0, i > 220 ? 0 : (first[SPEED] ?? 0), i >= 200 ? (second[SPEED] ?? 0) : 0);
          robot.step(0.05);
          expect(robot.speedMS()).toBeLessThanOrEqual(limit + 1e-9);
          if (touches(robot.pose())) throw new Error(`touches something at ${JSON.stringify(robot.pose())}`);
          if (i > 10_000) throw new Error('the move does not end');
        }
        expect(robot.moves.latest()?.state).toBe('succeeded');
      }),
      { numRuns: 30 },
    ); // biome-ignore format: the property in one piece
  });
});
