import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceManagerOf } from '../../src/lib/gateway/index.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { startProcess } from '../process.ts';

const child = fileURLToPath(new URL('./service-manager-child.ts', import.meta.url));
/** Binds a datagram socket for a path, as systemd does, and prints each message in one line. */
const RECEIVER = String.raw`$| = 1; socket S, AF_UNIX, SOCK_DGRAM, 0 or die; ($path = $ARGV[0]) =~ s/^@/\0/;
bind S, sockaddr_un $path or die; print "bound\n"; while (defined recv S, $_, 999, 0) { tr/\n/,/; print "$_\n" }`;

const dir = folderOfEach();

/** The processes of a session led by a child of `pid`. */
function childrenOf(pid: number): number[] {
  const found = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  return found
    .map((line) => line.trim().split(/ +/).map(Number))
    .flatMap(([own = 0, parent]) => (parent === pid ? [own] : []));
}
const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

describe('the manager of the service', () => {
  it('is the one that the variables of sd_notify name', () => {
    const NOTIFY_SOCKET = '/run/systemd/notify';
    expect(serviceManagerOf({}, 1)).toBeNull();
    expect(serviceManagerOf({ NOTIFY_SOCKET: '' }, 1)).toBeNull();
    expect(serviceManagerOf({ WATCHDOG_USEC: '10000000' }, 1)).toBeNull();
    // An address of another kind (vsock) has no path.
    expect(serviceManagerOf({ NOTIFY_SOCKET: 'vsock:2:1234' }, 1)).toBeNull();
    const watched = { NOTIFY_SOCKET, WATCHDOG_USEC: '4000000' };
    expect(serviceManagerOf(watched, 1)).toEqual({ reportEveryMs: 1_000 });
    expect(serviceManagerOf({ ...watched, WATCHDOG_PID: '1' }, 1)).toEqual({ reportEveryMs: 1_000 });
    // The watchdog of another process; it is still reported as ready.
    expect(serviceManagerOf({ ...watched, WATCHDOG_PID: '2' }, 1)).toEqual({ reportEveryMs: 2_500 });
    expect(serviceManagerOf({ NOTIFY_SOCKET: '@gw' }, 1)).toEqual({ reportEveryMs: 2_500 });
  });

  it('gets reports at an interval above zero, whatever the variables hold', { tags: 'property' }, () => {
    const number = fc.oneof(fc.string(), fc.bigInt({ min: 0n }).map(String));
    fc.assert(
      fc.property(number, fc.option(fc.string(), { nil: undefined }), (micros, watched) => {
        const manager = serviceManagerOf({ NOTIFY_SOCKET: '/x', WATCHDOG_USEC: micros, WATCHDOG_PID: watched }, 7);
        expect(manager?.reportEveryMs).toBeGreaterThan(0);
        expect(manager?.reportEveryMs).toBeLessThan(2 ** 31);
      }),
    );
  });

  /** A receiver, and a process that reports to it. */
  async function reporting(socket: string) {
    const receiver = startProcess('perl', ['-MSocket', '-e', RECEIVER, socket]);
    await receiver.untilOutput('bound');
    const env = { ...process.env, NOTIFY_SOCKET: socket, WATCHDOG_USEC: '200000' };
    const daemon = startProcess(process.execPath, [child], { env });
    return {
      receiver,
      daemon,
      pid: daemon.child.pid ?? 0,
      async [Symbol.asyncDispose]() {
        await daemon[Symbol.asyncDispose]();
        await receiver[Symbol.asyncDispose]();
      },
    };
  }

  it('gets one datagram at once and then again and again, and the helper ends with a killed process', async () => {
    await using world = await reporting(`@${dir.at('notify')}`);
    await world.receiver.untilOutput('READY=1,WATCHDOG=1,\nREADY=1,WATCHDOG=1,\nREADY=1,WATCHDOG=1,\n');
    const [helper = 0] = childrenOf(world.pid);
    expect(isAlive(helper)).toBe(true);
    world.daemon.child.kill('SIGKILL');
    await expect.poll(() => isAlive(helper)).toBe(false);
  });

  it('gets them again after the loss of the helper, and none at the end', async () => {
    await using world = await reporting(dir.at('notify'));
    const { receiver, daemon, pid } = world;
    await receiver.untilOutput('READY');
    const [first = 0] = childrenOf(pid);
    for (const one of [...childrenOf(first), first]) process.kill(one, 'SIGKILL');
    await daemon.untilOutput('the helper that reports to systemd ended');
    const before = receiver.stdout();
    await receiver.untilOutput(`${before}READY=1,WATCHDOG=1,\n`);
    const [second = 0] = childrenOf(pid);
    expect(second).not.toBe(first);
    daemon.child.kill('SIGTERM');
    const { stdout } = await daemon.closed;
    expect(stdout.match(/helper/g)).toHaveLength(1);
    await expect.poll(() => isAlive(second)).toBe(false);
  });

  it('gets them by systemd-notify where perl is missing', { tags: 'large' }, async () => {
    const [bin, calls] = [dir.at('bin'), dir.at('calls')];
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$# $*" >> '${calls}'\n`, { mode: 0o755 });
    await using _reporting = startProcess(process.execPath, [child], {
      env: { PATH: bin, NOTIFY_SOCKET: '/x', WATCHDOG_USEC: '200000' },
    });
    const lines = () => (existsSync(calls) ? readFileSync(calls, 'utf8') : '');
    await expect.poll(lines).toContain('2 READY=1 WATCHDOG=1\n2 READY=1 WATCHDOG=1\n');
  });
});
