import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CLIENT_TOKEN_VARIABLE, TOKEN_VARIABLE } from '../../src/lib/tunnel/model.ts';
import { type ProxyEvent, proxyEventSchema } from '../../src/lib/tunnel/proxy.result.ts';
import { startProcess } from '../process.ts';
import { ACCESS, CLIENT, type FakeService, fakeService, SUBPROTOCOL, until } from '../tunnel/proxy/world.ts';
import { gwBinary, type Running, startGw } from './gw.ts';

const env = { [TOKEN_VARIABLE]: ACCESS, [CLIENT_TOKEN_VARIABLE]: CLIENT };

let service: FakeService;
beforeAll(async () => {
  service = await fakeService();
});
afterAll(async () => await service[Symbol.asyncDispose]());

const words = (maxS = 600, { port, caFile }: Pick<FakeService, 'port' | 'caFile'> = service) => [
  ...['tunnel', 'proxy', '--tunnel-host', '127.0.0.1', '--tunnel-port', String(port), '--subprotocol', SUBPROTOCOL],
  ...['--service', 'web', '--ca-file', caFile, '--timeout', String(maxS)],
];

const eventsOf = (stdout: string): ProxyEvent[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => proxyEventSchema.parse(JSON.parse(line)));

async function connected(proxy: Running): Promise<void> {
  await proxy.untilOutput('"services"');
}

describe('gw tunnel proxy', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s ends it in order: a reason, exit code 130',
    async (signal) => {
      await using proxy = startGw(words(), { env });
      await connected(proxy);
      const { code } = await proxy.end(signal);
      expect(code).toBe(130);
      expect(eventsOf(proxy.stdout()).at(-1)).toEqual({
        event: 'ended',
        exit: 'terminated',
        detail: 'ended by the gateway',
      });
    },
  );

  test('the end of stdin ends it', async () => {
    await using proxy = startGw(words(), { env });
    await connected(proxy);
    proxy.child.stdin?.end();
    await until('end', () => proxy.child.exitCode !== null);
    expect(proxy.child.exitCode).toBe(130);
  });

  test('its parent is killed with SIGKILL: it is gone within 2 s', async () => {
    const script = `
      const child = require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
      child.stdout.on('data', (bytes) => process.stdout.write(bytes));
      process.stdout.write('pid ' + child.pid + '\\n');`;
    await using parent = startProcess(process.execPath, ['-e', script, gwBinary, ...words()], {
      env: { PATH: process.env.PATH, ...env },
    });
    await parent.untilOutput('"services"');
    const pid = Number(/^pid (\d+)$/m.exec(parent.stdout())?.[1]);
    expect(isRunning(pid)).toBe(true);
    parent.child.kill('SIGKILL');
    await until('end of the proxy', () => !isRunning(pid));
  });

  test('its parent stands still: the own deadline ends it nevertheless', async () => {
    // SIGSTOP holds the parent for longer than the deadline.
    const refusing = await fakeService({
      answer: (_request, socket) => {
        socket.end('HTTP/1.1 503 Busy\r\n\r\n');
        return true;
      },
    });
    const script = `
      const child = require('node:child_process').spawn(process.execPath, process.argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] });
      process.stdout.write('pid ' + child.pid + '\\n');
      setInterval(() => {}, 1000);`;
    await using parent = startProcess(process.execPath, ['-e', script, gwBinary, ...words(4, refusing)], {
      env: { PATH: process.env.PATH, ...env },
    });
    await parent.untilOutput('pid ');
    const pid = Number(/^pid (\d+)$/m.exec(parent.stdout())?.[1]);
    await until('first attempt', () => refusing.requests.length > 0);
    parent.child.kill('SIGSTOP');
    await until('end of the proxy', () => stateOf(pid) === 'Z' || stateOf(pid) === null);
    parent.child.kill('SIGCONT');
    await refusing[Symbol.asyncDispose]();
  });

  test('its output is not read, and the pipe is full: the own deadline ends it nevertheless', async () => {
    const script = 'sleep 30 | { head -c 65536 /dev/zero; echo "pid $BASHPID" >&2; exec "$@"; } | sleep 30';
    await using shell = startProcess('bash', ['-c', script, 'bash', process.execPath, gwBinary, ...words(3)], {
      env: { PATH: process.env.PATH, ...env },
      detached: true,
    });
    await until('pid', () => shell.stderr().includes('pid '));
    const pid = Number(/^pid (\d+)$/m.exec(shell.stderr())?.[1]);
    const before = service.clients.length;
    await until('connected', () => service.clients.length > before);
    await until('end of the proxy', () => !isRunning(pid));
    // With its sleeping programs.
    if (shell.child.pid !== undefined) process.kill(-shell.child.pid, 'SIGTERM');
  });

  test('the token is in one environment only; a core dump has no memory', async () => {
    await using proxy = startGw(words(), { env });
    await connected(proxy);
    const { pid } = proxy.child;
    expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toContain(ACCESS);
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).toContain(ACCESS);
    expect(Number.parseInt(readFileSync(`/proc/${pid}/coredump_filter`, 'latin1'), 16)).toBe(0);
    await proxy.end();
    expect(proxy.stdout() + proxy.stderr()).not.toContain(ACCESS.slice(0, 8));
  });

  test.each([
    [
      'the service closes it',
      '0',
      async () => (await service.client(service.clients.length - 1)).ws.close(1000),
      'closed',
    ],
  ])('exit code: %s', async (_, code, work, exit) => {
    const before = service.clients.length;
    await using proxy = startGw(words(), { env });
    await connected(proxy);
    expect(service.clients.length).toBe(before + 1);
    await work();
    await until('end', () => proxy.child.exitCode !== null);
    expect(String(proxy.child.exitCode)).toBe(code);
    expect(eventsOf(proxy.stdout()).at(-1)).toMatchObject({ event: 'ended', exit });
  });

  test.each([
    ['no token', {}, words, 2, 'configuration'],
    ['a missing flag', env, () => ['tunnel', 'proxy', '--tunnel-host', '127.0.0.1'], 2, 'configuration'],
    ['a flag for another target', env, () => [...words(), '--target', '127.0.0.1:22'], 2, 'configuration'],
    ['a CA file that does not exist', env, () => words(9, { port: 1, caFile: '/nonexistent' }), 2, 'configuration'],
    ['the own deadline', env, () => words(1), 5, 'own-clock'],
  ])('exit code: %s', async (_, variables, argv, code, exit) => {
    await using proxy = startGw(argv(), { env: variables });
    await until('end', () => proxy.child.exitCode !== null);
    expect(proxy.child.exitCode).toBe(code);
    await until('last event', () => proxy.stdout().includes('"ended"'));
    expect(eventsOf(proxy.stdout()).at(-1)).toMatchObject({ event: 'ended', exit });
    expect(proxy.stdout() + proxy.stderr()).not.toContain(ACCESS.slice(0, 8));
  });
});

/** State letter of a process; null: there is none. */
function stateOf(pid: number): string | null {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? null;
  } catch {
    return null;
  }
}

function isRunning(pid: number): boolean {
  const state = stateOf(pid);
  return state !== null && state !== 'Z';
}
