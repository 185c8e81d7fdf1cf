// A process that hears beats: `fleet` the service of gw with its replay guard and its files, `bare` a socket that counts.
import { createSocket } from 'node:dgram';
import { answerAll } from './asked.js';

const [kind, stateDir, keyFile] = process.argv.slice(2);

answerAll(kind === 'fleet' ? await fleetAnswers() : bareAnswers());

async function fleetAnswers() {
  const { createFleet } = await import('../src/lib/fleet/fleet.ts');
  const { systemClock } = await import('../src/lib/lifecycle/index.ts');
  const say = (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  const fleet = createFleet({
    serial: 'BENCH-SELF',
    keyFile,
    acceptedKeyFiles: [],
    // It hears only: nothing of a benchmark leaves this machine.
    broadcast: false,
    unicast: [],
    stateDir,
    state: () => ({ moving: null, stopped: null, batteryPercent: null, pose: null, software: '' }),
    clock: systemClock,
    log: { debug() {}, info() {}, warn: say, error: say },
  });
  return {
    async start() {
      await fleet.start({
        signal: new AbortController().signal,
        fail: (error) => {
          throw error;
        },
      });
      return {};
    },
    look() {
      const { robots, rejected } = fleet.view();
      const sum = (key) => robots.reduce((total, robot) => total + robot[key], 0);
      return { robots: robots.length, heard: sum('beats'), lost: sum('lost'), rejected, cpuMs: cpuMs() };
    },
    async stop() {
      await fleet.stop();
      return {};
    },
  };
}

function bareAnswers() {
  const socket = createSocket('udp4');
  let heard = 0;
  socket.on('message', () => {
    heard += 1;
  });
  return {
    start: () =>
      new Promise((resolve, reject) => {
        socket.once('error', reject);
        socket.bind(0, '127.0.0.1', () => resolve({ port: socket.address().port }));
      }),
    look: () => ({ heard, cpuMs: cpuMs() }),
    stop: () => new Promise((resolve) => socket.close(() => resolve({}))),
  };
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
