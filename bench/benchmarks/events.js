import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median, startChild, threadMs } from '../measure.js';
import { startMovingChassis } from '../moving-chassis.js';
import { siteBefore, startServe, startSimulator } from '../robot.js';

const CLIENTS = 200;
const SECONDS = 10;
const ROUNDS = 3;
const MAX_CORE_PERCENT = 25;
const MAX_P99_MS = 50;
/** Both sides run compiled code when they are measured. */
const WARM_UP_S = 3;

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

export default {
  title: `Live events: ${CLIENTS} clients follow a chassis that reports ten poses a second, gw serve against a bare relay of as many bytes`,
  async run() {
    await using robot = await startSimulator();
    await using chassis = await startMovingChassis(robot.chassisPort);
    await using serve = await startServe(robot.dir, { site: siteBefore(robot, chassis.port) });
    const gw = { port: robot.operatorPort, pid: serve.pid };
    const bytes = await eventBytes(gw.port);
    let relayPort;
    await using relay = await startChild(
      process.execPath,
      [path('event-relay.js'), `${chassis.port}`, `${bytes}`],
      (line) => {
        relayPort = Number(/^ready (\d+)/.exec(line)?.[1]);
        return relayPort > 0;
      },
    );
    const bare = { port: relayPort, pid: relay.pid };
    const samples = { gw: [], bare: [] };
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const [name, side] of Object.entries({ gw, bare })) {
        const one = await follow(side, chassis.sentAt, round < 0 ? WARM_UP_S : SECONDS);
        if (round >= 0) samples[name].push(one);
      }
    }
    const of = (name, key) => samples[name].map((one) => one[key]);
    const core = median(of('gw', 'corePercent'));
    const p99 = median(of('gw', 'p99'));
    const lost = median(of('gw', 'missing'));
    const row = (name, side, key, unit) => ({ name, median: median(of(side, key)), unit, samples: of(side, key) });
    const figure = (name, value, target, holds) => ({ name, value, target, holds });
    return {
      rows: [
        row('gw serve, processor', 'gw', 'corePercent', '%'),
        row('bare relay, processor', 'bare', 'corePercent', '%'),
        row('gw serve, delay p50', 'gw', 'p50', 'ms'),
        row('gw serve, delay p99', 'gw', 'p99', 'ms'),
        row('bare relay, delay p99', 'bare', 'p99', 'ms'),
        { name: 'one event', median: bytes, unit: 'bytes' },
      ],
      figures: [
        figure('gw serve, of one core', `${core.toFixed(1)} %`, `under ${MAX_CORE_PERCENT} %`, core < MAX_CORE_PERCENT),
        figure(
          'gw / bare relay, processor',
          `${(core / median(of('bare', 'corePercent'))).toFixed(2)} ×`,
          'reported, no target',
          true,
        ),
        figure('chassis to client, p99', `${p99.toFixed(1)} ms`, `under ${MAX_P99_MS} ms`, p99 < MAX_P99_MS),
        figure('poses that a client missed', `${lost}`, 'none', lost === 0),
      ],
      servedBy: serve.pid,
    };
  },
};

/** How long the event of one pose is. */
async function eventBytes(port) {
  const reply = await fetch(`http://127.0.0.1:${port}/api/events`);
  let text = '';
  for await (const chunk of reply.body) {
    text += Buffer.from(chunk).toString('latin1');
    const event = /(event: pose\n.*\n\n)/.exec(text);
    // Leaving the loop ends the connection.
    if (event !== null) return event[1].length;
  }
  throw new Error('the live events ended before a pose');
}

/** Processor time and delays while all clients follow. */
async function follow({ port, pid }, sentAt, seconds) {
  const argv = [path('event-clients.js'), `${port}`, `${CLIENTS}`, `${seconds}`];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  const following = new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      output += chunk;
      if (output.startsWith('following\n')) resolve();
    });
  });
  const ended = once(child, 'close');
  await Promise.race([following, ended.then(() => Promise.reject(new Error('the clients ended early')))]);
  const [began, before] = [performance.now(), threadMs(pid)];
  await sleep(seconds * 1_000 - 200);
  const [tookMs, after] = [performance.now() - began, threadMs(pid)];
  await ended;
  const { received, ended: refused } = JSON.parse(output.slice('following\n'.length));
  if (refused > 0) throw new Error(`${refused} of ${CLIENTS} clients were disconnected`);
  const first = new Map();
  // The first event with a pose counts: later ones repeat it.
  for (const [pose, at] of received) {
    const delays = first.get(pose) ?? [];
    if (delays.length < CLIENTS) delays.push(at - sentAt.get(pose));
    first.set(pose, delays);
  }
  const poses = [...first.keys()].sort((a, b) => a - b).slice(1, -1);
  const delays = poses.flatMap((pose) => first.get(pose)).sort((a, b) => a - b);
  const [from, to] = [poses[0], poses.at(-1)];
  return {
    corePercent: ((after.ran - before.ran + after.others - before.others) / tookMs) * 100,
    p50: delays[Math.floor(delays.length * 0.5)],
    p99: delays[Math.floor(delays.length * 0.99)],
    missing: to - from + 1 - poses.length,
  };
}
