import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { readProxyProcesses } from '../../../src/lib/toolkit/tunnel/rehearsal.ts';
import { startProcess } from '../../process.ts';

const IDLE = 'setInterval(() => {}, 1000)';

/** Prints its own id, or that of a child of its own, and stays. */
const printsPid = (words: readonly string[]) =>
  startProcess(process.execPath, ['-e', `console.log(process.pid + '.'); ${IDLE}`, ...words]);

it('finds the proxies of the process that listens on a port, also below a child of it, and no other', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  try {
    expect(await readProxyProcesses(port)).toEqual([]);
    await using direct = printsPid(['run.js', 'tunnel', 'proxy', '--tunnel-host', 'x']);
    await using below = startProcess('sh', [
      '-c',
      `"$0" -e "${IDLE}" run.js tunnel proxy & echo $!. ; wait`,
      process.execPath,
    ]);
    // Its parent ends at once, so it belongs to the first process of the system.
    await using orphan = startProcess('sh', [
      '-c',
      `"$0" -e "${IDLE}" run.js tunnel proxy >/dev/null 2>&1 & echo $!.`,
      process.execPath,
    ]);
    await using status = printsPid(['run.js', 'tunnel', 'status', 'proxy']);
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
