import { expect, it } from 'vitest';
import { COUNTDOWN_MS, createWorld, TICK_MS } from './world.ts';

it('what a page saw before a restart of the gateway names no station and no countdown after it', async () => {
  const world = createWorld({ idle: { afterMinutes: 1 } });
  const failWith = async (station: string) => {
    await world.restart();
    world.robot.unowned = false;
    await world.motion.startDrive({ station: 'A' }, { by: 'page' });
    const entry = world.delivery().enqueue(station);
    world.end('failed');
    return entry;
  };
  const seen = await failWith('B');
  const now = await failWith('C');
  const orders = world.robot.orders.length;
  expect(await world.delivery().proceed({ arrival: null, next: seen.id }, 'page')).toBe('outdated');
  expect([world.delivery().remove(seen.id), world.delivery().view()?.queue]).toEqual([false, [now]]);
  expect(world.robot.orders).toHaveLength(orders);

  const countdowns: (string | undefined)[] = [];
  for (let life = 0; life < 2; life += 1) {
    await world.restart();
    world.delivery().release();
    for (let ms = 0; ms < 61_000; ms += TICK_MS) await world.tick();
    countdowns.push(world.delivery().view()?.countdown?.id);
  }
  expect(countdowns[0]).toBeTypeOf('string');
  expect(countdowns[1]).not.toBe(countdowns[0]);
});

it.each([1_500, 2_400, 600_000])(
  'after %i ms in which the gateway read no touch, the countdown begins anew',
  async (ms) => {
    const world = createWorld({ idle: { afterMinutes: 1 } });
    await world.restart();
    world.delivery().release();
    for (let waited = 0; waited < 60_500; waited += TICK_MS) await world.tick();
    const show = () => world.delivery().shown(world.delivery().view()?.countdown?.id ?? '');
    show();
    while ((world.delivery().view()?.countdown?.leftMs ?? 0) > 1_000) {
      await world.tick();
      show();
    }
    world.freeze(ms);
    await world.tick();
    show();
    expect([world.robot.orders, world.delivery().view()?.countdown?.leftMs]).toEqual([[], COUNTDOWN_MS]);
  },
);

it('a touch that arrives after the start ends the drive that this countdown announced, and no other one', async () => {
  const world = createWorld({ idle: { afterMinutes: 1 } });
  await world.restart();
  world.delivery().release();
  let id = '';
  for (let ms = 0; ms < 80_000 && world.robot.orders.length === 0; ms += TICK_MS) {
    id = world.delivery().view()?.countdown?.id ?? id;
    world.delivery().shown(id);
    await world.tick();
  }
  expect(world.robot.drive).toMatchObject({ by: 'itself', state: 'running' });
  expect(await world.delivery().endCountdown('page', 'of-another')).toBe(false);
  expect(world.robot.drive).toMatchObject({ state: 'running' });
  expect(await world.delivery().endCountdown('page', id)).toBe(true);
  expect(world.robot.drive).toMatchObject({ state: 'stopped' });
  expect(world.delivery().view()?.hold).toMatchObject({ cause: 'person' });

  await world.motion.startDrive({ station: 'B' }, { by: 'page' });
  expect(await world.delivery().endCountdown('page', id)).toBe(false);
  expect(world.robot.drive).toMatchObject({ station: 'B', state: 'running' });
});

it('another station than the announced one is announced anew, for the whole time', async () => {
  const world = createWorld({ nextAfterSeconds: 10 });
  await world.restart();
  world.delivery().release();
  await world.motion.startDrive({ station: 'A' }, { by: 'page' });
  const [first] = ['B', 'C'].map((station) => world.delivery().enqueue(station).id);
  world.end('succeeded');
  const tick = async () => {
    world.delivery().shown(world.delivery().view()?.countdown?.id ?? '');
    await world.tick();
  };
  for (let count = 0; count < 80 && world.delivery().view()?.countdown == null; count += 1) await tick();
  for (let count = 0; count < 18; count += 1) await tick();
  const before = world.delivery().view()?.countdown;
  expect(before).toMatchObject({ station: 'B' });
  world.delivery().remove(first ?? '');
  const after = world.delivery().view()?.countdown;
  expect(after).toMatchObject({ station: 'C', leftMs: COUNTDOWN_MS });
  expect(after?.id).not.toBe(before?.id);
  for (let count = 0; count < 4; count += 1) await tick();
  expect(world.robot.orders).toHaveLength(1);
});
