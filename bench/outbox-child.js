// One outbox with a million messages in a process of its own, with the flags of `gw serve`: prints a line of JSON with its
// resident memory at each stage.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { peakResidentMb, residentMb } from './measure.js';

const [path, count] = process.argv.slice(2);
// As bin/run.js does; on the command line of node the first of them has no effect (measured).
for (const flag of ['--semi-space-growth-factor=1', '--heap-growing-percent=25']) setFlagsFromString(flag);

const WARM_UP = 2_000;
const AT_ONCE = 200;
const SENT = 100_000;
const SETTLE_MS = 3_000;

const { openOutbox } = await import('../src/lib/cloud/outbox/outbox.ts');
const { silentLog: log, systemClock: clock } = await import('../src/lib/lifecycle/index.ts');
const outbox = await openOutbox({
  path,
  serial: 'SN1',
  recordTopic: 'gw/SN1/records',
  shadowTopic: 'gw/SN1/shadow',
  maxBytes: 2e9,
  maxPerSecond: 1_000_000,
  clock,
  log,
});
const kept = () => Object.values(outbox.view().kept).reduce((sum, value) => sum + value, 0);

async function append(total) {
  for (let from = 0; from < total; from += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) =>
        outbox.append({
          class: 'telemetry',
          topic: 'gw/SN1/telemetry',
          body: { n: from + n, batteryPercent: 71, speedMps: 0.4, pose: { xM: 1.25, yM: -3.5, yawDeg: 90 } },
        }),
      ),
    );
  }
}

/** Sends until so many are left; each is acknowledged a little later, as by a broker. */
async function drain(left) {
  const end = new AbortController();
  const draining = outbox.drain({ publish: () => new Promise((resolve) => setImmediate(resolve)) }, end.signal);
  while (kept() > left) await sleep(20);
  end.abort();
  await draining;
}

// As in a daemon that has run for a while: everything was used once.
await append(WARM_UP);
await drain(0);
await sleep(SETTLE_MS);
const idleMb = residentMb(process.pid);
const began = performance.now();
await append(Number(count));
const appendPerSecond = (1000 * Number(count)) / (performance.now() - began);
await sleep(SETTLE_MS);
const queuedMb = residentMb(process.pid);
await drain(Number(count) - SENT);
await sleep(SETTLE_MS);
const sentMb = residentMb(process.pid);
const { bytes } = outbox.view();
process.stdout.write(
  `${JSON.stringify({ idleMb, queuedMb, sentMb, peakMb: peakResidentMb(process.pid), appendPerSecond, bytes, kept: kept() })}\n`,
);
process.exit(0);
