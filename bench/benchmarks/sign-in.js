import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/free-port.ts';
import { gw, isJsonReady, median, startChild } from '../measure.js';

const PASSWORD = 'correct horse battery';
const ATTACKERS = 120;
const PERSONS = 5;
/** Retry interval, as the answer requests. */
const RETRY_MS = 1_000;
const DEADLINE_MS = 60_000;

/** Source addresses of the attack by number of the attempt; all of 127/8 is local. */
const floods = {
  'one /24': (n) => `127.0.1.${1 + (n % 254)}`,
  'all of 127/8': (n) => {
    const x = (n * 7919) % 16_000_000;
    return `127.${1 + ((x >> 16) % 254)}.${(x >> 8) & 255}.${1 + ((x & 255) % 254)}`;
  },
};

export default {
  title: `Sign-in with the right password while ${ATTACKERS} clients send wrong ones continuously, against an idle gateway`,
  async run() {
    const rows = [{ name: 'idle, new device', unit: 'ms', ...(await measure(null)).fresh }];
    for (const [name, addressOf] of Object.entries(floods)) {
      const { fresh, known } = await measure(addressOf);
      rows.push({ name: `${name}, new device`, unit: 'ms', ...fresh });
      rows.push({ name: `${name}, known device`, unit: 'ms', ...known });
    }
    const worst = Math.max(...rows.flatMap(({ samples }) => samples));
    return {
      rows,
      figures: [
        {
          name: 'slowest sign-in, s',
          value: (worst / 1000).toFixed(1),
          target: `every person within ${DEADLINE_MS / 1000}`,
          holds: worst < DEADLINE_MS,
        },
      ],
    };
  },
};

async function measure(addressOf) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
  try {
    const port = await freePort();
    writeFileSync(
      join(dir, 'site.yaml'),
      `name: bench\nchassis: { host: 127.0.0.1, port: ${await freePort()}, serial: BENCH }\noperator: { port: ${port}, passwordFile: hash }\n`,
    );
    writeFileSync(join(dir, 'password'), `${PASSWORD}\n`, { mode: 0o600 });
    const set = [
      gw,
      'operator',
      'password',
      '--site',
      join(dir, 'site.yaml'),
      '--password-file',
      join(dir, 'password'),
    ];
    const { status, stderr } = spawnSync(process.execPath, set, { encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
    const argv = [gw, 'serve', '--site', join(dir, 'site.yaml'), '--json', '--log-level', 'error'];
    await using _serve = await startChild(process.execPath, argv, isJsonReady);
    const stopped = { yes: false };
    let attempts = 0;
    const attack = async () => {
      while (!stopped.yes) {
        attempts += 1;
        const { status } = await post(port, addressOf(attempts), `wrong ${attempts}`);
        if (status === 0) await sleep(20);
      }
    };
    const attackers = addressOf === null ? [] : Array.from({ length: ATTACKERS }, attack);
    if (addressOf !== null) await sleep(5_000);
    const [fresh, known] = [[], []];
    for (let person = 0; person < PERSONS; person += 1) {
      const first = await signIn(port, `127.0.0.${2 + person}`);
      fresh.push(first.tookMs);
      // The same device, with another address.
      if (first.device !== null) known.push((await signIn(port, `127.0.9.${2 + person}`, first.device)).tookMs);
    }
    stopped.yes = true;
    await Promise.all(attackers);
    return { fresh: { median: median(fresh), samples: fresh }, known: { median: median(known), samples: known } };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function signIn(port, address, cookie) {
  const began = performance.now();
  for (;;) {
    const { status, cookies } = await post(port, address, PASSWORD, cookie);
    const tookMs = performance.now() - began;
    const device = cookies.map((line) => line.split(';')[0]).find((pair) => pair.startsWith('gw_device=')) ?? null;
    if (status === 200 || tookMs > DEADLINE_MS) return { tookMs, device };
    await sleep(RETRY_MS);
  }
}

function post(port, localAddress, password, cookie) {
  const { promise, resolve } = Promise.withResolvers();
  const nothing = { status: 0, cookies: [] };
  const sent = request(
    {
      host: '127.0.0.1',
      port,
      localAddress,
      path: '/api/anmeldung',
      method: 'POST',
      agent: false,
      timeout: 20_000,
      headers: { 'content-type': 'application/json', ...(cookie !== undefined && { cookie }) },
    },
    (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode, cookies: response.headers['set-cookie'] ?? [] }));
      response.on('error', () => resolve(nothing));
    },
  );
  sent.on('timeout', () => sent.destroy());
  sent.on('error', () => resolve(nothing));
  sent.end(JSON.stringify({ password }));
  return promise;
}
