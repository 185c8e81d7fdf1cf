import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WRAPPER } from '../../../src/lib/tunnel/session/proxy-process.ts';
import { listeners } from '../../listeners.ts';
import { startProcess } from '../../process.ts';
import { isAlive } from './fake-proxy.ts';
import { supportWorld } from './support-world.ts';

const connected = { event: 'connected', channelId: null, localAddress: '127.0.0.1' } as const;
const root = mkdtempSync(join(tmpdir(), 'gw-wrapper-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the process of the proxy', () => {
  it('opens no inspector on SIGUSR1, through which others could read the tokens', async () => {
    await using world = supportWorld();
    world.proxy.behave({ says: [connected] });
    await world.start();
    world.offer();
    await world.untilRunning();
    const { pid, flags } = await world.nth(1);
    expect(flags).toEqual(['--disable-sigusr1']);
    process.kill(pid, 'SIGUSR1');
    // Real time for an inspector that would open.
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(isAlive(pid) ? listeners(pid) : []).toEqual([]);
  });

  it.each([
    ['without setpriv', null],
    ['with one that does not know the option, as that of BusyBox', '#!/bin/sh\nexit 1\n'],
  ])('starts %s', async (name, setpriv) => {
    const path = join(root, name);
    mkdirSync(path);
    if (setpriv !== null) writeFileSync(join(path, 'setpriv'), setpriv, { mode: 0o755 });
    await using started = startProcess('/bin/sh', ['-c', WRAPPER, 'sh', '/bin/echo', 'a b', '$HOME'], {
      env: { PATH: path },
    });
    expect(await started.closed).toMatchObject({ code: 0, stdout: 'a b $HOME\n', stderr: '' });
  });
});
