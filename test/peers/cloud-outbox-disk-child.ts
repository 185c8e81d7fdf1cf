// Runs in a mount namespace of its own: the outbox on a disk that is full, read-only or does not answer. Prints what
// was seen as one JSON object, which the test judges.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openOutbox } from '../../src/lib/cloud/outbox/outbox.ts';
import { asGwError } from '../../src/lib/error/index.ts';
import { silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';

const [dir = '', scenario = ''] = process.argv.slice(2);
const disk = join(dir, 'disk');
const filler = join(disk, 'filler');
mkdirSync(disk);

const mount = (...args: string[]) => void execFileSync('mount', [...args, disk]);
const open = () =>
  openOutbox({
    path: join(disk, 'outbox', 'outbox.db'),
    serial: 'SN1',
    recordTopic: 'gw/SN1/records',
    shadowTopic: 'gw/SN1/shadow',
    maxBytes: 50_000_000,
    maxPerSecond: 10_000,
    clock: systemClock,
    log: silentLog,
  });

const breakers: Record<string, { prepare(): void; break(): void; repair(): void }> = {
  full: {
    prepare: () => mount('-t', 'tmpfs', '-o', 'size=2m,mode=700', 'none'),
    break() {
      try {
        writeFileSync(filler, Buffer.alloc(4_000_000));
      } catch {
        // It is full now, as intended.
      }
    },
    repair: () => rmSync(filler),
  },
  'read-only': {
    // From the start: what is open for writing keeps a file system writable.
    prepare() {
      mount('-t', 'tmpfs', '-o', 'size=2m,mode=700', 'none');
      execFileSync('mount', ['-o', 'remount,ro', disk]);
    },
    break() {},
    repair: () => void execFileSync('mount', ['-o', 'remount,rw', disk]),
  },
  silent: {
    prepare() {
      const image = join(dir, 'image');
      execFileSync('truncate', ['-s', '8M', image]);
      execFileSync('mkfs.ext4', ['-q', image]);
      mount('-o', 'loop', image);
    },
    break: () => void execFileSync('fsfreeze', ['-f', disk]),
    repair: () => void execFileSync('fsfreeze', ['-u', disk]),
  },
};

const { silent } = breakers;
breakers['silent from the start'] = {
  prepare() {
    silent?.prepare();
    silent?.break();
    // A frozen file system cannot be unmounted, so it is never left so.
    process.once('uncaughtException', () => silent?.repair());
  },
  break() {},
  repair: () => silent?.repair(),
};

const fault = (n: number) => ({
  class: 'fault' as const,
  topic: 'gw/SN1/faults',
  body: { n, text: 'x'.repeat(20_000) },
});
const {
  prepare,
  break: breakDisk,
  repair,
} = breakers[scenario] ?? breakers.full ?? { prepare() {}, break() {}, repair() {} };
const result: Record<string, unknown> = {};
prepare();
const outbox = await open();
const accepted = new Set<number>();
const refusals: unknown[] = [];
const pending = new Set<number>();
const append = async (n: number) => {
  pending.add(n);
  try {
    accepted.add((await outbox.append(fault(n))).seq);
  } catch (error) {
    const { code, message } = asGwError(error);
    refusals.push({ code, message });
  } finally {
    pending.delete(n);
  }
};
for (let n = 0; n < 5; n += 1) await append(n);
result.before = { accepted: accepted.size, view: outbox.view() };

let ticks = 0;
const ticking = setInterval(() => (ticks += 1), 50);
breakDisk();
const broken: Promise<void>[] = [];
try {
  for (let n = 100; n < 110; n += 1) {
    broken.push(append(n));
    // Each in a transaction of its own, as far as the disk answers.
    await Promise.race([broken.at(-1), sleep(100)]);
  }
  // Longer than the timeout of the disk, so that the view says so.
  for (let waited = 0; waited < 20_000 && outbox.view().status !== 'failing'; waited += 50) await sleep(50);
  await sleep(300);
  broken.push(append(110));
  await sleep(300);
  // Sends without an acknowledgement, so that nothing is removed.
  const readable: number[] = [];
  const end = new AbortController();
  const never = new Promise<void>(() => {});
  const draining = outbox.drain(
    {
      publish(_, payload) {
        readable.push((JSON.parse(Buffer.from(payload).toString()) as { seq: number }).seq);
        return never;
      },
    },
    end.signal,
  );
  await sleep(1_000);
  end.abort();
  await draining;
  result.broken = {
    readable,
    view: outbox.view(),
    refusals: [...refusals],
    pending: [...pending],
    accepted: accepted.size,
    ticks,
  };
} finally {
  repair();
}
clearInterval(ticking);
await Promise.all(broken);
for (let waited = 0; waited < 20_000 && outbox.view().status !== 'open'; waited += 50) await sleep(50);
result.repaired = { view: outbox.view() };
await append(200);
await outbox[Symbol.asyncDispose]();

const again = await open();
const sent: number[] = [];
const end = new AbortController();
await again.drain(
  {
    async publish(_, payload) {
      sent.push((JSON.parse(Buffer.from(payload).toString()) as { seq: number }).seq);
      if (sent.length === again.view().kept?.fault || sent.length >= accepted.size) end.abort();
    },
  },
  end.signal,
);
await again[Symbol.asyncDispose]();
result.after = { accepted: [...accepted], sent };
process.stdout.write(JSON.stringify(result));
process.exit(0);
