// Ways from a local port to the target: the tunnel, and relays with as many hops.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { TUNNEL_TARGET } from '../../src/lib/tunnel/model.ts';
import { endProcess } from '../../test/process.ts';
import { gw } from '../measure.js';
import { startWorker } from '../worker.js';

const SERVICE = 'web';
const LIMIT_MS = 20_000;
/** For the simulated service and the relays alike: with them the relays are neither faster nor slower (measured). */
const ENGINE_FLAGS = ['--max-semi-space-size=1', '--heap-growing-percent=300', '--no-parallel-scavenge'];

/** The server at the only place that a tunnel leads to. */
export async function startTarget() {
  const worker = startWorker('tunnel/target.js', [`${TUNNEL_TARGET.port}`]);
  await worker.request({ what: 'listen' });
  return worker;
}

/**
 * A tunnel, in three processes: `gw tunnel connect`, the simulated service, `gw tunnel proxy`.
 * @returns {Promise<{port: number, pids: {source: number, service: number, proxy: number}} & AsyncDisposable>}
 */
export async function startTunnel(dir) {
  await using undo = new AsyncDisposableStack();
  const service = undo.use(startWorker('tunnel/service.js', [], ENGINE_FLAGS));
  const { host, port, caPem, sourceToken, destinationToken } = await service.request({
    what: 'open',
    services: [SERVICE],
  });
  const ca = join(dir, `${randomUUID()}.pem`);
  writeFileSync(ca, caPem);
  const place = [
    '--tunnel-host',
    host,
    '--tunnel-port',
    `${port}`,
    '--subprotocol',
    'securetunneling-3.0',
    '--ca-file',
    ca,
  ];
  const start = (argv, env) => {
    const child = spawn(process.execPath, [gw, 'tunnel', ...argv, ...place, '--service', SERVICE], {
      // The proxy lives as long as its stdin is open.
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    undo.defer(() => endProcess(child));
    return child;
  };
  const proxy = start(['proxy', '--timeout', '3600'], {
    GW_TUNNEL_TOKEN: destinationToken,
    GW_TUNNEL_CLIENT_TOKEN: randomUUID(),
  });
  await untilEvent(proxy, ({ event }) => event === 'services');
  const source = start(['connect', '--json'], { GW_TUNNEL_TOKEN: sourceToken });
  const { listeners } = await untilEvent(source, ({ event }) => event === 'ready');
  const running = undo.move();
  return {
    port: listeners[0].port,
    pids: { source: source.pid, service: service.pid, proxy: proxy.pid },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Three relays of plain TCP, in a process each; `isTls`: with TLS between them.
 * @returns {Promise<{port: number} & AsyncDisposable>}
 */
export async function startRelays(dir, { isTls = false } = {}) {
  await using undo = new AsyncDisposableStack();
  let identity = '';
  if (isTls) {
    const ca = await createCa({ commonName: 'Bench CA' });
    const { keyPem, certificatePem } = await ca.issueServer({ names: ['127.0.0.1'] });
    identity = join(dir, `${randomUUID()}.json`);
    writeFileSync(identity, JSON.stringify({ ca: ca.caPem, key: keyPem, cert: certificatePem }), { mode: 0o600 });
  }
  let port = TUNNEL_TARGET.port;
  // From the target to the client.
  for (const sides of [['tls-in'], ['tls-in', 'tls-out'], ['tls-out']]) {
    const argv = [`${port}`, identity, ...(isTls ? sides : [])];
    const relay = undo.use(startWorker('tunnel/relay.js', argv, ENGINE_FLAGS));
    port = await relay.request({ what: 'port' });
  }
  const running = undo.move();
  return { port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The first JSON line of stdout that is accepted; the rest is read and dropped. */
function untilEvent(child, isWanted) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const fail = (why) => reject(new Error(`gw tunnel: ${why}: ${errors}`));
  const timer = setTimeout(() => fail(`not ready within ${LIMIT_MS} ms`), LIMIT_MS);
  let rest = '';
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors = `${errors}${text}`.slice(-2_000);
  });
  child.once('exit', (code) => fail(`ended with ${code}`));
  child.stdout.setEncoding('utf8').on('data', (text) => {
    rest = `${rest}${text}`;
    const lines = rest.split('\n');
    rest = lines.pop().slice(-2_000);
    for (const line of lines) {
      const event = JSON.parse(line);
      if (isWanted(event.data ?? event)) resolve(event.data ?? event);
    }
  });
  return promise.finally(() => clearTimeout(timer));
}
