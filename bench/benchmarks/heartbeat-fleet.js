import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startAsked } from '../asked.js';
import { PORT, socketsOn } from '../heartbeat.js';

const ROBOTS = 1_000;
const PERIOD_S = 2;
const STEADY_S = 30;
const BURST = { perSecond: 5_000, seconds: 5 };
const FLOOD = { seconds: 2, most: 400_000 };
/** Others on this machine may have the port for a moment. */
const WAIT_FOR_PORT_MS = 20_000;
const MOST_CPU_PERCENT = 5;

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
      await using fleet = startAsked('heartbeat-receiver.js', ['fleet', stateDir, keyFile]);
      await using bare = startAsked('heartbeat-receiver.js', ['bare']);
      await using sender = startAsked('heartbeat-sender.js', [keyFile]);
      await fleet.ask({ what: 'start' });
      const barePort = (await bare.ask({ what: 'start' })).port;
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
  /** What the senders did, and what became of it on both sides. */
  const phase = async (question) => {
    const before = await lookAt(fleet, bare, barePort);
    const { sent, tookMs } = await sender.ask(question, 90_000);
    const after = await lookAt(fleet, bare, barePort);
    const gained = (side) =>
      Object.fromEntries(['heard', 'lost', 'drops', 'cpuMs'].map((key) => [key, after[side][key] - before[side][key]]));
    return { sent, tookMs, fleet: gained('fleet'), bare: gained('bare'), after };
  };

  // The first beats make the neighbours, and the compiler sees the way of a beat: a daemon runs for weeks.
  await phase({ ...spread, seconds: 2 * PERIOD_S });
  const steady = await phase({ ...spread, seconds: STEADY_S });
  const burst = await phase({ ...spread, ...BURST });
  const flood = await phase({ what: 'flood', robots: ROBOTS, port: PORT, ...FLOOD });
  const bareFlood = await phase({ what: 'flood', robots: ROBOTS, port: barePort, ...FLOOD });
  await fleet.ask({ what: 'stop' });
  if (watch.wasShared()) return { skipped: `another program opened UDP ${PORT} meanwhile and took some of the beats` };
  const { robots, rejected } = flood.after.fleet;
  if (robots !== ROBOTS) throw new Error(`${robots} robots are known, ${ROBOTS} beat`);

  const missing = ({ sent, fleet: { heard, lost } }) => Math.max(sent - heard, lost);
  const percent = ({ tookMs }, { cpuMs }) => (100 * cpuMs) / tookMs;
  const micros = ({ cpuMs, heard }) => (1000 * cpuMs) / heard;
  const count = (name, value) => ({ name, median: value, unit: '' });
  const perBeat = (name, side) => ({ name, median: micros(side), unit: 'µs' });
  const share = (name, of, side) => ({ name, median: percent(of, side), unit: '%' });
  const each = `${BURST.perSecond.toLocaleString('en')}/s`;
  const used = percent(steady, steady.fleet);
  const accounted = flood.fleet.heard + flood.fleet.drops;
  return {
    rows: [
      count(`sent in ${STEADY_S} s`, steady.sent),
      count('heard', steady.fleet.heard),
      share('CPU of the fleet service', steady, steady.fleet),
      share('CPU of a bare socket', steady, steady.bare),
      perBeat('CPU per beat, fleet', steady.fleet),
      perBeat('CPU per beat, bare socket', steady.bare),
      count(`sent at ${each}, ${BURST.seconds} s`, burst.sent),
      count('heard', burst.fleet.heard),
      count('dropped by the kernel', burst.fleet.drops),
      share('CPU of the fleet service', burst, burst.fleet),
      perBeat('CPU per beat, fleet', burst.fleet),
      perBeat('CPU per beat, bare socket', burst.bare),
      count(`sent without a pause, ${(flood.tookMs / 1000).toFixed(1)} s`, flood.sent),
      count('heard', flood.fleet.heard),
      count('dropped by the kernel', flood.fleet.drops),
      perBeat('CPU per beat, fleet', flood.fleet),
      count('same to a bare socket, sent', bareFlood.sent),
      count('heard', bareFlood.bare.heard),
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
        target: `at most ${MOST_CPU_PERCENT} %`,
        holds: used <= MOST_CPU_PERCENT,
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

/** Once nothing is on the way any more: the counts of both sides, and what the kernel dropped before their sockets. */
async function lookAt(fleet, bare, barePort) {
  let looked = null;
  for (let look = 0; look < 40; look += 1) {
    const now = { fleet: await fleet.ask({ what: 'look' }), bare: await bare.ask({ what: 'look' }) };
    const isQuiet = looked?.fleet.heard === now.fleet.heard && looked?.bare.heard === now.bare.heard;
    looked = now;
    if (isQuiet) break;
    await sleep(250);
  }
  return {
    fleet: { ...looked.fleet, drops: dropsOn(PORT) },
    bare: { ...looked.bare, lost: 0, drops: dropsOn(barePort) },
  };
}

function dropsOn(port) {
  return socketsOn(port).reduce((sum, { drops }) => sum + drops, 0);
}

/** Why this cannot be measured here, or null. */
async function portBlocked() {
  if (socketsOn(PORT) === null) return 'needs /proc/net/udp (Linux)';
  const until = performance.now() + WAIT_FOR_PORT_MS;
  while (socketsOn(PORT).length > 0) {
    if (performance.now() > until) return `UDP port ${PORT} is in use: end what listens for heartbeats on this machine`;
    await sleep(250);
  }
  return null;
}

/** Sockets share the port of the heartbeat, and the one that opened it last gets what is sent to one address. */
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
