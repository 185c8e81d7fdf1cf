import { connect, createServer } from 'node:net';
import { freePort } from '../../test/free-port.ts';
import { startSshd } from '../../test/peers/sshd.ts';
import { median } from '../measure.js';
import { startSimulator } from '../robot.js';

const ONE_WAY_MS = 20;
const ROUND_TRIP_MS = 2 * ONE_WAY_MS;
const REQUESTS = 40;

export default {
  title: `Requests to the chassis through --via against direct ones, both over a path of ${ONE_WAY_MS} ms each way`,
  peers: [
    ['openssh-server', 'sshd'],
    ['openssh-client', 'ssh-keygen'],
  ],
  async run() {
    const { createChassisClient } = await import('../../src/lib/chassis/index.ts');
    const { directDialer } = await import('../../src/lib/net/index.ts');
    const { openSsh } = await import('../../src/lib/net/ssh/index.ts');

    await using robot = await startSimulator();
    await using sshd = await startSshd();
    await using toChassis = await delayedPath(robot.chassisPort);
    await using toSshd = await delayedPath(sshd.port);
    sshd.trust(toSshd.port);
    const began = performance.now();
    await using ssh = await openSsh(`${sshd.user}@127.0.0.1:${toSshd.port}`, {
      homeDir: sshd.home,
      localUser: sshd.user,
      agentSocket: null,
      person: null,
      systemKnownHostsFile: '/dev/null',
    });
    const openMs = performance.now() - began;

    const ways = {
      direct: { dialer: directDialer, endpoint: { host: '127.0.0.1', port: toChassis.port } },
      via: { dialer: ssh.dialer, endpoint: { host: '127.0.0.1', port: robot.chassisPort } },
    };
    const kept = { direct: [], via: [] };
    const fresh = { direct: [], via: [] };
    const clients = Object.fromEntries(
      Object.entries(ways).map(([name, way]) => [name, createChassisClient({ ...way, timeoutMs: 5_000 })]),
    );
    // Alternating, so that a drift of the machine's speed affects both; the first two open the connections.
    for (let round = -2; round < REQUESTS; round += 1) {
      for (const [name, client] of Object.entries(clients)) {
        const tookMs = await timed(() => client.identity());
        if (round >= 0) kept[name].push(tookMs);
      }
    }
    for (const client of Object.values(clients)) await client[Symbol.asyncDispose]();
    for (let round = -1; round < REQUESTS / 2; round += 1) {
      for (const [name, way] of Object.entries(ways)) {
        const tookMs = await timed(async () => {
          await using client = createChassisClient({ ...way, timeoutMs: 5_000 });
          await client.identity();
        });
        if (round >= 0) fresh[name].push(tookMs);
      }
    }

    const trips = (samples) => (median(samples.via) - median(samples.direct)) / ROUND_TRIP_MS;
    const row = (name, samples) => ({ name, median: median(samples), unit: 'ms', samples });
    const figure = (name, value) => ({
      name,
      value: `${value.toFixed(2)} RTT`,
      target: 'at most 1 round trip',
      holds: value <= 1,
    });
    return {
      rows: [
        { name: 'opening the connection by SSH', median: openMs, unit: 'ms' },
        row('kept connection, direct', kept.direct),
        row('kept connection, --via', kept.via),
        row('new connection each time, direct', fresh.direct),
        row('new connection each time, --via', fresh.via),
      ],
      figures: [figure('--via adds, kept connection', trips(kept)), figure('--via adds, new connection', trips(fresh))],
    };
  },
};

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/**
 * A port that delays every byte, in order. On a real path the TCP handshake takes a round trip too; here it is local, so
 * the first bytes are delayed by a further round trip.
 */
async function delayedPath(targetPort) {
  const sockets = new Set();
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: '127.0.0.1', port: targetPort, noDelay: true });
    const connectedAt = performance.now() + ROUND_TRIP_MS;
    const lateMs = () => ONE_WAY_MS + Math.max(0, connectedAt - performance.now());
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      sockets.add(from);
      // Timers that are due together may fire in any order; the oldest chunk is written first.
      const waiting = [];
      const later = (send) => {
        waiting.push(send);
        setTimeout(() => waiting.shift()(), lateMs());
      };
      from.on('data', (chunk) => later(() => to.write(chunk)));
      from.on('end', () => later(() => to.end()));
      from.on('error', () => to.destroy());
      from.on('close', () => sockets.delete(from));
    }
  });
  const port = await freePort();
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
