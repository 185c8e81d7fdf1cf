// `npm run soak [-- --minutes N] [--seed N] [--keep]`: a gateway with a simulated robot, random faults and twenty-five
// clients, also slow and greedy ones. Prints a verdict; exit code 1 when it does not hold.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { seededRandom } from './figures.ts';
import { peakResidentMb, residentMb } from './measure.js';
import { callOnce, requestStop } from './probe.js';
import { startServe, startSimulator } from './robot.js';
import { runFaults } from './soak/faults.js';
import { judgeSoak } from './soak/verdict.ts';
import { startWorker } from './worker.js';

/** Addresses of the stop once a minute and of the health checks; not among the clients. */
const PERSON = '127.0.0.2';
const WATCHER = '127.0.0.4';
const TIMEOUT_MS = 10_000;
const MINUTE_MS = 60_000;
const NEIGHBOURS = 3;

const options = readOptions();
const random = seededRandom(options.seed);
const over = new AbortController();
let isInterrupted = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    isInterrupted = true;
    over.abort();
  });
}

process.stdout.write(`soak of ${options.minutes} min, seed ${options.seed}\n`);
const lines = await soak();
for (const { name, value, target, holds } of lines) {
  process.stdout.write(`  ${name.padEnd(24)} ${value}; target ${target}: ${holds ? 'holds' : 'MISSED'}\n`);
}
const holds = lines.every((line) => line.holds);
process.stdout.write(
  `${isInterrupted ? 'interrupted' : holds ? 'the gateway held' : 'the gateway did NOT hold'}, seed ${options.seed}\n`,
);
process.exitCode = isInterrupted ? 130 : holds ? 0 : 1;

async function soak() {
  const logDir = mkdtempSync(join(tmpdir(), 'gw-soak-'));
  const logPath = join(logDir, 'serve.log');
  const log = openSync(logPath, 'w');
  try {
    await using robot = await startSimulator(['--with', 'voice,building,password', '--robots', `${NEIGHBOURS}`]);
    const serve = await startServe(robot.dir, { stdio: ['ignore', 'pipe', log] });
    await using _serve = serve;
    await using clients = startWorker('soak/clients.js', []);
    const measured = await measure(robot, serve, clients);
    const ended = await serve.end();
    const soaked = { ...measured, ended };
    const judged = judgeSoak(soaked);
    if (options.keep || !judged.every((line) => line.holds)) {
      writeFileSync(join(logDir, 'soak.json'), JSON.stringify({ options, ...soaked, lines: judged }, null, 2));
      process.stdout.write(`kept: ${logDir}/serve.log and soak.json\n`);
    } else rmSync(logDir, { recursive: true, force: true });
    return judged;
  } finally {
    closeSync(log);
  }
}

async function measure(robot, serve, clients) {
  const target = { host: '127.0.0.1', port: robot.operatorPort };
  const password = readFileSync(join(robot.dir, 'secrets', 'device-password.txt'), 'utf8').trim();
  const beganMs = performance.now();
  const wantedMs = options.minutes * MINUTE_MS;
  const untilMs = beganMs + wantedMs;
  const isOver = () => over.signal.aborted || serve.isOver() || performance.now() >= untilMs;
  const pause = (ms) =>
    sleep(Math.max(0, Math.min(ms, untilMs - performance.now())), undefined, { signal: over.signal }).catch(() => {});
  const rss = [];
  const stops = [];
  const healthChecks = [];

  async function watchMemory() {
    while (!isOver()) {
      rss.push({ atMs: performance.now() - beganMs, value: residentMb(serve.pid) });
      await pause(1_000);
    }
  }

  async function watchHealth() {
    while (!isOver()) {
      healthChecks.push(callOnce({ target, from: WATCHER, path: '/api/health', timeoutMs: TIMEOUT_MS }).then(healthIn));
      await pause(1_000);
    }
  }

  /** At a random time within each full minute. */
  async function stopEachMinute() {
    for (let minute = 0; (minute + 1) * MINUTE_MS <= wantedMs; minute += 1) {
      await pause(beganMs + (minute + 0.1 + 0.8 * random()) * MINUTE_MS - performance.now());
      if (isOver()) return;
      await clients.request({ what: 'hold' });
      // What the gateway needs for an answer at that moment, without chassis and disk.
      const beside = callOnce({ target, from: WATCHER, path: '/api/health', timeoutMs: TIMEOUT_MS });
      const stop = { ...(await requestStop(target, PERSON, TIMEOUT_MS)), healthMs: (await beside).ms };
      await clients.request({ what: 'goOn' });
      stops.push(stop);
      const memory = rss.at(-1)?.value.toFixed(0) ?? '?';
      const output = stop.ok ? 'latched' : `NOT latched: ${stop.what}`;
      const times = `stop ${stop.ms.toFixed(0)} ms (health check beside it ${stop.healthMs.toFixed(0)} ms)`;
      process.stdout.write(`  minute ${minute + 1}: ${times}, ${output}; RSS ${memory} MB\n`);
    }
  }

  const { clients: count } = await clients.request({ what: 'start', target, password, seed: options.seed });
  process.stdout.write(`  ${count} clients, gw serve is process ${serve.pid}\n`);
  const faulting = runFaults({ dir: robot.dir, seed: options.seed + 1, beganMs, untilMs, signal: over.signal });
  await Promise.all([watchMemory(), watchHealth(), stopEachMinute()]);
  const lastedMs = performance.now() - beganMs;
  // The gateway ended, so the faults can end too.
  if (serve.isOver()) over.abort();
  const faults = await faulting;
  const counts = await clients.request({ what: 'stop' }, 60_000);
  const health = await Promise.all(healthChecks);
  printClients(counts);
  return {
    lastedMs,
    wantedMs,
    rss,
    peakRssMb: serve.isOver() ? null : peakResidentMb(serve.pid),
    stops: stops.map(({ ms, ok, what, healthMs }) => ({ ms, ok, what, healthMs })),
    health,
    isOver: serve.isOver(),
    faults,
    clients: counts,
  };
}

/** The judged fields of /api/health; null without a complete answer. */
function healthIn({ status, text }) {
  if (status !== 200) return null;
  const { upForMs, services } = JSON.parse(text);
  return {
    upForMs,
    services: services.map(({ name, status: state, restarts }) => ({ name, status: state, restarts })),
  };
}

function printClients(counts) {
  const list = (counts) =>
    Object.entries(counts)
      .map(([what, count]) => `${what} ${Math.round(count)}`)
      .join(', ');
  for (const [kind, { did, failed }] of Object.entries(counts)) {
    process.stdout.write(
      `  ${kind}: ${list(did) || 'nothing'}${Object.keys(failed).length > 0 ? `; failed: ${list(failed)}` : ''}\n`,
    );
  }
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '15' },
      seed: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  });
  const minutes = Number(values.minutes);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  if (!(minutes > 0 && minutes <= 24 * 60) || !Number.isSafeInteger(seed)) {
    process.stderr.write('npm run soak -- [--minutes N] [--seed N] [--keep]: minutes from 0 to 1440, a whole seed\n');
    process.exit(2);
  }
  return { minutes, seed, keep: values.keep };
}
