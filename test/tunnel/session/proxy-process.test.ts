import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WRAPPER } from '../../../src/lib/tunnel/session/proxy-process.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { listeners } from '../../listeners.ts';
import { startProcess } from '../../process.ts';
import { runningWorld } from './support-world.ts';

const root = folderOfEach();

/** By the mask of the caught signals, in which SIGUSR1 is the tenth. */
function catchesSigusr1(pid: number): boolean {
  const [, mask = '0'] = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${mask}`) >> 9n) & 1n) === 1n;
}

describe('the process of the proxy', () => {
  it('opens no inspector on SIGUSR1, through which others could read the tokens', async () => {
    await using world = await runningWorld();
    const { pid, flags } = await world.nth(1);
    expect(flags).toEqual(['--disable-sigusr1']);
    // Where the inspector can be opened, Node.js catches the signal, as in this process.
    expect([catchesSigusr1(process.pid), catchesSigusr1(pid)]).toEqual([true, false]);
    expect(listeners(pid)).toEqual([]);
  });

  it.each([
    ['without setpriv', null],
    ['with one that does not know the option, as that of BusyBox', '#!/bin/sh\nexit 1\n'],
  ])('starts %s', async (name, setpriv) => {
    const path = root.at(name);
    mkdirSync(path);
    if (setpriv !== null) writeFileSync(join(path, 'setpriv'), setpriv, { mode: 0o755 });
    await using started = startProcess('/bin/sh', ['-c', WRAPPER, 'sh', '/bin/echo', 'a b', '$HOME'], {
      env: { PATH: path },
    });
    expect(await started.closed).toMatchObject({ code: 0, stdout: 'a b $HOME\n', stderr: '' });
  });
});
