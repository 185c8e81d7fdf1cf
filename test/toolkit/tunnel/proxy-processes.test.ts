import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { readProxyProcesses } from '../../../src/lib/toolkit/tunnel/rehearsal.ts';
import { startProcess } from '../../process.ts';

/** Prints its own id, or that of a child of its own, and waits for a line. */
const shell = (script: string, ...words: readonly string[]) =>
  startProcess('sh', ['-c', script, ...words], { input: null });
const printsPid = (...words: readonly string[]) => shell('echo $$.; read _', ...words);
const PROXY = "sh -c 'read _ <&3' run.js tunnel proxy";

it('finds the proxies of the process that listens on a port, also below a child of it, and no other', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  try {
    expect(await readProxyProcesses(port)).toEqual([]);
    await using direct = printsPid('run.js', 'tunnel', 'proxy', '--tunnel-host', 'x');
    await using below = shell(`exec 3<&0; ${PROXY} & echo $!. ; wait`);
    // Its parent ends at once, so it belongs to the first process of the system.
    await using orphan = shell(`exec 3<&0; ${PROXY} >/dev/null 2>&1 & echo $!.`);
    await using status = printsPid('run.js', 'tunnel', 'status', 'proxy');
    for (const one of [direct, below, status]) await one.untilOutput('.');
    await orphan.closed;
    const pidOf = (one: typeof direct) => Number.parseInt(one.stdout(), 10);
    try {
      expect([...((await readProxyProcesses(port)) ?? [])].sort()).toEqual([pidOf(direct), pidOf(below)].sort());
    } finally {
      process.kill(pidOf(orphan), 'SIGKILL');
      process.kill(pidOf(below), 'SIGKILL');
    }
  } finally {
    server.close();
  }
});

it('does not know them where no process listens there', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  expect(await readProxyProcesses(port)).toBeNull();
});
