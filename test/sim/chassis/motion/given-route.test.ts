import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFloorGrid } from '../../../../src/lib/sim/chassis/floor/floor.ts';
import { cellIndex, FREE } from '../../../../src/lib/sim/chassis/floor/grid.ts';
import { readRoute } from '../../../../src/lib/sim/chassis/motion/move-order.ts';
import { createRobot } from '../../../../src/lib/sim/chassis/robot.ts';
import { createFaults } from '../../../../src/lib/sim/faults.ts';
import { type SimOptions, startSim } from '../../../../src/lib/sim/index.ts';
import { call, fastClock, listen, type Message, until } from '../../raw-client.ts';

// Moves along a given route, as the vendor's book describes them (HINWEIS).

async function robotAt(xM: number, yM: number, options: SimOptions = {}) {
  const stack = new AsyncDisposableStack();
  const sim = stack.use(await startSim({ clock: fastClock(10), ...options }));
  await call(sim, 'POST', '/chassis/pose', { position: [xM, yM, 0], ori: 0, adjust_position: false });
  return {
    sim,
    async drive(order: object): Promise<Message> {
      const { status, json } = await call(sim, 'POST', '/chassis/moves', { type: 'along_given_route', ...order });
      expect(status, JSON.stringify(json)).toBe(201);
      await until(() => !sim.state().moving, 20_000);
      return (await call(sim, 'GET', '/chassis/moves/current')).json;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Minimum distance of the robot to each place during the move. */
function watch(sim: Awaited<ReturnType<typeof startSim>>, places: readonly (readonly [number, number])[]) {
  const nearest = places.map(() => Number.POSITIVE_INFINITY);
  const timer = setInterval(() => {
    const { xM, yM } = sim.state();
    for (const [i, [x, y]] of places.entries()) {
      nearest[i] = Math.min(nearest[i] ?? 0, Math.hypot(xM - x, yM - y));
    }
  }, 2);
  return { nearest, [Symbol.dispose]: () => clearInterval(timer) };
}

describe('a move along a given route', () => {
  it('passes the points in order, not by the shortest path', async () => {
    await using robot = await robotAt(0, 0);
    const corners = [[1.5, 0], [1.5, 1.5], [-1, 1.5], [-1, 0]] as const; // biome-ignore format: corners on one line
    using seen = watch(robot.sim, corners);
    const move = await robot.drive({ route_coordinates: corners.join(', '), detour_tolerance: 0, target_ori: Math.PI });
    expect(move).toMatchObject({ state: 'succeeded', route_coordinates: corners.join(', '), detour_tolerance: 0 });
    for (const distance of seen.nearest) expect(distance).toBeLessThan(0.25);
    const { xM, yM, yawRad } = robot.sim.state();
    expect(Math.hypot(xM + 1, yM)).toBeLessThan(0.05);
    expect(Math.abs(yawRad)).toBeCloseTo(Math.PI, 5);
  });

  it('counts the points that it has passed', async () => {
    await using robot = await robotAt(0, 0);
    await using listener = await listen(robot.sim);
    listener.send({ enable_topic: '/planning_state' });
    await robot.drive({ route_coordinates: '0,0, 1,0, 2,0, 2,1' });
    const last = await listener.next(({ move_state }) => move_state === 'succeeded');
    expect(last).toMatchObject({ action_type: 'along_given_route', given_route_passed_point_count: 4 });
    expect(last.target_poses[0].pos).toEqual([2, 1]);
    const counts = listener.received
      .filter(({ action_type }) => action_type === 'along_given_route')
      .map(({ given_route_passed_point_count: count }) => count);
    expect(counts).toEqual(counts.toSorted((a: number, b: number) => a - b));
    expect(counts.some((count: number) => count > 0 && count < 4)).toBe(true);
  });

  it('leaves the dock first, and continues to a target after the route', async () => {
    await using sim = await startSim({ clock: fastClock(10) });
    const order = { type: 'along_given_route', route_coordinates: '0, -1, 0, 0', target_x: 1.4, target_y: 0 };
    await call(sim, 'POST', '/chassis/moves', order);
    await until(() => !sim.state().moving, 20_000);
    expect((await call(sim, 'GET', '/chassis/moves/current')).json).toMatchObject({ state: 'succeeded' });
    expect(Math.hypot(sim.state().xM - 1.4, sim.state().yM)).toBeLessThan(0.05);
  });

  it('stops in front of an obstacle on the route with a tolerance of 0, and fails with 15', async () => {
    // The reception desk is between 2.6 and 4 m, from -1.9 to -1.3 m.
    await using robot = await robotAt(3.3, -0.6, { clock: fastClock(40) });
    const move = await robot.drive({ route_coordinates: '3.3, -0.6, 3.3, -2.4' });
    expect(move).toMatchObject({ state: 'failed', fail_reason: 15 });
    const { xM, yM } = robot.sim.state();
    expect(Math.abs(xM - 3.3)).toBeLessThan(0.1);
    expect(yM).toBeGreaterThan(-1.3 + 0.25);
    expect(yM).toBeLessThan(-0.8);
  });

  it('bypasses it within the tolerance', async () => {
    const route = '3.3, -0.6, 3.3, -2.3';
    await using wide = await robotAt(3.3, -0.6);
    await call(wide.sim, 'PATCH', '/maps/1', { overlays: '{"features":[]}' });
    expect(await wide.drive({ route_coordinates: route, detour_tolerance: 3 })).toMatchObject({ state: 'succeeded' });
    expect(Math.hypot(wide.sim.state().xM - 3.3, wide.sim.state().yM + 2.3)).toBeLessThan(0.05);
    await using narrow = await robotAt(3.3, -0.6, { clock: fastClock(40) });
    await call(narrow.sim, 'PATCH', '/maps/1', { overlays: '{"features":[]}' });
    expect(await narrow.drive({ route_coordinates: route, detour_tolerance: 0.5 })).toMatchObject({ fail_reason: 15 });
  });

  it('fails with 400 for an invalid route, and with 401 far from its start', async () => {
    await using robot = await robotAt(0, 0);
    for (const route_coordinates of ['', '1', '1, 2', '1, 2, 3', '1, 2, 3, x', '1, 2, 3, ', '1,2,3,4,5', null]) {
      const move = await robot.drive({ route_coordinates });
      expect(move, String(route_coordinates)).toMatchObject({ state: 'failed', fail_reason: 400 });
    }
    const far = await robot.drive({ route_coordinates: '8, 1, 9, 1' });
    expect(far).toMatchObject({ state: 'failed', fail_reason: 401, fail_reason_str: 'TooFarFromStartOfTrack' });
  });
});

describe('any given route', () => {
  const floor = createFloorGrid();

  /** Whether the round robot at this place touches a cell that is not free. */
  function touches({ xM, yM }: { xM: number; yM: number }): boolean {
    for (let angle = 0; angle < 2 * Math.PI; angle += Math.PI / 12) {
      const at = { xM: xM + 0.25 * Math.cos(angle), yM: yM + 0.25 * Math.sin(angle) };
      if (floor.cells[cellIndex(floor, at)] !== FREE) return true;
    }
    return false;
  }

  it('is driven to its end or fails, without a collision', () => {
    const corner = fc.tuple(fc.double({ min: -3, max: 5, noNaN: true }), fc.double({ min: -3, max: 6, noNaN: true }));
    const route = fc.array(corner, { minLength: 2, maxLength: 6 });
    const tolerance = fc.constantFrom(0, 0.5, 2, 10);
    fc.assert(
      fc.property(route, tolerance, (corners, detour_tolerance) => {
        const robot = createRobot({ serial: 'T', now: () => 0, faults: createFaults(() => {}), onChange() {} });
        robot.setPose({ xM: 1, yM: 0, yawRad: 0 });
        const order = { creator: '', type: 'along_given_route', detour_tolerance };
        robot.order({ ...order, route_coordinates: ['1,0', ...corners].join(',') });
        for (let i = 0; robot.moves.isMoving(); i += 1) {
          robot.step(0.05);
          if (touches(robot.pose())) throw new Error(`touches something at ${JSON.stringify(robot.pose())}`);
          if (i > 20_000) throw new Error('the move does not end');
        }
        const move = robot.moves.latest();
        const [x, y] = corners.at(-1) ?? [0, 0];
        if (move?.state === 'succeeded') {
          expect(Math.hypot(robot.pose().xM - x, robot.pose().yM - y)).toBeLessThan(0.11);
          expect(robot.moves.passedRoutePoints()).toBe(corners.length + 1);
        } else {
          expect(move).toMatchObject({ state: 'failed', failReason: 15 });
          expect(robot.moves.passedRoutePoints()).toBeLessThan(corners.length + 1);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('that is long and blocked everywhere fails soon, instead of being planned for minutes', () => {
    const robot = createRobot({ serial: 'T', now: () => 0, faults: createFaults(() => {}), onChange() {} });
    // Back and forth through the wall between lobby and corridor, each with a long detour.
    const through = Array.from({ length: 2000 }, (_, i) => (i % 2 === 0 ? '0, 2' : '0, 3.6'));
    robot.setPose({ xM: 0, yM: 2, yawRad: 0 });
    const began = performance.now();
    robot.order({
      creator: '',
      type: 'along_given_route',
      detour_tolerance: 100,
      route_coordinates: through.join(','),
    });
    expect(performance.now() - began).toBeLessThan(5000);
    expect(robot.moves.remainingM()).toBeGreaterThan(2000);
  });
});

describe('the text of a route', () => {
  it('is parsed to the written numbers, in pairs', () => {
    const coordinate = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.tuple(coordinate, coordinate), { minLength: 2, maxLength: 50 }), fc.boolean(), (pairs, tight) => {
        const read = readRoute(pairs.flat().join(tight ? ',' : ' , '));
        expect(read?.map(({ xM, yM }) => [xM + 0, yM + 0])).toEqual(pairs.map(([x, y]) => [x + 0, y + 0]));
      }),
    ); // biome-ignore format: the property in one piece
  });

  it('is never parsed to other numbers than written', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.,-e xn') }), (text) => {
        const read = readRoute(text);
        if (!read) return;
        expect(read.length).toBeGreaterThanOrEqual(2);
        expect(text.split(',')).toHaveLength(read.length * 2);
        for (const { xM, yM } of read) expect(Number.isFinite(xM) && Number.isFinite(yM)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});
