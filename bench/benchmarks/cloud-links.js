import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { freePort } from '../../test/free-port.ts';
import { startProcess } from '../../test/process.ts';
import { residentMb } from '../measure.js';
import { startWorker } from '../worker.js';

const LINKS = 500;
const PROCESSES = 4;
/** Long enough for the backoff to grow. */
const AWAY_MS = 15_000;
const LIMIT_MS = 120_000;
const MAX_SETTLE_S = 60;

export default {
  title: `${LINKS} cloud links in ${PROCESSES} processes against one mosquitto that is away for ${AWAY_MS / 1000} s; the same number of plain clients of the MQTT library`,
  peers: [['mosquitto', 'mosquitto']],
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const [port, closedPort] = [await freePort(), await freePort()];
      const ca = await createCa({ commonName: 'Bench CA' });
      const start = await brokerIn(dir, ca, port);
      const files = await writeIdentities(dir, ca);
      const links = await measure('links', { dir, files, port, closedPort, start });
      const plain = await measure('plain', { dir, files, port, closedPort, start });
      return {
        rows: [
          { name: 'links, first connection', median: links.firstMs, unit: 'ms' },
          { name: 'plain clients, first connection', median: plain.firstMs, unit: 'ms' },
          { name: 'links, after the restart', median: links.againMs, unit: 'ms' },
          { name: 'plain clients, after the restart', median: plain.againMs, unit: 'ms' },
          { name: 'memory of a link', median: links.perClientMb * 1000, unit: 'kB' },
          { name: 'memory of a plain client', median: plain.perClientMb * 1000, unit: 'kB' },
        ],
        figures: [
          {
            name: 'all links subscribed again',
            value: `${(links.againMs / 1000).toFixed(1)} s`,
            target: `at most ${MAX_SETTLE_S} s`,
            holds: links.againMs <= MAX_SETTLE_S * 1000,
          },
          {
            name: 'links / plain clients',
            value: `${(links.againMs / plain.againMs).toFixed(1)} ×`,
            target: 'none, for scale',
            holds: true,
          },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function measure(kind, { dir, files, port, closedPort, start }) {
  await using undo = new AsyncDisposableStack();
  const broker = undo.use(await start());
  const workers = files.map((file) =>
    undo.use(startWorker('cloud-link-clients.js', [kind, file, join(dir, kind), `${port}`, `${closedPort}`])),
  );
  const settle = async () => {
    const began = performance.now();
    const answers = await Promise.all(
      workers.map((worker) => worker.request({ what: 'settle', limitMs: LIMIT_MS }, LIMIT_MS + 10_000)),
    );
    const ready = answers.reduce((sum, answer) => sum + answer.ready, 0);
    if (ready !== LINKS) throw new Error(`${ready} of ${LINKS} ${kind} connected within ${LIMIT_MS} ms`);
    return performance.now() - began;
  };
  const firstMs = await settle();
  const memoryMb = workers.reduce((sum, { pid }) => sum + residentMb(pid), 0);
  await broker[Symbol.asyncDispose]();
  await Promise.all(workers.map((worker) => worker.request({ what: 'untilLost', limitMs: 10_000 })));
  await sleep(AWAY_MS);
  undo.use(await start());
  const againMs = await settle();
  return { firstMs, againMs, perClientMb: memoryMb / LINKS };
}

/** A function that starts mosquitto with client certificates; it keeps no sessions, so all filters are subscribed anew. */
async function brokerIn(dir, ca, port) {
  const pair = await ca.issueServer({ names: ['127.0.0.1'] });
  const file = (name, text) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const config = file(
    'mosquitto.conf',
    `per_listener_settings true
persistence false
user root
log_dest stderr
log_type error
listener ${port} 127.0.0.1
cafile ${file('ca.pem', ca.caPem)}
certfile ${file('cert.pem', pair.certificatePem)}
keyfile ${file('key.pem', pair.keyPem)}
require_certificate true
use_identity_as_username true
allow_anonymous false
`,
  );
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  return async () => {
    const started = startProcess('mosquitto', ['-c', config], { env });
    for (let attempt = 0; attempt < 200 && !started.hasEnded(); attempt += 1) {
      if (await isListening(port)) return started;
      await sleep(25);
    }
    throw new Error(`mosquitto does not listen: ${started.stderr()}`);
  };
}

function isListening(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
  });
}

/** One file of identities for each process. */
async function writeIdentities(dir, ca) {
  const files = [];
  for (let process = 0; process < PROCESSES; process += 1) {
    const identities = [];
    for (let index = 0; index < LINKS / PROCESSES; index += 1) {
      const serial = `SN-${process}-${index}`;
      const { keyPem, certificatePem } = await ca.issueClientPair(serial);
      const { fingerprint256, validToDate } = new X509Certificate(certificatePem);
      for (const kind of ['links', 'plain']) mkdirSync(join(dir, kind, serial), { recursive: true, mode: 0o700 });
      identities.push({
        serial,
        endpoint: '127.0.0.1',
        region: 'eu-central-1',
        keyPem,
        certificatePem,
        caPem: ca.caPem,
        fingerprintSha256: fingerprint256,
        notAfter: validToDate.toISOString(),
      });
    }
    const file = join(dir, `identities-${process}.json`);
    writeFileSync(file, JSON.stringify(identities), { mode: 0o600 });
    files.push(file);
  }
  return files;
}
