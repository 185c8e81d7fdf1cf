import { describe, expect, it } from 'vitest';
import { isFull } from '../properties.ts';
import { type FalseReport, type Green, lies } from './lies.ts';
import { createWorld, type RobotOptions, type World } from './world.ts';

const robot: RobotOptions = {
  ...{ seed: 4, hz: 10, noiseM: 0.004, noiseDeg: 0.2, speedMS: 0.5, turnDegS: 60 },
  start: { xM: 3, yM: -2, deg: 40 },
};
/** So long the poses may take to show what the robot does. */
const SEEN_MS = 4_000;
/** Slower is no movement; a heading of undecided unit may turn faster. */
const [SLOWEST_M_S, SLOWEST_DEG_S] = [0.02, 5];

/** What passed as green while the robot did otherwise. */
type Verdicts = ReadonlySet<string>;

/** A standstill that is shown although the robot has been moving for some time. */
function watchStandstill(world: World, found: Set<string>): () => void {
  let movingMs = 0;
  return () => {
    const { speedMS, turnDegS } = world.chassis.moving();
    movingMs = speedMS > SLOWEST_M_S || turnDegS > SLOWEST_DEG_S ? movingMs + 100 : 0;
    const { verdict } = world.motion.status().standstill;
    if (verdict === 'stands' && movingMs > SEEN_MS) found.add(`stands while it moves for ${movingMs} ms`);
    if (verdict === 'stands' && movingMs === 0) found.add('stands, and it does');
  };
}

async function drive(world: World, metres: number, each: () => void): Promise<{ readonly ended: Promise<string> }> {
  const ended = world.motion.execute(world.order(metres)).then(
    ({ state }) => state,
    () => 'refused',
  );
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  await world.until(() => isOver || world.chassis.moment().drivenM > 1.5, 12_000, each);
  return { ended };
}

const scenarios: Readonly<Record<Green, (world: World, report: FalseReport) => Promise<Verdicts>>> = {
  async stop(world) {
    const found = new Set<string>();
    const each = watchStandstill(world, found);
    const { ended } = await drive(world, 9, each);
    await world.during(world.motion.stopRobot('person in the way', 'test'), 10_000, each);
    await world.until(() => false, 45_000, each);
    world.chassis.lie({});
    await world.during(ended, 60_000);
    return found;
  },
  async idle(world) {
    const found = new Set<string>();
    // The rest of before is over when it has begun to move.
    await world.until(() => false, 45_000, watchStandstill(world, found));
    return found;
  },
  async arrival(world, { goalDeg = 90 }) {
    const found = new Set<string>();
    const order = world.order(2.5, goalDeg - world.chassis.truth().deg);
    const goal = order.goal.value;
    const state = await world.during(
      world.motion.execute(order).then(
        (outcome) => outcome.state,
        () => 'refused',
      ),
      120_000,
    );
    if (state !== 'succeeded') return found;
    const { xM, yM, deg } = world.chassis.truth();
    const offDeg = Math.abs(deg - goalDeg - 360 * Math.round((deg - goalDeg) / 360));
    const isThere = Math.hypot(goal.xM - xM, goal.yM - yM) < 0.4 && offDeg < 10;
    found.add(isThere ? 'arrived, and it has' : 'arrived');
    return found;
  },
  'verify stop': (world) => verify(world, 'stop'),
  'verify move': (world) => verify(world, 'move'),
};

async function verify(world: World, kind: 'stop' | 'move'): Promise<Verdicts> {
  const found = new Set<string>();
  const { outcome } = await world.verify(kind).catch(() => ({ outcome: 'refused' }));
  if (outcome === 'verified') found.add('verified');
  return found;
}

/** A robot whose unit was seen, and which then begins to lie; or that has lied from the beginning. */
async function conduct(green: Green, report: FalseReport): Promise<Verdicts> {
  await using world = await createWorld(report.isFromStart ? { ...robot, lies: report.lies() } : robot);
  if (report.isFromStart !== true) {
    expect((await world.verify('move')).outcome).toBe('verified');
    await world.until(() => world.motion.status().gate.open, 30_000);
    world.chassis.lie(report.lies());
  }
  const found = await scenarios[green](world, report);
  world.chassis.lie({ moves: () => ({}) });
  return found;
}

const all = Object.entries(lies).flatMap(([name, report]) =>
  report.never.map((green) => [name, green, report] as const),
);
const honest: FalseReport = { lies: () => ({}), never: [] };

describe('a stranger that does what it says', () => {
  it.each<[Green, string]>([
    ['stop', 'stands, and it does'],
    ['idle', 'stands, and it does'],
    ['arrival', 'arrived, and it has'],
    ['verify stop', 'verified'],
    ['verify move', 'verified'],
  ])('is green at its %s', async (green, expected) => {
    expect([...(await conduct(green, honest))]).toEqual([expected]);
  });
});

describe('a stranger that lies', () => {
  it('does so in more than forty ways', () => {
    expect(Object.keys(lies).length).toBeGreaterThan(40);
  });

  // `npm test` takes each seventh case.
  it.each(all.filter((_, at) => isFull || at % 7 === 2))(
    'and %s is not green at its %s',
    { tags: 'property' },
    async (_name, green, report) => {
      const found = await conduct(green, report);
      const untrue = [...found].filter(
        (verdict) => !verdict.endsWith(', and it does') && !verdict.endsWith(', and it has'),
      );
      expect(untrue).toEqual([]);
    },
  );
});
