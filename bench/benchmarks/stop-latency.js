import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../test/free-port.ts';
import { summary } from '../answers.ts';
import { tableLines } from '../figures.ts';
import { loadNames, loadOf } from '../loads.js';
import { diskBytes, peakResidentMb, residentMb, startChild, threadMs } from '../measure.js';
import { memoryLimit } from '../memory-limit.js';
import { probeEvery, probeOnce, requestStop, signInWithRetries } from '../probe.js';
import { siteBefore, startServe, startSimulator } from '../robot.js';
import { startTunnel } from '../tunnel/ways.js';
import { startWorker } from '../worker.js';

/** The second address, of a person who stops the robot. */
const PERSON = '127.0.0.2';
const IDLE_S = 2;
const LOAD_S = Number(process.env.GW_BENCH_LOAD_SECONDS ?? 10);
/** Selected loads; all by default. */
const CHOSEN = process.env.GW_BENCH_LOADS?.split(',') ?? loadNames;
const STOP_EVERY_MS = 100;
const OTHER_EVERY_MS = 500;
/** Sign-ins with the right password during the attack, from a known and from a new address. */
const KNOWN_EVERY_MS = 1_000;
const KNOWN_DEADLINE_MS = 5_000;
const NEW_EVERY_MS = 3_000;
const NEW_DEADLINE_MS = 30_000;
const TIMEOUT_MS = 5_000;
/** Limits under each load. */
const MAX_STOP_MS = 1_000;
const MAX_RSS_MB = 300;
const MAX_END_MS = 5_000;

const bareServer =
  "require('node:http').createServer((q,s)=>s.end()).listen(+process.argv[1],'127.0.0.1',()=>console.log('ready'))";

export default {
  title: `Stop requested from a second address while a first attacks for ${LOAD_S} s, ${1000 / STOP_EVERY_MS} times a second on fresh connections; compared with a bare http server without attack`,
  async run() {
    const unknown = CHOSEN.filter((name) => !loadNames.includes(name));
    if (unknown.length > 0) throw new Error(`unknown load ${unknown.join(', ')}; available: ${loadNames.join(', ')}`);
    const barePort = await freePort();
    await using _bare = await startChild(
      process.execPath,
      ['-e', bareServer, `${barePort}`],
      (line) => line === 'ready',
    );
    const measured = [];
    for (const name of CHOSEN) {
      const load = await loadOf(name);
      await using robot = await startSimulator(['--with', 'password']);
      measured.push(await measure(load, robot, { host: '127.0.0.1', port: barePort }));
    }
    return {
      table: tableLines(header, measured.map(cells)),
      rows: [],
      figures: measured.flatMap(figuresOf),
      // Raw measurements, to compare two runs.
      loads: measured,
    };
  },
};

async function measure(load, robot, bareTarget) {
  const target = { host: '127.0.0.1', port: robot.operatorPort };
  await using stack = new AsyncDisposableStack();
  let site;
  let chassis;
  load.prepare?.(robot.dir);
  if (load.chassis) {
    chassis = stack.use(startWorker('hostile-chassis.js', [load.name, `${robot.chassisPort}`]));
    site = siteBefore(robot, (await chassis.request({ what: 'where' })).port);
  }
  const attacker = stack.use(startWorker('attacker.js', [load.name]));
  const pipe = load.isLogRead === false ? stack.use(unreadPipe(robot.dir)) : null;
  const limit = memoryLimit();
  if (limit !== null) stack.use(limit);
  const serve = stack.use(
    await startServe(robot.dir, {
      inside: limit?.command ?? [],
      ...(site !== undefined && { site }),
      ...(pipe !== null && { stdio: ['ignore', 'pipe', pipe.fd] }),
    }),
  );

  const password = readFileSync(join(robot.dir, 'secrets', 'device-password.txt'), 'utf8').trim();
  let newAddresses = 0;
  const signIns = {
    // Signed in before the attack, so that the address is known to the gateway.
    known: () => signInWithRetries({ target, from: PERSON, password, deadlineMs: KNOWN_DEADLINE_MS }),
    fresh() {
      newAddresses += 1;
      return signInWithRetries({ target, from: `127.0.3.${newAddresses}`, password, deadlineMs: NEW_DEADLINE_MS });
    },
  };
  const probes = () => {
    const stop = probeEvery(STOP_EVERY_MS, () => requestStop(target, PERSON, TIMEOUT_MS));
    const health = probeEvery(OTHER_EVERY_MS, () =>
      probeOnce({ target, from: PERSON, path: '/api/health', timeoutMs: TIMEOUT_MS }),
    );
    const known = load.hasHonestSignIn ? probeEvery(KNOWN_EVERY_MS, signIns.known) : null;
    const fresh = load.hasHonestSignIn ? probeEvery(NEW_EVERY_MS, signIns.fresh) : null;
    const bare = probeEvery(STOP_EVERY_MS, () =>
      probeOnce({ target: bareTarget, from: PERSON, path: '/', timeoutMs: TIMEOUT_MS }),
    );
    return async () => {
      const all = await Promise.all([stop.end(), health.end(), bare.end(), known?.end(), fresh?.end()]);
      return {
        stop: summary(all[0]),
        health: summary(all[1]),
        bare: summary(all[2]),
        known: all[3] ? summary(all[3]) : null,
        fresh: all[4] ? summary(all[4]) : null,
      };
    };
  };

  // Warm-up: the code of a stop is compiled.
  for (let i = 0; i < 10; i += 1) await requestStop(target, PERSON, TIMEOUT_MS);
  if (load.hasHonestSignIn) await signIns.known();
  const endIdle = probes();
  await sleep(IDLE_S * 1000);
  const idle = await endIdle();
  const before = {
    rssMb: residentMb(serve.pid),
    disk: diskBytes(serve.pid),
    log: serve.loggedBytes(),
    thread: threadMs(serve.pid),
  };

  const tunnel = load.isTunnel ? stack.use(await startTunnel(robot.dir)) : null;
  const attacked = tunnel === null ? target : { host: '127.0.0.1', port: tunnel.port };
  const began = performance.now();
  await attacker.request({ what: 'start', target: attacked, options: {} });
  await chassis?.request({ what: 'attack' });
  const endLoad = probes();
  await sleep(LOAD_S * 1000);
  const during = await endLoad();
  const seconds = (performance.now() - began) / 1000;
  const perSecond = (now, then) => (now - then) / seconds;
  const costs = serve.isOver()
    ? null
    : {
        peakRssMb: peakResidentMb(serve.pid),
        thread: shares(threadMs(serve.pid), before.thread, seconds),
        diskPerSecond: perSecond(diskBytes(serve.pid), before.disk),
        logPerSecond: pipe === null ? perSecond(serve.loggedBytes(), before.log) : null,
      };
  const attack = await attacker.request({ what: 'stop' });
  const chassisCounts = await chassis?.request({ what: 'rest' });
  const ended = await serve.end();
  return {
    name: load.name,
    title: load.title,
    idle,
    during,
    idleRssMb: before.rssMb,
    costs,
    attack,
    chassisCounts,
    ended,
    maxMb: limit?.maxMb ?? null,
  };
}

/** Shares of the time: main thread running, main thread waiting for a core, other threads running. */
function shares(now, then, seconds) {
  const part = (key) => (now[key] - then[key]) / 1000 / seconds;
  return { ran: part('ran'), queued: part('queued'), others: part('others') };
}

/** A pipe with a reader that never reads, like a stalled log reader. */
function unreadPipe(dir) {
  const path = join(dir, 'unread-log');
  const made = spawnSync('mkfifo', [path]);
  if (made.status !== 0) throw new Error('mkfifo failed');
  // O_RDWR, so that opening does not block.
  const fd = openSync(path, constants.O_RDWR);
  return {
    fd,
    [Symbol.dispose]() {
      closeSync(fd);
      rmSync(path);
    },
  };
}

const header = [
  'load',
  ...['idle p50', 'idle p99', 'p50 ms', 'p99 ms', 'longest', 'failed', 'of'],
  ...[
    'health p99',
    'failed',
    'bare p99',
    'ran %',
    'queued %',
    'threads %',
    'peak RSS MB',
    'disk kB/s',
    'log kB/s',
    'end ms',
  ],
];

function ms(value) {
  if (value === null) return 'none';
  if (value === Number.POSITIVE_INFINITY) return 'never';
  return value < 100 ? value.toFixed(1) : value.toFixed(0);
}

function cells({ name, idle, during, costs, ended }) {
  const kilo = (value) => (value == null ? '-' : (value / 1000).toFixed(1));
  return [
    name,
    ...[idle.stop.p50, idle.stop.p99, during.stop.p50, during.stop.p99, during.stop.most].map(ms),
    ...[during.stop.failures, during.stop.count].map(String),
    ...[ms(during.health.p99), `${during.health.failures}`, ms(during.bare.p99)],
    ...['ran', 'queued', 'others'].map((key) => (costs === null ? '-' : (100 * costs.thread[key]).toFixed(0))),
    costs === null ? 'ended' : costs.peakRssMb.toFixed(0),
    ...[kilo(costs?.diskPerSecond), kilo(costs?.logPerSecond)],
    ended.code === 0 ? ended.tookMs.toFixed(0) : `${ended.signal ?? `exit ${ended.code}`}`,
  ];
}

function figuresOf({ name, during, idle, costs, ended, maxMb }) {
  const { stop } = during;
  const p99 = stop.p99 ?? Number.POSITIVE_INFINITY;
  return [
    ...signInFigures(name, 'known', during.known, KNOWN_DEADLINE_MS),
    ...signInFigures(name, 'new', during.fresh, NEW_DEADLINE_MS),
    {
      name: `${name}: stop p99`,
      value: Number.isFinite(p99) ? `${p99.toFixed(1)} ms` : 'never',
      target: `under ${MAX_STOP_MS} ms, none failed (idle ${ms(idle.stop.p99)} ms${whyText(stop.why)})`,
      holds: stop.count > 0 && p99 < MAX_STOP_MS && stop.failures === 0,
    },
    {
      name: `${name}: peak RSS`,
      value: costs === null ? 'ended' : `${costs.peakRssMb.toFixed(0)} MB`,
      target: `at most ${MAX_RSS_MB} MB, ${maxMb === null ? 'NOT in a control group' : `in a control group of ${maxMb} MB`}`,
      holds: costs !== null && costs.peakRssMb <= MAX_RSS_MB,
    },
    {
      name: `${name}: ends in order`,
      value: ended.code === 0 ? `${ended.tookMs.toFixed(0)} ms` : `${ended.signal ?? `exit ${ended.code}`}`,
      target: `within ${MAX_END_MS} ms, exit code 0`,
      holds: ended.wasRequested && ended.code === 0 && ended.tookMs <= MAX_END_MS,
    },
  ];
}

function signInFigures(name, who, signIns, withinMs) {
  if (signIns === null) return [];
  return [
    {
      name: `${name}: ${who} address`,
      value: `${signIns.count - signIns.failures} of ${signIns.count}`,
      target: `all signed in within ${withinMs / 1000} s (p50 ${ms(signIns.p50)} ms, longest ${ms(signIns.most)} ms${whyText(signIns.why)})`,
      holds: signIns.count > 0 && signIns.failures === 0,
    },
  ];
}

function whyText(why) {
  return Object.entries(why)
    .map(([what, count]) => `; ${count} × ${what}`)
    .join('');
}
