import { describe, expect, it } from 'vitest';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import { MAX_WAITING_NOTIFICATIONS } from '../../../src/lib/tunnel/session/notification-queue.ts';
import { createRecordLimit, MAX_BURST } from '../../../src/lib/tunnel/session/recording/record-limit.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { isFull } from '../../properties.ts';
import { isAlive } from './fake-proxy.ts';
import { connected, runningWorld, startedWorld, supportWorld, TOKEN } from './support-world.ts';

describe('a notification', () => {
  it('that does not pass is refused: recorded, shown, and no program is started', async () => {
    const changes = [
      [{ clientMode: 'source' }, 'not-destination'],
      [{ region: 'us-east-1' }, 'other-region'],
      [{ services: [] }, 'services-count'],
      [{ services: ['web', 'web'] }, 'service-repeated'],
      [{ services: ['web', 'ssh'] }, 'service-not-in-list'],
      // The records no longer know the token: the gate of the cloud remembers it in a file of its own.
      [{ isRepeated: true }, 'seen-before'],
    ] as const;
    await using world = await startedWorld();
    for (const [nth, [change, reason]] of changes.entries()) {
      world.offer({
        ...change,
        services: [...('services' in change ? change.services : ['web'])],
        token: `${TOKEN}${nth}`,
      });
      const record = (await world.untilRecords(nth + 1))[nth];
      expect(record).toMatchObject({ kind: 'refused', reason, tokenHash: expect.stringMatching(/^[0-9a-f]{32}$/) });
      expect(world.support.view()).toMatchObject({ status: 'waiting', lastRefused: { reason } });
      const fields = expect.objectContaining({ audit: true, reason });
      expect(world.logged).toContainEqual(expect.objectContaining({ message: 'tunnel notification refused', fields }));
    }
    expect(world.records()).toHaveLength(changes.length);
    expect(world.proxy.spawned()).toEqual([]);
  });

  it('is refused without cloud.tunnel, and recorded', async () => {
    await using world = supportWorld({ tunnel: '' });
    expect(world.support.view()).toMatchObject({ status: 'not-configured' });
    await world.start();
    world.offer();
    expect((await world.untilRecords(1))[0]).toMatchObject({ kind: 'refused', reason: 'not-configured' });
    expect(world.support.view()).toMatchObject({ status: 'not-configured' });
  });

  it('that was received before is refused, also after a restart, and while its record waits for the disk', async () => {
    await using world = await startedWorld();
    world.offer({ token: `${TOKEN}1` });
    world.offer({ token: `${TOKEN}1` });
    await world.untilRecords(2);
    world.offer({ token: `${TOKEN}2`, region: 'other' });
    await world.untilRecords(3);
    await world.nth(1);
    await world.support.stop();
    const next = world.make();
    await world.start(next);
    world.offer({ token: `${TOKEN}1` }, next);
    world.offer({ token: `${TOKEN}2` }, next);
    const records = await world.untilRecords(6);
    expect(records.map((record) => [record.kind, 'reason' in record ? record.reason : ''])).toEqual([
      ['start', ''],
      ['refused', 'seen-before'],
      ['refused', 'other-region'],
      ['end', 'shutdown'],
      ['refused', 'seen-before'],
      ['refused', 'seen-before'],
    ]);
    expect(world.proxy.spawned().length).toBe(1);
  });

  it('that names thousands of services is recorded with their number and the first of them', async () => {
    await using world = await startedWorld();
    const services = Array.from({ length: 4_000 }, (_, n) => `s${n}`);
    world.offer({ services });
    expect((await world.untilRecords(1))[0]).toMatchObject({
      reason: 'services-count',
      detail: '4000 services requested; 1 to 3 are allowed.',
      services: services.slice(0, 16),
    });
  });

  it('puts no token into the record, whichever field contains it', async () => {
    await using world = await startedWorld();
    world.offer({ clientMode: TOKEN, region: `x${TOKEN}`, services: [TOKEN.slice(3), 'web'] });
    const records = await world.untilRecords(1);
    expect(records[0]).toMatchObject({ clientMode: '[removed]', region: 'x[removed]' });
    expect(JSON.stringify([records, world.logged, world.support.view()])).not.toContain(TOKEN.slice(3, 15));
  });

  it('in a flood of refused ones does not displace the records: some are recorded, the others are counted', async () => {
    await using world = await startedWorld();
    for (let i = 0; i < MAX_BURST + 20; i += 1) {
      world.offer({ token: `${TOKEN}${i}`, region: 'other' });
      await world.clock.advance(10);
    }
    await world.untilRecords(MAX_BURST);
    expect(world.records().length).toBe(MAX_BURST);
    expect(world.logged.filter(({ message }) => message === 'tunnel notification refused').length).toBe(MAX_BURST + 20);
    await world.clock.advance(60_000);
    world.offer({ token: `${TOKEN}x`, region: 'other' });
    const records = await world.untilRecords(MAX_BURST + 1);
    const detail = expect.stringContaining(' 20 refusals before it are not recorded');
    expect(records.at(-1)).toMatchObject({ detail });
  });

  it('before the start, or after the stop, is refused', async () => {
    await using world = supportWorld();
    world.offer({ token: `${TOKEN}1` });
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('not-recorded');
    await world.start();
    await world.support.stop();
    world.offer({ token: `${TOKEN}2` });
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('shutting-down');
    expect(world.proxy.spawned()).toEqual([]);
    // The first one was recorded once the records were open.
    expect(world.records().map((record) => 'reason' in record && record.reason)).toEqual(['not-recorded']);
  });
});

it('a limit of records admits a burst, then one a minute, and counts what it left out', async () => {
  const clock = createFakeClock();
  const limit = createRecordLimit(clock);
  const admitted = Array.from({ length: MAX_BURST + 3 }, () => limit.admit());
  expect(admitted).toEqual([...Array(MAX_BURST).fill(0), null, null, null]);
  await clock.advance(59_999);
  expect(limit.admit()).toBeNull();
  await clock.advance(1);
  expect([limit.admit(), limit.admit()]).toEqual([4, null]);
  await clock.advance(100 * 60_000);
  const expected = [1, ...Array(MAX_BURST - 1).fill(0), null];
  expect(Array.from({ length: MAX_BURST + 1 }, () => limit.admit())).toEqual(expected);
});

describe('notifications', () => {
  it('in a flood of valid ones do not displace the records: further ones are refused for a while', {
    tags: 'large',
  }, async () => {
    await using world = supportWorld();
    const support = world.make({ program: ['/bin/false'] });
    await world.start(support);
    for (let i = 1; i <= MAX_BURST; i += 1) {
      world.offer({ token: `${TOKEN}${i}` }, support);
      await world.untilRecords(2 * i);
    }
    world.offer({ token: `${TOKEN}a` }, support);
    const records = await world.untilRecords(2 * MAX_BURST + 1);
    const detail = expect.stringContaining('Too many sessions');
    expect(records.at(-1)).toMatchObject({ kind: 'refused', reason: 'not-recorded', detail });
    await world.clock.advance(60_000);
    world.offer({ token: `${TOKEN}b` }, support);
    expect((await world.untilRecords(2 * MAX_BURST + 3)).at(-1)).toMatchObject({ kind: 'end' });
  });

  it('beyond those that can wait are refused at once', async () => {
    await using world = await startedWorld({
      openRecords: async (options) => ({ ...(await openRecords(options)), append: never }),
    });
    for (let i = 0; i < MAX_WAITING_NOTIFICATIONS; i += 1) world.offer({ token: `${TOKEN}${i}` });
    await world.clock.advance(1);
    expect(world.support.view().lastRefused).toBeNull();
    world.offer({ token: `${TOKEN}x` });
    world.offer({ token: `${TOKEN}y` });
    const detail = expect.stringContaining('Too many');
    expect(world.support.view().lastRefused).toMatchObject({ reason: 'not-recorded', detail });
    const stopped = world.support.stop();
    await world.clock.advance(6_000);
    await stopped;
  });
});

const never = () => new Promise<never>(() => {});

describe('a second valid notification', () => {
  it('replaces the session: one proxy at a time, both recorded, and the clock goes on', async () => {
    await using world = await runningWorld({ maxMinutes: 10 }, { token: `${TOKEN}1` });
    await world.clock.advance(9 * 60_000);
    world.offer({ token: `${TOKEN}2`, services: ['status'] });
    const second = await world.nth(2);
    const first = await world.nth(1);
    expect(second.others).toEqual([]);
    expect(isAlive(first.pid)).toBe(false);
    expect(second.args.slice(-2)).toEqual(['--timeout', '60']);
    expect(second.env.GW_TUNNEL_TOKEN).toBe(`${TOKEN}2`);
    expect(second.env.GW_TUNNEL_CLIENT_TOKEN).not.toBe(first.env.GW_TUNNEL_CLIENT_TOKEN);
    const [start, end, next] = await world.untilRecords(3);
    if (start?.kind !== 'start' || end?.kind !== 'end' || next?.kind !== 'start') throw new Error('other records');
    expect(end).toMatchObject({ session: start.session, reason: 'replaced', durationS: 540 });
    expect(next).toMatchObject({ replaces: start.session, maxS: 60, services: ['status'] });
    await world.untilRunning();
    await world.clock.advance(60_000);
    const last = { session: next.session, reason: 'own-clock', durationS: 60 };
    expect((await world.untilRecords(4))[3]).toMatchObject(last);
  });

  it('that is refused leaves the running one as it is', async () => {
    await using world = await runningWorld({}, { token: `${TOKEN}1` });
    const running = world.support.view().running?.session;
    world.offer({ token: `${TOKEN}2`, region: 'other' });
    world.offer({ token: `${TOKEN}1` });
    await world.untilRecords(3);
    expect(world.support.view().running).toMatchObject({ session: running, state: 'connected' });
    expect(world.proxy.spawned().length).toBe(1);
  });

  it('after the end of the first one is a session of its own', async () => {
    await using world = await runningWorld({ maxMinutes: 10 }, { token: `${TOKEN}1` });
    await world.clock.advance(9 * 60_000);
    await world.support.endOnSite('Kim');
    world.offer({ token: `${TOKEN}2` });
    expect((await world.untilRecords(3))[2]).toMatchObject({ kind: 'start', replaces: null, maxS: 600 });
  });

  it.each(
    (
      [
        ['refused', 4],
        ['closed', 0],
      ] as const
    ).slice(0, isFull ? 2 : 1),
  )(
    'just after the first one ended as %s may be its rotation: the clock goes on',
    { tags: 'property' },
    async (exit, code) => {
      await using world = await runningWorld({ maxMinutes: 10 }, { token: `${TOKEN}1` });
      await world.clock.advance(9 * 60_000);
      world.proxy.behave({ says: [connected, { event: 'ended', exit, detail: '' }], code });
      // A rotation, by the way of a proxy that ends at once: its own start inherits the clock too.
      world.offer({ token: `${TOKEN}2` });
      await world.untilRecords(4);
      await expect.poll(() => world.support.view().running).toBeNull();
      world.proxy.behave({ says: [connected] });
      await world.clock.advance(10_000);
      world.offer({ token: `${TOKEN}3` });
      expect((await world.untilRecords(5))[4]).toMatchObject({ kind: 'start', replaces: null, maxS: 50 });
    },
  );

  it('later than 10 s after that is a tunnel of its own', async () => {
    await using world = await startedWorld(
      { maxMinutes: 10 },
      { says: [connected, { event: 'ended', exit: 'refused', detail: '' }], code: 4 },
    );
    world.offer({ token: `${TOKEN}1` });
    await world.untilRecords(2);
    await expect.poll(() => world.support.view().running).toBeNull();
    await world.clock.advance(10_001);
    world.offer({ token: `${TOKEN}2` });
    expect((await world.untilRecords(3))[2]).toMatchObject({ kind: 'start', maxS: 600 });
  });

  it('among several at once is handled after the first: there is never a second proxy', async () => {
    await using world = await startedWorld({ maxMinutes: 10 }, { says: [connected] });
    for (let i = 1; i <= 3; i += 1) world.offer({ token: `${TOKEN}${i}` });
    const records = await world.untilRecords(5);
    expect(records.map(({ kind }) => kind)).toEqual(['start', 'end', 'start', 'end', 'start']);
    await world.untilRunning();
    expect(world.proxy.spawned().flatMap(({ others }) => others)).toEqual([]);
    const last = records.at(-1);
    expect(world.support.view().running?.session).toBe(last?.kind === 'start' ? last.session : undefined);
  });

  it('is ended by a person on site who ends support while it waits', async () => {
    await using world = await runningWorld({}, { token: `${TOKEN}1` });
    world.offer({ token: `${TOKEN}2` });
    world.offer({ token: `${TOKEN}3` });
    expect(await world.support.endOnSite('Kim')).toBe(true);
    expect(world.support.view()).toMatchObject({ status: 'waiting', running: null });
    const records = await world.untilRecords(6);
    const ends = records.filter((record) => record.kind === 'end');
    expect(ends.slice(1).map(({ reason }) => reason)).toEqual(['ended-on-site', 'ended-on-site']);
    expect(world.proxy.spawned().length).toBe(1);
  });
});
