import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isFull, runs } from '../properties.ts';
import { type Line, type Rules, unaskedBecause } from './oracle.ts';
import { createWorld, settled, TICK_MS } from './world.ts';

const STORIES = 10_000;
const places: readonly [string | null, number, number][] = [
  ['A', 1, 0],
  ['B', 5, 0],
  ['C', 9, 0],
  [null, 0, 9],
];

const page = fc.integer({ min: 0, max: 1 });
const station = fc.constantFrom('A', 'B', 'C');
const step = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('wait'), ticks: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('long-wait'), ticks: fc.integer({ min: 60, max: 200 }) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('allow'), page }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('start'), page, station }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('put'), page, station }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('arrive') }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('proceed'), page }) },
  ...(
    [
      ...['remove', 'touch', 'late-touch', 'fail', 'stop', 'cloud-stop', 'command-stop', 'brief-stop', 'clear-stop'],
      ...['restart', 'lose-link', 'link', 'brief-link', 'other-map', 'map', 'brief-map', 'alarm', 'alarm-over'],
      ...['unowned', 'unowned-over', 'fault', 'fault-over', 'brief-fault', 'trial', 'trial-over', 'push', 'push-back'],
      ...['sleep', 'wake', 'read', 'low', 'charged', 'freeze', 'wall', 'unverified', 'verified', 'pose-old', 'pose'],
      ...['drive-by-command', 'standing-not-known', 'standing'],
    ] as const
  ).map((name) => ({ weight: 1, arbitrary: fc.record({ do: fc.constant(name), page }) })),
);
/** While a countdown may be shown: what must not let it continue. */
const during = fc.oneof(
  fc.constant([]),
  fc
    .constantFrom('touch', 'late-touch', 'remove', 'brief-link', 'brief-stop', 'low')
    .map((name) => [{ do: name, page: 0 }]),
  // No page is looked at; what is due stays due.
  fc.integer({ min: 8, max: 80 }).map((ticks) => [
    { do: 'sleep', page: 0 },
    { do: 'long-wait', ticks },
    { do: 'wake', page: 0 },
  ]),
);
/** A day as it is meant to be, with something in between at any moment of it. */
const day = fc
  .record({
    between: fc.array(step, { maxLength: 2 }),
    at: fc.nat(8),
    page,
    stations: fc.tuple(station, station, station),
    puts: fc.boolean(),
    ticks: fc.integer({ min: 20, max: 240 }),
    proceeds: fc.boolean(),
    during,
  })
  .map(({ between, at, page: by, stations: [first, second, third], puts, ticks, proceeds, during: late }) => {
    const steps: Step[] = [
      ...[
        { do: 'allow', page: by },
        { do: 'start', page: by, station: first },
        { do: 'wait', ticks: 1 },
      ],
      ...(puts ? [second, third] : []).map((one) => ({ do: 'put', page: by, station: one })),
      ...[{ do: 'arrive' }, { do: 'wait', ticks: 1 }],
      ...(proceeds ? [{ do: 'proceed', page: by }] : []),
      ...[{ do: 'long-wait', ticks }, ...late, { do: 'long-wait', ticks: 40 }],
      ...[{ do: 'arrive' }, { do: 'long-wait', ticks }, ...late, { do: 'long-wait', ticks: 40 }],
    ];
    return steps.toSpliced(Math.min(at, steps.length), 0, ...between);
  });
const story = fc
  .array(fc.oneof({ weight: 3, arbitrary: step.map((one): Step[] => [one]) }, { weight: 1, arbitrary: day }), {
    ...{ minLength: 5, maxLength: 24, size: 'max' },
  })
  .map((parts) => parts.flat());
type Step = { readonly do: string; readonly page?: number; readonly ticks?: number; readonly station?: string };
const settings = fc.record({
  next: fc.boolean(),
  back: fc.boolean(),
  idle: fc.boolean(),
  low: fc.boolean(),
});

/** Begun by themselves, over all stories: a property over robots that never begin would hold for nothing. */
const begun = new Map<string, number>();

it('no movement begins that no person asked for, whatever happens', {
  tags: ['property'],
  timeout: 900_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(settings, story, async (set, steps) => {
      const rules: Rules = {
        nextAfterMs: set.next ? 10_000 : null,
        returnAfterMs: set.back ? 60_000 : null,
        idleAfterMs: set.idle ? 60_000 : null,
        belowPercent: set.low ? 25 : null,
      };
      const lines = await play(rules, steps);
      for (const [at, line] of lines.entries()) {
        if (line.what !== 'order') continue;
        const why = unaskedBecause(lines, at, rules);
        if (why !== null)
          expect.fail(
            `${why}:\n${lines
              .slice(0, at + 1)
              .map((one) => JSON.stringify(one))
              .slice(-60)
              .join('\n')}`,
          );
        if (line.by !== 'itself') continue;
        const shown = lines.slice(0, at).findLast((one) => one.what === 'shown');
        begun.set(shown?.kind ?? '', (begun.get(shown?.kind ?? '') ?? 0) + 1);
      }
    }),
    { numRuns: runs(STORIES, 400) },
  );
  expect([...begun.keys()].sort()).toEqual(['idle', 'next', 'return']);
  if (isFull) expect(Math.min(...begun.values())).toBeGreaterThan(50);
});

async function play(rules: Rules, steps: readonly Step[]): Promise<Line[]> {
  const world = createWorld({
    ...(rules.nextAfterMs !== null && { nextAfterSeconds: 10 }),
    ...(rules.returnAfterMs !== null && { return: { afterMinutes: 1 } }),
    ...((rules.idleAfterMs !== null || rules.belowPercent !== null) && {
      idle: {
        ...(rules.idleAfterMs !== null && { afterMinutes: 1 }),
        ...(rules.belowPercent !== null && { belowPercent: 25 }),
      },
    }),
  });
  const { robot } = world;
  const lines: Line[] = [];
  type Bare = Line extends infer L ? (L extends unknown ? Omit<L, 'atMs'> : never) : never;
  const say = (line: Bare) => void lines.push({ atMs: world.nowMs(), ...line } as Line);
  const trouble = (why: string) => say({ what: 'trouble', why });
  const placeNow = () => {
    const found = places.find(([, x, y]) => Math.hypot(robot.at.xM - x, robot.at.yM - y) <= 0.5);
    return found === undefined || robot.map !== 'u1' || robot.isPoseStale ? undefined : found[0];
  };
  const isTroubled = () =>
    robot.stop ||
    !robot.isConnected ||
    robot.map !== 'u1' ||
    robot.alarm ||
    robot.unowned ||
    robot.trial ||
    robot.fault;

  const orders = robot.orders;
  orders.push = (order) => {
    const isCalm =
      !isTroubled() && robot.standing === 'stands' && !robot.isUnverified && robot.drive?.state !== 'running';
    say({
      what: 'order',
      station: order.station,
      by: order.by,
      world: { place: placeNow(), isCalm, percent: robot.percent },
    });
    return 1;
  };
  const ended = (state: 'succeeded' | 'failed' | 'stopped') => {
    const { drive } = robot;
    if (drive?.state !== 'running') return;
    const order = lines.findLast((line) => line.what === 'order');
    const shown = lines.slice(0, order && lines.indexOf(order)).findLast((line) => line.what === 'shown');
    const isReturn = drive.by === 'itself' && shown?.kind !== 'next';
    const brings = drive.by !== 'command' && !isReturn && drive.station !== null;
    say({ what: 'ended', station: drive.station, state, brings });
    if (state !== 'succeeded') trouble(state);
    world.end(state);
  };
  const stop = () => {
    trouble('stop');
    say({ what: 'cleared' });
    robot.stop = true;
    world.changed();
    ended('stopped');
  };
  const restart = async () => {
    trouble('restart');
    say({ what: 'cleared' });
    await world.restart();
  };
  const change = (what: Partial<typeof robot>, why?: string) => {
    if (why !== undefined) trouble(why);
    Object.assign(robot, what);
    world.changed();
  };

  const pages = [0, 1].map(() => ({
    isAwake: true,
    view: null as ReturnType<ReturnType<typeof world.delivery>['view']>,
  }));
  const readPage = (index: number) => {
    const one = pages[index];
    if (one !== undefined) one.view = world.delivery().view();
  };
  async function tick(): Promise<void> {
    await world.tick();
    for (const [index, one] of pages.entries()) {
      if (!one.isAwake) continue;
      readPage(index);
      const countdown = one.view?.countdown;
      if (countdown == null || Math.floor(world.nowMs() / TICK_MS) % 2 === 1) continue;
      say({ what: 'shown', page: index, id: countdown.id, kind: countdown.kind, station: countdown.station });
      world.delivery().shown(countdown.id);
      await settled();
    }
  }
  async function act(name: string, means: string | null | undefined, work: () => unknown): Promise<void> {
    say({ what: 'act', act: name, means });
    // A refusal is an answer to the person.
    await Promise.resolve()
      .then(work)
      .catch(() => {});
    say({ what: 'act-over' });
    await settled();
  }

  await restart();
  for (const { do: name, page: index = 0, ticks = 1, station: to = 'A' } of steps) {
    const view = pages[index]?.view ?? null;
    const delivery = world.delivery();
    switch (name) {
      case 'wait':
      case 'long-wait':
        for (let count = 0; count < ticks; count += 1) await tick();
        break;
      case 'allow':
        await act('allow', undefined, () => {
          const before = isTroubled();
          delivery.release();
          say({ what: 'allowed', isTroubled: before });
        });
        break;
      case 'start':
        await act('start', to, () => world.motion.startDrive({ station: to }, { by: 'page' }));
        break;
      case 'drive-by-command':
        await act('start', to, () => world.motion.startDrive({ station: to }, { by: 'command' }));
        break;
      case 'put':
        await act('put', to, () => {
          const entry = delivery.enqueue(to);
          say({ what: 'put', ...entry });
        });
        break;
      case 'remove': {
        const entry = view?.queue[0];
        if (entry === undefined) break;
        await act('remove', entry.station, () => {
          if (delivery.remove(entry.id)) say({ what: 'removed', id: entry.id });
        });
        break;
      }
      case 'proceed': {
        const seen = { arrival: view?.arrival?.id ?? null, next: view?.queue[0]?.id ?? null };
        await act('proceed', view?.queue[0]?.station, async () => {
          if ((await delivery.proceed(seen, 'page')) === null) say({ what: 'arrival-over' });
        });
        break;
      }
      case 'touch':
        trouble('touch');
        await act('touch', undefined, () => delivery.endCountdown('page', view?.countdown?.id));
        break;
      case 'late-touch':
        trouble('touch');
        await act('touch', undefined, () => delivery.endCountdown('page', 'c1'));
        break;
      case 'arrive':
        ended('succeeded');
        break;
      case 'fail':
        ended('failed');
        break;
      case 'stop':
      case 'cloud-stop':
      case 'command-stop':
        stop();
        break;
      case 'brief-stop':
        stop();
        change({ stop: false });
        break;
      case 'clear-stop':
        change({ stop: false });
        break;
      case 'restart':
        await restart();
        break;
      case 'lose-link':
        change({ isConnected: false }, 'link');
        break;
      case 'link':
        change({ isConnected: true });
        break;
      case 'brief-link':
        change({ isConnected: false }, 'link');
        change({ isConnected: true });
        break;
      case 'other-map':
        change({ map: index === 0 ? 'u2' : 'u3' }, 'map');
        break;
      case 'map':
        change({ map: 'u1' });
        break;
      case 'brief-map':
        change({ map: 'u2' }, 'map');
        change({ map: 'u1' });
        break;
      case 'alarm':
        change({ alarm: true }, 'alarm');
        break;
      case 'alarm-over':
        change({ alarm: false });
        break;
      case 'unowned':
        change({ unowned: true }, 'unowned');
        break;
      case 'unowned-over':
        change({ unowned: false });
        break;
      case 'fault':
        change({ fault: true }, 'fault');
        break;
      case 'fault-over':
        change({ fault: false });
        break;
      case 'brief-fault':
        change({ fault: true }, 'fault');
        change({ fault: false });
        break;
      case 'trial':
        change({ trial: true }, 'trial');
        break;
      case 'trial-over':
        change({ trial: false });
        break;
      case 'push':
        change({ at: { xM: 3, yM: 3 } });
        break;
      case 'push-back':
        // To another place that it knows.
        change({ at: { xM: 1, yM: 0.2 } });
        break;
      case 'standing-not-known':
        change({ standing: 'not-known' });
        break;
      case 'standing':
        change({ standing: 'stands' });
        break;
      case 'pose-old':
        change({ isPoseStale: true });
        break;
      case 'pose':
        change({ isPoseStale: false });
        break;
      case 'low':
        change({ percent: 20 });
        break;
      case 'charged':
        change({ percent: 80 });
        break;
      case 'unverified':
        change({ isUnverified: true });
        break;
      case 'verified':
        change({ isUnverified: false });
        break;
      case 'sleep':
      case 'wake':
        for (const one of pages.slice(index)) one.isAwake = name === 'wake';
        break;
      case 'read':
        readPage(index);
        break;
      case 'freeze':
        world.freeze(600_000);
        break;
      case 'wall':
        world.setWall(world.nowMs() * 1_000);
        break;
    }
    await settled();
  }
  return lines;
}
