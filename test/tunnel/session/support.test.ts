import { describe, expect, it } from 'vitest';
import { endOfProxy } from '../../../src/lib/tunnel/session/session.ts';
import { isAlive, isKnown } from './fake-proxy.ts';
import { connected, runningWorld, startedWorld, supportWorld, TOKEN } from './support-world.ts';

const counts = { event: 'counts', open: 1, connections: 3, bytesIn: 1_000, bytesOut: 20_000 } as const;

describe('a support session', () => {
  it('starts with its record on the disk, runs with the token in one environment, and ends with its figures', async () => {
    await using world = supportWorld();
    const { support, clock, proxy } = world;
    proxy.behave({ says: [connected, { event: 'services', services: ['web'] }, counts] });
    expect(support.view()).toMatchObject({ status: 'not-checked', running: null });
    await world.start();
    expect(support.view()).toMatchObject({ status: 'waiting', running: null, records: { status: 'not-checked' } });
    world.offer({ services: ['web', 'status'] });
    await world.untilRunning();
    const { args, env, cwd, records, pid } = await world.nth(1);
    // The record was there before the program.
    expect(records).toMatch(/^\{"format":"gw\/support-session\/1","seq":1,.*"kind":"start".*"\}\n$/);
    const where = '--tunnel-host tunnel.test --tunnel-port 443 --subprotocol securetunneling-3.0';
    expect(args.join(' ')).toBe(`tunnel proxy ${where} --service web --service status --timeout 3600`);
    expect(Object.keys(env).sort()).toEqual(['GW_TUNNEL_CLIENT_TOKEN', 'GW_TUNNEL_TOKEN', 'PATH']);
    expect(env.GW_TUNNEL_TOKEN).toBe(TOKEN);
    expect(env.GW_TUNNEL_CLIENT_TOKEN).toMatch(/^gwct-[a-zA-Z0-9-]{32,120}$/);
    expect(cwd).toBe('/');
    const [start] = world.records();
    if (start?.kind !== 'start') throw new Error('no start');
    expect(start).toMatchObject({ region: 'eu-central-1', services: ['web', 'status'], maxS: 3_600, replaces: null });
    await clock.advance(90_000);
    await expect.poll(() => support.view().running?.open).toBe(1);
    expect(support.view()).toMatchObject({
      status: 'running',
      records: { status: 'ok' },
      running: { session: start.session, since: start.at, forMs: 90_000, leftMs: 3_510_000, connections: 3 },
    });
    expect(await support.endOnSite('Kim\n at the reception')).toBe(true);
    expect(isKnown(pid)).toBe(false);
    // The state is readable without sign-in, also through a tunnel: who it was is in the record only.
    expect(support.view()).toMatchObject({
      status: 'waiting',
      running: null,
      lastEnded: { session: start.session, reason: 'ended-on-site', detail: 'Ended on site.' },
    });
    expect(JSON.stringify(support.view())).not.toContain('Kim');
    expect((await world.untilRecords(2))[1]).toMatchObject({
      ...{ kind: 'end', session: start.session, reason: 'ended-on-site' },
      ...{ detail: 'Ended on site by Kim at the reception.', channelId: 'ch-1' },
      ...{ durationS: 90, connections: 7, bytesIn: 70, bytesOut: 700 },
    });
    expect(await support.endOnSite('Kim')).toBe(false);
  });

  it('leaves no core file, and no memory in a core dump', async () => {
    await using world = await startedWorld();
    world.offer();
    const { limits, coreFilter } = await world.nth(1);
    expect(limits).toMatch(/^Max core file size +0 +0 /m);
    expect(Number.parseInt(coreFilter, 16)).toBe(0);
  });

  it('is not the destination of a lost connection for the people on site: connecting again', async () => {
    await using world = await startedWorld({}, { says: [connected, { event: 'lost', detail: 'reset' }] });
    world.offer();
    await expect.poll(() => world.proxy.spawned().length).toBe(1);
    await world.untilRunning('connecting');
    expect(world.support.view().detail).toContain('connecting');
  });

  it('is not shown as connected when its proxy reports nothing any more, and again when it does', async () => {
    await using world = await startedWorld({}, { says: [connected, counts] });
    world.offer();
    await expect.poll(() => world.support.view().running?.open).toBe(1);
    const { pid } = await world.nth(1);
    await world.clock.advance(5_000);
    expect(world.support.view().running).toMatchObject({ state: 'connected', reportAgeMs: 5_000 });
    await world.clock.advance(7_000);
    const { detail, running } = world.support.view();
    expect(running).toMatchObject({ state: 'not-checked', reportAgeMs: 12_000, open: 1, connections: 3 });
    expect(detail).toBe('A support session is running: web, tunnel not checked: no report for 12 s.');
    process.kill(pid, 'SIGUSR2');
    await world.untilRunning('connected');
    expect(world.support.view().running?.reportAgeMs).toBe(0);
  });

  it('is not shown as connecting for long when its proxy never reports', async () => {
    await using world = await startedWorld();
    world.offer();
    await world.nth(1);
    await world.untilRunning('connecting');
    await world.clock.advance(5_001);
    expect(world.support.view().running).toMatchObject({ state: 'not-checked', open: null });
  });

  it('whose proxy ends with a reason ends as that, with its figures', async () => {
    const says = [connected, counts, { event: 'ended', exit: 'closed', detail: 'so it is' } as const];
    await using world = await startedWorld({}, { says, code: 0 });
    world.offer();
    expect((await world.untilRecords(2))[1]).toMatchObject({
      ...{ kind: 'end', reason: 'closed-by-cloud', detail: 'Closed in the cloud: so it is' },
      ...{ connections: 3, bytesIn: 1_000, bytesOut: 20_000 },
    });
    await expect.poll(() => world.support.view().status).toBe('waiting');
  });

  const closed = { code: null, signal: null, startError: null, ended: null, stderr: '' };
  const exits = [
    ['closed', 0, 'closed-by-cloud'],
    ['configuration', 2, 'configuration'],
    ['network-lost', 3, 'network-lost'],
    ['refused', 4, 'token-refused'],
    ['own-clock', 5, 'own-clock'],
    ['internal', 70, 'proxy-failed'],
    ['terminated', 130, 'proxy-failed'],
  ] as const;
  it('ends by what its proxy says, where its exit code says the same', () => {
    for (const [exit, code, reason] of exits) {
      const ended = { event: 'ended', exit, detail: 'so it is' } as const;
      const end = endOfProxy({ ...closed, code, ended });
      expect(end).toEqual({ reason, detail: expect.stringMatching(/: so it is$/) });
      const other = endOfProxy({ ...closed, code: code + 1_000, ended });
      expect(other.reason).toBe('proxy-failed');
    }
    const ended = { event: 'ended', exit: 'closed', detail: '' } as const;
    const words = (about: Partial<Parameters<typeof endOfProxy>[0]>) => {
      const { reason, detail } = endOfProxy({ ...closed, ...about });
      return `${reason}: ${detail}`;
    };
    const failed = 'proxy-failed: The proxy';
    expect(words({ code: 0 })).toBe(`${failed} ended with exit code 0 without saying why.`);
    expect(words({ code: 1, stderr: 'Error: no such' })).toBe(`${failed} ended with exit code 1: Error: no such`);
    expect(words({ code: 70, ended })).toBe(`${failed} reported 'closed' and ended with exit code 70.`);
    expect(words({ code: 2, stderr: 'Unknown' })).toBe(`${failed} ended with exit code 2 without saying why: Unknown`);
    expect(words({ signal: 'SIGSEGV' })).toBe(`${failed} was ended by SIGSEGV, and not by gw.`);
  });

  it.each([
    ['an unknown exit code', { code: 1, stderr: 'Error: no such command\n' }, 'code 1: Error: no such'],
    ['a signal that gw did not send', { signal: 'SIGSEGV' }, 'SIGSEGV'],
  ] as const)('whose proxy ends with %s has failed, without figures', async (_name, behaviour, detail) => {
    await using world = await startedWorld({}, behaviour);
    world.offer();
    const [, end] = await world.untilRecords(2);
    expect(end).toMatchObject({ reason: 'proxy-failed', detail: expect.stringContaining(detail) });
    expect(end).toMatchObject({ connections: null, bytesIn: null });
  });

  it.each([
    ['does not exist', ['/nonexistent/node', 'run.js'], '127'],
    ['cannot be started at all', [process.execPath, 'x'.repeat(1_000_000)], 'E2BIG'],
  ])('whose program %s ends as a failed proxy', async (_name, program, detail) => {
    await using world = supportWorld();
    const support = world.make({ program });
    await world.start(support);
    world.offer({}, support);
    const [, end] = await world.untilRecords(2);
    expect(end).toMatchObject({ reason: 'proxy-failed', detail: expect.stringContaining(detail) });
    expect(support.view()).toMatchObject({ status: 'waiting', running: null });
  });

  it('without any connection has counts of 0, since the proxy reports every change before its end', async () => {
    await using world = await startedWorld(
      {},
      { says: [connected, { event: 'ended', exit: 'closed', detail: '' }], code: 0 },
    );
    world.offer();
    expect((await world.untilRecords(2))[1]).toMatchObject({ connections: 0, bytesIn: 0, bytesOut: 0 });
  });

  it('has no counts of a proxy that was killed; the last report is in the detail', async () => {
    await using world = await startedWorld({}, { says: [connected, counts], isStubborn: true });
    world.offer();
    await expect.poll(() => world.support.view().running?.open).toBe(1);
    const ended = world.support.endOnSite('Kim');
    const { pid } = await world.nth(1);
    await world.clock.advance(999);
    expect(isAlive(pid)).toBe(true);
    await world.clock.advance(1);
    await ended;
    expect(isKnown(pid)).toBe(false);
    const last = /was killed\. Last report of the proxy: 3 connections, 1000 bytes in, 20000 bytes out\.$/;
    expect((await world.untilRecords(2))[1]).toMatchObject({
      ...{ reason: 'ended-on-site', detail: expect.stringMatching(last) },
      ...{ connections: null, bytesIn: null, bytesOut: null },
    });
  });

  it('ignores lines of the proxy that are no events, and logs them without their content', async () => {
    await using world = await runningWorld(
      {},
      {},
      { says: ['hello <TOKEN>', '{"event":"counts","open":-1}', 'x'.repeat(100_000), connected] },
    );
    const ignored = world.logged.filter(({ message }) => message.includes('not an event'));
    expect(ignored.map(({ fields }) => Object.keys(fields))).toEqual([['session'], ['session'], ['session']]);
  });
});
