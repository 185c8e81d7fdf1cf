import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import type { SessionRecord } from '../../../src/lib/tunnel/records/schema.ts';
import { startProcess } from '../../process.ts';
import { isAlive } from './fake-proxy.ts';
import { connected, recordsWith, runningWorld, startedWorld, supportWorld, TOKEN } from './support-world.ts';

/** The real records on a disk that fails, or does not answer, on demand. */
function disk() {
  const hold = Promise.withResolvers<void>();
  const state = { fails: false, hangs: false, release: hold.resolve };
  const open = recordsWith(async () => {
    if (state.hangs) await hold.promise;
    if (state.fails) throw new GwError('FILE_UNWRITABLE', 'sessions.jsonl cannot be written (ENOSPC).');
  });
  return { state, open };
}

describe('without a record of its start', () => {
  it('there is no session: a disk that fails', async () => {
    const { state, open } = disk();
    await using world = await startedWorld({ openRecords: open });
    state.fails = true;
    world.offer();
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('not-recorded');
    expect(world.support.view()).toMatchObject({
      status: 'waiting',
      records: { status: 'failing', detail: expect.stringContaining('ENOSPC') },
      lastRefused: { detail: expect.stringContaining('ENOSPC') },
    });
    expect(world.proxy.spawned()).toEqual([]);
    expect(world.records()).toEqual([]);
    state.fails = false;
    await world.clock.advance(5_000);
    expect((await world.untilRecords(1))[0]).toMatchObject({ kind: 'refused', reason: 'not-recorded' });
    await expect.poll(() => world.support.view().records.status).toBe('ok');
  });

  it('there is no session: a disk that does not answer; a start that is written later gets its end', async () => {
    const { state, open } = disk();
    await using world = await startedWorld({ openRecords: open });
    state.hangs = true;
    world.offer();
    await world.clock.advance(4_999);
    expect(world.support.view().lastRefused).toBeNull();
    await world.clock.advance(1);
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('not-recorded');
    const detail = expect.stringContaining('not answered');
    expect(world.support.view().records).toMatchObject({ status: 'failing', detail });
    state.hangs = false;
    state.release();
    const records = await world.untilRecords(3);
    expect(records.map(({ kind }) => kind).sort()).toEqual(['end', 'refused', 'start']);
    const end = records.find(({ kind }) => kind === 'end');
    expect(end).toMatchObject({ reason: 'proxy-failed', durationS: 0, connections: 0 });
    expect(world.proxy.spawned()).toEqual([]);
  });

  it('a token counts as received while its record waits for the disk', async () => {
    const { state, open } = disk();
    await using world = await startedWorld({ openRecords: open });
    state.fails = true;
    world.offer({ region: 'other' });
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('other-region');
    state.fails = false;
    world.offer();
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('seen-before');
  });

  it('there is no session: records that cannot be opened', async () => {
    await using world = supportWorld({
      openRecords: async () => {
        throw new GwError('FILE_UNREADABLE', 'The session records cannot be read (EIO).');
      },
    });
    await expect(world.start()).rejects.toThrow('EIO');
    world.offer();
    await expect.poll(() => world.support.view().lastRefused?.reason).toBe('not-recorded');
    expect(world.support.view()).toMatchObject({ status: 'not-checked', records: { status: 'failing' } });
    await expect(world.support.sessions(10)).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

describe('an end', () => {
  it('on site while the start is not on the disk yet starts no proxy, and is recorded when the disk answers', async () => {
    const { state, open } = disk();
    await using world = await startedWorld({ openRecords: open });
    state.hangs = true;
    world.offer();
    await world.clock.advance(1);
    const ended = world.support.endOnSite('Kim');
    state.hangs = false;
    state.release();
    expect(await ended).toBe(true);
    expect((await world.untilRecords(2))[1]).toMatchObject({ kind: 'end', reason: 'ended-on-site' });
    expect(world.proxy.spawned()).toEqual([]);
  });

  it('that cannot be written is kept and written later, before the next start; the session has ended all the same', async () => {
    const { state, open } = disk();
    await using world = await runningWorld({ openRecords: open }, { token: `${TOKEN}1` });
    state.fails = true;
    await world.support.endOnSite('Kim');
    await world.clock.advance(60_000);
    expect(world.support.view()).toMatchObject({
      status: 'waiting',
      running: null,
      records: { status: 'failing', detail: expect.stringContaining('1 wait in memory') },
    });
    expect(await world.support.sessions(1)).toMatchObject([{ kind: 'session', end: null }]);
    state.fails = false;
    world.offer({ token: `${TOKEN}2` });
    const records = await world.untilRecords(3);
    expect(records.map(({ kind }) => kind)).toEqual(['start', 'end', 'start']);
    expect(records[2]).toMatchObject({ replaces: null });
  });

  it('of a session that runs when gw stops is recorded, and the proxy is gone', async () => {
    await using world = await runningWorld();
    const { pid } = await world.nth(1);
    await world.support.stop();
    expect(isAlive(pid)).toBe(false);
    expect(world.records()[1]).toMatchObject({ kind: 'end', reason: 'shutdown', connections: 7 });
    expect(world.support.view()).toMatchObject({ status: 'not-checked', running: null });
  });

  it('within the time of a stop, from a proxy that ignores SIGTERM and a disk that does not answer', async () => {
    const { state, open } = disk();
    await using world = await runningWorld({ openRecords: open }, {}, { says: [connected], isStubborn: true });
    const { pid } = await world.nth(1);
    state.hangs = true;
    const stopped = world.support.stop();
    await world.clock.advance(600);
    await expect.poll(() => isAlive(pid)).toBe(false);
    await expect.poll(() => world.support.view().running).toBeNull();
    await world.clock.advance(900);
    await stopped;
    expect(world.records().map(({ kind }) => kind)).toEqual(['start']);
    expect(world.logged.some(({ message }) => message.includes('may not have been kept'))).toBe(true);
    state.release();
  });

  it('that an earlier start of gw has not written is written at the next one; a frozen proxy is gone with it', async () => {
    await using world = supportWorld();
    const child = fileURLToPath(new URL('./support-child.ts', import.meta.url));
    world.proxy.behave({ says: [connected] });
    await using parent = startProcess(process.execPath, [child, world.dir, JSON.stringify(world.proxy.program)]);
    await parent.untilOutput('running');
    const { pid } = await world.nth(1);
    // setpriv is of util-linux, as on every Debian; without it a frozen proxy ends when it continues.
    const hasSetpriv = spawnSync('/bin/sh', ['-c', 'setpriv --pdeathsig KILL true']).status === 0;
    if (hasSetpriv) process.kill(pid, 'SIGSTOP');
    expect(isAlive(pid)).toBe(true);
    parent.child.kill('SIGKILL');
    await parent.closed;
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect(world.records().map(({ kind }) => kind)).toEqual(['start']);
    await world.start();
    const [start, end] = await world.untilRecords(2);
    const session = start?.kind === 'start' && start.session;
    const unknown = { durationS: null, connections: null };
    expect(end).toMatchObject({ kind: 'end', session, reason: 'unclean-shutdown', ...unknown });
    expect(await world.support.sessions(5)).toMatchObject([{ kind: 'session', end: { reason: 'unclean-shutdown' } }]);
  });
});

describe('the records', () => {
  it('go to the outbox in order, through failures and a restart, and not twice', async () => {
    const sent: SessionRecord[] = [];
    let isFailing = true;
    const sendRecord = async ({ record }: { readonly record: SessionRecord }) => {
      if (isFailing) throw new GwError('OUTBOX_REFUSED', 'The outbox is not open.');
      sent.push(record);
    };
    await using world = await startedWorld({ sendRecord });
    for (let i = 1; i <= 3; i += 1) world.offer({ token: `${TOKEN}${i}`, region: 'other' });
    await world.untilRecords(3);
    await world.clock.advance(1_000);
    await expect.poll(() => world.support.view().records.notSentYet).toBe(3);
    isFailing = false;
    await world.clock.advance(60_000);
    await expect.poll(() => sent.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await expect.poll(() => world.support.view().records.notSentYet).toBe(0);
    world.offer({ token: `${TOKEN}4`, region: 'other' });
    await expect.poll(() => sent.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    await expect.poll(() => world.support.view().records.notSentYet).toBe(0);
    await world.support.stop();
    const next = world.make();
    await world.start(next);
    world.offer({ token: `${TOKEN}5`, region: 'other' }, next);
    await expect.poll(() => sent.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(sent).toEqual(world.records());
  });

  it('are not handed over again and again while the pointer cannot be saved', async () => {
    let handed = 0;
    await using world = supportWorld({
      openRecords: async (options) => ({
        ...(await openRecords(options)),
        markSent: async () => {
          throw new GwError('FILE_UNWRITABLE', 'sent.json cannot be written (EROFS).');
        },
      }),
      async sendRecord() {
        handed += 1;
      },
    });
    await world.start();
    world.offer({ region: 'other' });
    await world.untilRecords(1);
    await expect.poll(() => handed).toBe(1);
    for (let i = 0; i < 20; i += 1) await world.clock.advance(60_000);
    expect(handed).toBe(1);
  });

  it('are listed newest first, as sessions and refusals', async () => {
    await using world = await startedWorld({}, { says: [connected] });
    expect(await world.support.sessions(10)).toEqual([]);
    world.offer({ token: `${TOKEN}1` });
    await world.untilRunning();
    world.offer({ token: `${TOKEN}2`, region: 'other' });
    await world.untilRecords(2);
    await world.support.endOnSite('Kim');
    world.offer({ token: `${TOKEN}3`, services: ['status'] });
    await world.untilRecords(4);
    expect(await world.support.sessions(10)).toMatchObject([
      { kind: 'session', services: ['status'], end: null },
      { kind: 'refused', reason: 'other-region', region: 'other' },
      { kind: 'session', services: ['web'], end: { reason: 'ended-on-site' } },
    ]);
    expect((await world.support.sessions(1)).length).toBe(1);
    expect((await world.support.sessions(2)).length).toBe(2);
  });
});
