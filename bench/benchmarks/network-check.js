import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/free-port.ts';
import { runProcess } from '../../test/process.ts';
import { gw, isJsonReady, median, startChild } from '../measure.js';

const ROUNDS = 5;
/** Delay of the slowest server. */
const SLOW_MS = 2_000;

/** A port in front of another one that delays the first bytes, like a remote or busy server. */
async function lateFront(to) {
  const { connect } = await import('node:net');
  const sockets = new Set();
  const server = createServer((here) => {
    sockets.add(here);
    here.on('error', () => {});
    const there = connect(to, '127.0.0.1');
    there.on('error', () => here.destroy());
    here.pipe(there);
    setTimeout(() => there.pipe(here), SLOW_MS);
    here.on('close', () => there.destroy());
  });
  const port = await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server.address().port)));
  return {
    port,
    [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export default {
  title: `Network check with one server that is ${SLOW_MS / 1000} s late: gw against openssl s_client, which connects to that server only`,
  peers: [['openssl', 'openssl']],
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const sim = ['sim', '--dir', dir, '--chassis-port', '0', '--operator-port', `${await freePort()}`];
      await using _sim = await startChild(process.execPath, [gw, ...sim, '--with', 'cloud', '--json'], isJsonReady);
      const sitePath = join(dir, 'site.yaml');
      const site = readFileSync(sitePath, 'utf8');
      const storagePort = Number(/storageUrl: https:\/\/127\.0\.0\.1:(\d+)/.exec(site)[1]);
      await using late = await lateFront(storagePort);
      const lateSite = join(dir, 'late.yaml');
      writeFileSync(lateSite, site.replace(`https://127.0.0.1:${storagePort}`, `https://127.0.0.1:${late.port}`));

      const rows = { process: [], inside: [], slowest: [], openssl: [] };
      for (let round = -1; round < ROUNDS; round += 1) {
        const began = performance.now();
        const { stdout } = await runProcess(process.execPath, [gw, 'network', 'check', '--site', lateSite, '--json']);
        const tookMs = performance.now() - began;
        const { data } = JSON.parse(stdout);
        const line = data.lines.find(({ id }) => id === 'storage.https');
        if (line.verdict !== 'ok') throw new Error(`the late storage did not answer: ${line.detail}`);
        const sBegan = performance.now();
        await runProcess('openssl', [
          's_client',
          '-connect',
          `127.0.0.1:${late.port}`,
          '-CAfile',
          join(dir, 'enrolment-ca.pem'),
        ]);
        const opensslMs = performance.now() - sBegan;
        if (round < 0) continue;
        rows.process.push(tookMs);
        rows.inside.push(data.tookMs);
        rows.slowest.push(Math.max(...data.checks.map((check) => check.tookMs)));
        rows.openssl.push(opensslMs);
      }
      const over = median(rows.inside.map((ms, round) => ms - rows.slowest[round]));
      const whole = median(rows.process.map((ms, round) => ms - rows.slowest[round]));
      return {
        rows: [
          { name: 'gw network check, whole process', median: median(rows.process), unit: 'ms', samples: rows.process },
          { name: 'its slowest single check', median: median(rows.slowest), unit: 'ms', samples: rows.slowest },
          { name: 'openssl s_client, that server', median: median(rows.openssl), unit: 'ms', samples: rows.openssl },
        ],
        figures: [
          {
            name: 'check over its slowest',
            value: `${over.toFixed(0)} ms`,
            target: 'at most 500 ms',
            holds: over <= 500,
          },
          {
            name: 'process over its slowest',
            value: `${whole.toFixed(0)} ms`,
            target: 'at most 500 ms',
            holds: whole <= 500,
          },
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
