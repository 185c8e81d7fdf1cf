import { describe, expect, it } from 'vitest';
import { armClock } from '../../../src/lib/tunnel/session/own-clock.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { isKnown } from './fake-proxy.ts';
import { connected, recordsWith, runningWorld, startedWorld } from './support-world.ts';

describe('the clocks of a session', () => {
  it('end it: that of the gateway alone, while the proxy does not run', async () => {
    await using world = await runningWorld({ maxMinutes: 1 });
    const { pid } = await world.nth(1);
    process.kill(pid, 'SIGSTOP');
    await world.clock.advance(59_000);
    expect(world.support.view().running).toMatchObject({ leftMs: 1_000 });
    await world.clock.advance(2_000);
    const [, end] = await world.untilRecords(2);
    expect(end).toMatchObject({ reason: 'own-clock', detail: expect.stringContaining('was killed') });
    expect(isKnown(pid)).toBe(false);
  });

  it.each([
    ['proxy', 'own-clock', 5, 'The clock of the proxy has expired: as it is'],
    ['cloud', 'closed', 0, 'Closed in the cloud: as it is'],
  ] as const)('end it: that of the %s alone, while the others stand still', async (_, exit, code, detail) => {
    const says = [connected, { event: 'ended', exit, detail: 'as it is' } as const];
    await using world = await startedWorld({ maxMinutes: 1 }, { says, code });
    world.offer();
    const { pid } = await world.nth(1);
    const [, end] = await world.untilRecords(2);
    expect(end).toMatchObject({ detail });
    expect(isKnown(pid)).toBe(false);
  });

  it('are armed before the start is recorded: a slow disk does not extend a session', async () => {
    const held = Promise.withResolvers<void>();
    const openRecords = recordsWith(async ({ kind }) => {
      if (kind === 'start') await held.promise;
    });
    await using world = await startedWorld({ maxMinutes: 1, openRecords });
    world.offer();
    await world.clock.advance(4_000);
    expect(world.support.view().running).toBeNull();
    held.resolve();
    // A program that had started too early would have more time, and no record of its start.
    const { args, records } = await world.nth(1);
    expect(args.slice(-2)).toEqual(['--timeout', '56']);
    expect(records).toContain('"kind":"start"');
    expect(world.support.view().running).toMatchObject({ leftMs: 56_000 });
  });

  it('do not follow the wall clock', async () => {
    await using world = await runningWorld({ maxMinutes: 1 });
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
    await using world = await runningWorld({ maxMinutes: 1 });
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
