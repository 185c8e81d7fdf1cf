import { describe, expect, it } from 'vitest';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import { armClock } from '../../../src/lib/tunnel/session/own-clock.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { isKnown } from './fake-proxy.ts';
import { supportWorld } from './support-world.ts';

const connected = { event: 'connected', channelId: 'ch-1', localAddress: '127.0.0.1' } as const;

describe('the clocks of a session', () => {
  it('end it: that of the gateway alone, while the proxy does not run', async () => {
    await using world = supportWorld({ maxMinutes: 1 });
    world.proxy.behave({ says: [connected], secondMs: 1_000 });
    await world.start();
    world.offer();
    await world.untilRunning();
    const { pid } = await world.nth(1);
    process.kill(pid, 'SIGSTOP');
    await world.clock.advance(59_000);
    expect(world.support.view().running).toMatchObject({ leftMs: 1_000 });
    await world.clock.advance(2_000);
    const [, end] = await world.untilRecords(2);
    expect(end).toMatchObject({ reason: 'own-clock', detail: expect.stringContaining('was killed') });
    expect(isKnown(pid)).toBe(false);
  });

  it('end it: that of the proxy alone, while the clock of the gateway stands still', async () => {
    await using world = supportWorld({ maxMinutes: 1 });
    world.proxy.behave({ says: [connected], secondMs: 5 });
    await world.start();
    world.offer();
    const { pid } = await world.nth(1);
    const [, end] = await world.untilRecords(2);
    expect(end).toMatchObject({ reason: 'own-clock', detail: 'The clock of the proxy has expired: as ordered' });
    expect(isKnown(pid)).toBe(false);
  });

  it('end it: that of the cloud alone, while both others stand still', async () => {
    await using world = supportWorld();
    world.proxy.behave({ says: [connected, { event: 'ended', exit: 'closed', detail: 'close frame' }], code: 0 });
    await world.start();
    world.offer();
    expect((await world.untilRecords(2))[1]).toMatchObject({ reason: 'closed-by-cloud' });
  });

  it('are armed before the start is recorded: a slow disk does not extend a session', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using world = supportWorld({
      maxMinutes: 1,
      openRecords: async (options) => {
        const real = await openRecords(options);
        return {
          ...real,
          async append(body) {
            if (body.kind === 'start') await held;
            return await real.append(body);
          },
        };
      },
    });
    await world.start();
    world.offer();
    await world.clock.advance(4_000);
    // Real time for a program that would start too early.
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(world.proxy.spawned()).toEqual([]);
    expect(world.support.view().running).toBeNull();
    release();
    expect((await world.nth(1)).args.slice(-2)).toEqual(['--timeout', '56']);
    expect(world.support.view().running).toMatchObject({ leftMs: 56_000 });
  });

  it('do not follow the wall clock', async () => {
    await using world = supportWorld({ maxMinutes: 1 });
    world.proxy.behave({ says: [connected] });
    await world.start();
    world.offer();
    await world.untilRunning();
    world.clock.setWall(new Date('2031-01-01T00:00:00Z'));
    await world.clock.advance(30_000);
    expect(world.support.view().running).toMatchObject({ forMs: 30_000, leftMs: 30_000 });
    world.clock.setWall(new Date('2001-01-01T00:00:00Z'));
    await world.clock.advance(30_000);
    expect((await world.untilRecords(2))[1]).toMatchObject({ reason: 'own-clock', durationS: 60 });
  });

  it.each([
    [60_000, 60],
    [59_999.5, 60],
    [1, 1],
    [0, 0],
    [-500, 0],
  ])('with %d ms left record %d s', (leftMs, maxS) => {
    const clock = createFakeClock();
    expect(armClock(clock, clock.monotonicMs() + leftMs, () => {})).toMatchObject({ maxS });
  });

  it('leave nothing to a session that replaces one at its end: it is recorded with 0 s and ends at once', async () => {
    await using world = supportWorld({ maxMinutes: 1 });
    world.proxy.behave({ says: [connected], secondMs: 1_000 });
    await world.start();
    world.offer();
    await world.untilRunning();
    process.kill((await world.nth(1)).pid, 'SIGSTOP');
    await world.clock.advance(59_500);
    world.offer({ token: 'the-token-after-a-rotation' });
    // The frozen proxy is killed when the clock has expired for both sessions.
    await world.clock.advance(1_000);
    expect((await world.untilRecords(3))[2]).toMatchObject({ kind: 'start', maxS: 0 });
    await world.clock.advance(0);
    expect((await world.untilRecords(4))[3]).toMatchObject({ kind: 'end', reason: 'own-clock' });
  });
});
