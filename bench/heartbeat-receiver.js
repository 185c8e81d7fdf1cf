// A process that receives heartbeats: `fleet` is the service of gw with replay guard and files, `bare` a counting socket.
import { createSocket } from 'node:dgram';
import { serveRequests } from './worker.js';

const [kind, stateDir, keyFile] = process.argv.slice(2);

serveRequests(kind === 'fleet' ? await fleetAnswers() : bareAnswers());

async function fleetAnswers() {
  const { createFleet } = await import('../src/lib/fleet/fleet.ts');
  const { systemClock } = await import('../src/lib/lifecycle/index.ts');
  const log = (fields, message) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  const fleet = createFleet({
    serial: 'BENCH-SELF',
    keyFile,
    acceptedKeyFiles: [],
    // Receive only: no datagram of a benchmark leaves this machine.
    broadcast: false,
    unicast: [],
    stateDir,
    state: () => ({ moving: null, stopped: null, batteryPercent: null, pose: null, software: '' }),
    clock: systemClock,
    log: { debug() {}, info() {}, warn: log, error: log },
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
    read() {
      const { robots, rejected } = fleet.view();
      const sum = (key) => robots.reduce((total, robot) => total + robot[key], 0);
      return { robots: robots.length, received: sum('heartbeats'), lost: sum('lost'), rejected, cpuMs: cpuMs() };
    },
    async stop() {
      await fleet.stop();
      return {};
    },
  };
}

function bareAnswers() {
  const socket = createSocket('udp4');
  let received = 0;
  socket.on('message', () => {
    received += 1;
  });
  return {
    start: () =>
      new Promise((resolve, reject) => {
        socket.once('error', reject);
        socket.bind(0, '127.0.0.1', () => resolve({ port: socket.address().port }));
      }),
    read: () => ({ received, cpuMs: cpuMs() }),
    stop: () => new Promise((resolve) => socket.close(() => resolve({}))),
  };
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
