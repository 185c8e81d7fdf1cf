import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PORT, socketsOn } from '../heartbeat.js';
import { startWorker } from '../worker.js';

const ROBOTS = 1_000;
const PERIOD_S = 2;
const STEADY_S = 30;
const BURST = { perSecond: 5_000, seconds: 5 };
const FLOOD = { seconds: 2, most: 400_000 };
/** Another program may use the port temporarily. */
const WAIT_FOR_PORT_MS = 20_000;
const MAX_CPU_PERCENT = 5;

export default {
  title: `${ROBOTS.toLocaleString('en')} robots sending heartbeats every ${PERIOD_S} s on loopback to the fleet service; a bare socket receives the same datagrams`,
  async run() {
    const blocked = await portBlocked();
    if (blocked !== null) return { skipped: blocked };
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      const keyFile = join(dir, 'heartbeat');
      const stateDir = join(dir, 'state');
      writeFileSync(keyFile, randomBytes(32).toString('hex'), { mode: 0o600 });
      mkdirSync(stateDir, { mode: 0o700 });
      await using fleet = startWorker('heartbeat-receiver.js', ['fleet', stateDir, keyFile]);
      await using bare = startWorker('heartbeat-receiver.js', ['bare']);
      await using sender = startWorker('heartbeat-sender.js', [keyFile]);
      await fleet.request({ what: 'start' });
      const barePort = (await bare.request({ what: 'start' })).port;
      return await measure(fleet, bare, barePort, sender);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function measure(fleet, bare, barePort, sender) {
  using watch = watchPort();
  const ports = [PORT, barePort];
  const spread = { what: 'pace', robots: ROBOTS, ports, perSecond: ROBOTS / PERIOD_S };
  /** Runs one phase; returns the sent datagrams and the counts of both receivers. */
  const phase = async (message) => {
    const before = await readCounts(fleet, bare, barePort);
    const { sent, tookMs } = await sender.request(message, 90_000);
    const after = await readCounts(fleet, bare, barePort);
    const gained = (side) =>
      Object.fromEntries(
        ['received', 'lost', 'drops', 'cpuMs'].map((key) => [key, after[side][key] - before[side][key]]),
      );
    return { sent, tookMs, fleet: gained('fleet'), bare: gained('bare'), after };
  };

  // Warm-up: the first heartbeats create the neighbours, and the code is compiled.
  await phase({ ...spread, seconds: 2 * PERIOD_S });
  const steady = await phase({ ...spread, seconds: STEADY_S });
  const burst = await phase({ ...spread, ...BURST });
  const flood = await phase({ what: 'flood', robots: ROBOTS, port: PORT, ...FLOOD });
  const bareFlood = await phase({ what: 'flood', robots: ROBOTS, port: barePort, ...FLOOD });
  await fleet.request({ what: 'stop' });
  if (watch.wasShared())
    return { skipped: `another program opened UDP ${PORT} meanwhile and received some of the heartbeats` };
  const { robots, rejected } = flood.after.fleet;
  if (robots !== ROBOTS) throw new Error(`${robots} robots listed, ${ROBOTS} sent heartbeats`);

  const missing = ({ sent, fleet: { received, lost } }) => Math.max(sent - received, lost);
  const percent = ({ tookMs }, { cpuMs }) => (100 * cpuMs) / tookMs;
  const micros = ({ cpuMs, received }) => (1000 * cpuMs) / received;
  const count = (name, value) => ({ name, median: value, unit: '' });
  const perHeartbeat = (name, side) => ({ name, median: micros(side), unit: 'µs' });
  const share = (name, of, side) => ({ name, median: percent(of, side), unit: '%' });
  const each = `${BURST.perSecond.toLocaleString('en')}/s`;
  const used = percent(steady, steady.fleet);
  const accounted = flood.fleet.received + flood.fleet.drops;
  return {
    rows: [
      count(`sent in ${STEADY_S} s`, steady.sent),
      count('received', steady.fleet.received),
      share('CPU of the fleet service', steady, steady.fleet),
      share('CPU of a bare socket', steady, steady.bare),
      perHeartbeat('CPU per heartbeat, fleet', steady.fleet),
      perHeartbeat('CPU per heartbeat, bare socket', steady.bare),
      count(`sent at ${each}, ${BURST.seconds} s`, burst.sent),
      count('received', burst.fleet.received),
      count('dropped by the kernel', burst.fleet.drops),
      share('CPU of the fleet service', burst, burst.fleet),
      perHeartbeat('CPU per heartbeat, fleet', burst.fleet),
      perHeartbeat('CPU per heartbeat, bare socket', burst.bare),
      count(`sent without a pause, ${(flood.tookMs / 1000).toFixed(1)} s`, flood.sent),
      count('received', flood.fleet.received),
      count('dropped by the kernel', flood.fleet.drops),
      perHeartbeat('CPU per heartbeat, fleet', flood.fleet),
      count('same to a bare socket, sent', bareFlood.sent),
      count('received', bareFlood.bare.received),
      count('dropped by the kernel', bareFlood.bare.drops),
      count(
        'refused, all phases',
        Object.values(rejected).reduce((sum, refused) => sum + refused, 0),
      ),
    ],
    figures: [
      lostFigure('lost of 30 s', missing(steady)),
      {
        name: 'CPU, share of one core',
        value: `${used.toFixed(2)} %`,
        target: `at most ${MAX_CPU_PERCENT} %`,
        holds: used <= MAX_CPU_PERCENT,
      },
      {
        name: 'CPU, fleet / bare socket',
        value: `${(steady.fleet.cpuMs / steady.bare.cpuMs).toFixed(2)} ×`,
        target: 'none, for scale',
        holds: true,
      },
      lostFigure(`lost at ${each}`, missing(burst)),
      {
        name: 'flood: sent − received − dropped',
        value: `${flood.sent - accounted}`,
        target: '0',
        holds: flood.sent === accounted,
      },
    ],
  };
}

function lostFigure(name, lost) {
  return { name, value: lost.toLocaleString('en'), target: 'none', holds: lost === 0 };
}

/** Waits until no datagram is in flight; the counts of both sides, with the datagrams that the kernel dropped. */
async function readCounts(fleet, bare, barePort) {
  let last = null;
  for (let attempt = 0; attempt < 40; attempt += 1) {
    const now = { fleet: await fleet.request({ what: 'read' }), bare: await bare.request({ what: 'read' }) };
    const isQuiet = last?.fleet.received === now.fleet.received && last?.bare.received === now.bare.received;
    last = now;
    if (isQuiet) break;
    await sleep(250);
  }
  return {
    fleet: { ...last.fleet, drops: dropsOn(PORT) },
    bare: { ...last.bare, lost: 0, drops: dropsOn(barePort) },
  };
}

function dropsOn(port) {
  return socketsOn(port).reduce((sum, { drops }) => sum + drops, 0);
}

/** Why the benchmark cannot run here, or null. */
async function portBlocked() {
  if (socketsOn(PORT) === null) return 'needs /proc/net/udp (Linux)';
  const until = performance.now() + WAIT_FOR_PORT_MS;
  while (socketsOn(PORT).length > 0) {
    if (performance.now() > until) return `UDP port ${PORT} is in use: end the program that uses it`;
    await sleep(250);
  }
  return null;
}

/** The port of the heartbeat can be shared; the socket that opened it last receives unicast datagrams. */
function watchPort() {
  let isShared = false;
  const timer = setInterval(() => {
    isShared ||= socketsOn(PORT).length > 1;
  }, 100);
  return {
    wasShared: () => isShared,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
