import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentile } from '../figures.ts';
import { median, peakResidentMb, residentMb } from '../measure.js';
import { download, requests, shares, stall, upload } from '../tunnel/clients.js';
import { startRelays, startTarget, startTunnel } from '../tunnel/ways.js';

const BYTES = 256_000_000;
const ROUNDS = 9;
/** The engine needs about a gigabyte until it has compiled all that a transfer calls. */
const WARM_UP_ROUNDS = 4;
const CONNECTIONS = 50;
const SHARES_MS = 10_000;
const REQUESTS = 3_000;
const REQUEST_BYTES = 200;
const STALLED = 20;
const STALL_MS = 12_000;

const ofPairs = (some, others, of) => median(some.map((value, index) => of(value, others[index])));

export default {
  title: `A tunnel (gw tunnel connect, simulated service, gw tunnel proxy) against three relays of plain TCP, without and with TLS between them: ${BYTES / 1e6} MB, ${CONNECTIONS} connections, ${REQUESTS} requests, stalled readers`,
  async run() {
    const dir = mkdtempSync(join(tmpdir(), 'gw-bench-'));
    try {
      await using _target = await startTarget();
      const memory = await measureMemory(dir);
      await using tunnel = await startTunnel(dir);
      const { down, up, spread, latency } = await besidePlainRelays(dir, tunnel);
      const tls = await besideTlsRelays(dir, tunnel);
      const peakMb = peakResidentMb(tunnel.pids.proxy);

      const speed = (name, seconds) => {
        const samples = seconds.map((s) => BYTES / 1e6 / s);
        return { name, median: median(samples), unit: 'MB/s', samples };
      };
      const ratio = (name, ours, theirs, target) => {
        const value = ofPairs(ours, theirs, (a, b) => b / a);
        const holds = target === null || value >= target;
        return {
          name,
          value: `${value.toFixed(2)} ×`,
          target: target ? `at least ${target} ×` : 'none, for scale',
          holds,
        };
      };
      const atMost = (name, value, limit, unit, digits) => ({
        name,
        value: `${value.toFixed(digits)} ${unit}`,
        target: `at most ${limit} ${unit}`,
        holds: value <= limit,
      });
      const added = (percent) => percentile(latency.tunnel, percent) - percentile(latency.plain, percent);
      return {
        rows: [
          speed('download, tunnel', down.tunnel),
          speed('download, plain relays', down.plain),
          speed('download, relays with TLS', tls.down.tls),
          speed('upload, tunnel', up.tunnel),
          speed('upload, plain relays', up.plain),
          speed('upload, relays with TLS', tls.up.tls),
          { name: 'spread of bytes, tunnel', median: median(spread.tunnel), unit: '%', samples: spread.tunnel },
          { name: 'spread of bytes, plain relays', median: median(spread.plain), unit: '%', samples: spread.plain },
          { name: 'request, tunnel, p50', median: 1000 * percentile(latency.tunnel, 50), unit: 'µs' },
          { name: 'request, tunnel, p99', median: 1000 * percentile(latency.tunnel, 99), unit: 'µs' },
          { name: 'request, plain relays, p50', median: 1000 * percentile(latency.plain, 50), unit: 'µs' },
          { name: 'request, plain relays, p99', median: 1000 * percentile(latency.plain, 99), unit: 'µs' },
          { name: 'memory of the proxy, idle', median: memory.idleMb, unit: 'MB' },
          { name: 'stalled technician, peak', median: memory.afterReadersMb, unit: 'MB' },
          { name: 'stalled server as well, peak', median: memory.afterServerMb, unit: 'MB' },
          { name: 'peak after all transfers', median: peakMb, unit: 'MB' },
        ],
        figures: [
          ratio('tunnel / plain relays, download', down.tunnel, down.plain, 0.25),
          ratio('tunnel / relays with TLS, download', tls.down.tunnel, tls.down.tls, null),
          ratio('tunnel / plain relays, upload', up.tunnel, up.plain, null),
          ratio('tunnel / relays with TLS, upload', tls.up.tunnel, tls.up.tls, null),
          atMost(`spread of ${CONNECTIONS} connections`, median(spread.tunnel), 20, '%', 1),
          atMost('added latency, p50', added(50), 1, 'ms', 2),
          atMost('added latency, p99', added(99), 5, 'ms', 2),
          atMost('proxy with stalled readers, peak', memory.afterServerMb, 120, 'MB', 0),
        ],
      };
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function besidePlainRelays(dir, tunnel) {
  await using plain = await startRelays(dir);
  const ways = { tunnel, plain };
  const transfers = await measureTransfers(ways);
  const spread = await inTurn(ways, 3, 1, async ({ port }) => {
    const each = await shares(port, CONNECTIONS, SHARES_MS);
    const mean = each.reduce((sum, bytes) => sum + bytes, 0) / each.length;
    return (100 * (Math.max(...each) - Math.min(...each))) / mean;
  });
  return { ...transfers, spread, latency: await latencies(ways) };
}

/** On their own: relays collect their garbage after a transfer, at the cost of the way that is measured next. */
async function besideTlsRelays(dir, tunnel) {
  await using tls = await startRelays(dir, { isTls: true });
  return await measureTransfers({ tunnel, tls });
}

async function measureTransfers(ways) {
  const down = await inTurn(ways, ROUNDS, WARM_UP_ROUNDS, ({ port }) => download(port, BYTES));
  const up = await inTurn(ways, ROUNDS, WARM_UP_ROUNDS, ({ port }) => upload(port, BYTES));
  return { down, up };
}

/** Each way once per round, after some rounds that do not count. */
async function inTurn(ways, rounds, warmUpRounds, measure) {
  const samples = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = -warmUpRounds; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const value = await measure(way);
      if (round >= 0) samples[name].push(value);
    }
  }
  return samples;
}

/** Alternating requests, so that a drift of the machine affects both ways. */
async function latencies(ways) {
  using undo = new DisposableStack();
  const samples = {};
  const open = [];
  for (const [name, { port }] of Object.entries(ways)) {
    samples[name] = [];
    open.push([name, undo.use(await requests(port, REQUEST_BYTES))]);
  }
  for (let round = -200; round < REQUESTS; round += 1) {
    for (const [name, connection] of open) {
      const tookMs = await connection.next();
      if (round >= 0) samples[name].push(tookMs);
    }
  }
  return samples;
}

/** Of a proxy that carries nothing else. */
async function measureMemory(dir) {
  await using tunnel = await startTunnel(dir);
  const { proxy } = tunnel.pids;
  const idleMb = residentMb(proxy);
  await stall(tunnel.port, 'send', STALLED, STALL_MS);
  const afterReadersMb = peakResidentMb(proxy);
  await stall(tunnel.port, 'stall', STALLED, STALL_MS);
  return { idleMb, afterReadersMb, afterServerMb: peakResidentMb(proxy) };
}
