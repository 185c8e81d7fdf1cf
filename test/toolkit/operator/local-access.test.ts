import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { DialError, type Dialer, directDialer, type RemoteProcess, type Ssh } from '../../../src/lib/net/index.ts';
import { gatewayAccess, localOperatorAccess } from '../../../src/lib/toolkit/operator/local-access.ts';
import { signedInAccess } from '../../../src/lib/toolkit/operator/signed-in-access.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { context } from './fake-operator.ts';

const OWN = '/srv/robot-7/state/local/gw.sock';
const row = (path: string) => `0000000000000000: 00000002 00000000 00010000 0001 01 16724 ${path}\n`;

/**
 * A remote host with these listening sockets; `opens`: those that the login may open; `owners`: user ids of the socket and of
 * the login, null when there is no such program. null as `paths`: it runs no programs.
 */
function hostWith(paths: readonly string[] | null, opens = paths ?? [], owners: string | null = '998\n0\n') {
  const dialled: string[] = [];
  let looked = 0;
  let lookUp: () => void = () => {};
  const dialerOf = (path: string): Dialer => ({
    way: 'via t@gw:22',
    async dial() {
      dialled.push(path);
      if (!opens.includes(path)) throw new DialError('other', { address: `unix:${path}` });
      return new PassThrough();
    },
  });
  const ssh = {
    where: 't@gw:22',
    socketDialer: dialerOf,
    async exec(argv: readonly string[]) {
      const isTable = argv[0] === 'cat';
      if (paths === null) throw new GwError('SSH_CHANNEL_REFUSED', 'Program refused by t@gw:22 (open failed).');
      if (isTable) {
        looked += 1;
        lookUp();
        expect(argv).toEqual(['cat', '/proc/net/unix']);
      } else expect(argv).toEqual(['stat', '-c', '%u', expect.stringMatching(/gw\.sock$/), '/proc/self']);
      const table = ['Num RefCount Protocol Flags Type St Inode Path\n', ...paths.map(row)].join('');
      const text = isTable ? table : (owners ?? '');
      const remote: RemoteProcess = {
        stdin: new PassThrough(),
        stdout: Readable.from([Buffer.from(text)]),
        stderr: Readable.from([]),
        ended: Promise.resolve({ code: isTable || owners !== null ? 0 : 127, signal: null }),
        [Symbol.asyncDispose]: async () => {},
      };
      return remote;
    },
  } as unknown as Ssh;
  const find = () =>
    localOperatorAccess({ site: { stateDir: '/srv/robot-7/state' }, ssh, clock: systemClock }, context());
  const onLookUp = (work: () => void) => {
    lookUp = work;
  };
  const signIn = () =>
    signedInAccess({ site: { stateDir: '/srv/robot-7/state' }, ssh, clock: systemClock } as Toolkit, {}, context());
  return { find, signIn, dialled, looked: () => looked, onLookUp };
}

describe('the local socket of the gateway behind --via', () => {
  it('is the one that listens there, wherever its state folder is', async () => {
    const host = hostWith(['/run/systemd/private', '/var/lib/gw/state/local/gw.sock', '/run/gw.sock']);
    expect(await host.find()).not.toBeNull();
    expect(host.dialled).toEqual(['/var/lib/gw/state/local/gw.sock']);
  });

  it('of several is only the one that the site file names, since any user there can open one', async () => {
    const others = ['/tmp/x/local/gw.sock', '/var/lib/gw/state/local/gw.sock'];
    const unclear = hostWith(others);
    expect(await unclear.find()).toBeNull();
    expect(unclear.dialled).toEqual([]);
    const named = hostWith([...others, OWN]);
    expect(await named.find()).not.toBeNull();
    expect(named.dialled).toEqual([OWN]);
  });

  it.each([
    ['of root', '0\n1000\n', true],
    ['of a service', '998\n0\n', true],
    ['of the login', '1001\n1001\n', true],
    ['of another person', '1001\n0\n', false],
    ['of another person, for a person', '1001\n1000\n', false],
    ['that is gone', '0\n', false],
    ['without an answer', null, false],
  ])('that the site file does not name, %s, is used: %#', async (_what, owners, isUsed) => {
    const path = '/tmp/x/local/gw.sock';
    const host = hostWith([path], [path], owners);
    expect((await host.find()) !== null).toBe(isUsed);
    expect(host.dialled).toEqual(isUsed ? [path] : []);
  });

  it('is none where none listens, or where the login may not open it', async () => {
    expect(await hostWith(['/run/systemd/private']).find()).toBeNull();
    expect(await hostWith([OWN], []).find()).toBeNull();
  });

  it('is that of the site file where the host runs no programs, and a refused look-up is not said to be no socket', async () => {
    const forwards = hostWith(null, [OWN]);
    expect(await forwards.find()).not.toBeNull();
    const closed = hostWith(null);
    expect(await closed.find()).toBeNull();
    await expect(closed.signIn()).rejects.toThrow(
      'Sign-in required: no password, and the local socket was not looked for: Program refused by t@gw:22 (open failed).',
    );
    await expect(hostWith([]).signIn()).rejects.toThrow('Sign-in required: no password, and no local socket.');
  });

  it('is looked up once for each connection', async () => {
    const host = hostWith([OWN]);
    await Promise.all([host.find(), host.find()]);
    await host.find();
    expect([host.looked(), host.dialled]).toEqual([1, [OWN]]);
  });

  it('is looked up again after a look-up that was cut off', async () => {
    const host = hostWith([OWN]);
    host.onLookUp(() => {
      throw new GwError('INTERRUPTED', 'The time of this step is over.');
    });
    await expect(host.find()).rejects.toMatchObject({ code: 'INTERRUPTED' });
    host.onLookUp(() => {});
    expect(await host.find()).not.toBeNull();
  });
});

describe('the running gateway', () => {
  it('is asked by its local socket, with --host by that, and is never that of another robot', async () => {
    const stateDir = mkdtempSync(join(tmpdir(), 'gw-local-access-'));
    mkdirSync(join(stateDir, 'local'));
    const gateway = (by: string) =>
      createServer((_request, response) => response.setHeader('gw-robot', 'SN-1').end(JSON.stringify({ by })));
    const [local, network] = [gateway('local'), gateway('network')];
    try {
      await new Promise<void>((done) => local.listen(join(stateDir, 'local', 'gw.sock'), done));
      await new Promise<void>((done) => network.listen(0, '127.0.0.1', done));
      const { port } = network.address() as AddressInfo;
      const byOf = async (host?: string, serial = 'SN-1') => {
        const site = { stateDir, operator: { port }, chassis: { serial } };
        const access = await gatewayAccess({ site, dialer: directDialer, clock: systemClock }, context(), host);
        return (await access.ask('GET', '/api/health', z.object({ by: z.string() }))).by;
      };
      expect([await byOf(), await byOf('127.0.0.1')]).toEqual(['local', 'network']);
      await expect(byOf(undefined, 'SN-2')).rejects.toMatchObject({ code: 'GATEWAY_OTHER_ROBOT' });
    } finally {
      for (const server of [local, network]) {
        server.closeAllConnections();
        server.close();
      }
      rmSync(stateDir, { recursive: true });
    }
  });
});
