// Appends and drains until it is killed. Prints a line for each accepted message, after `append` has resolved; with
// `finish` it appends nothing, and ends when the outbox is empty.
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../bench/figures.ts';
import { messageClasses } from '../../src/lib/cloud/outbox/message-class.ts';
import { openOutbox } from '../../src/lib/cloud/outbox/outbox.ts';
import { silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';

const [path = '', serial = '', port = '', seed = '', mode = ''] = process.argv.slice(2);
const random = seededRandom(Number(seed));
const say = (line: string) => void writeSync(1, `${line}\n`);

const outbox = await openOutbox({
  path,
  serial,
  recordTopic: `gw/${serial}/record`,
  shadowTopic: `gw/${serial}/shadow`,
  maxBytes: 200_000_000,
  maxPerSecond: 100_000,
  clock: systemClock,
  log: silentLog,
});

async function drain(): Promise<void> {
  // The library takes longer to load than the outbox to open; so the first messages are appended meanwhile.
  const { connectTo } = await import('./cloud-outbox-link.ts');
  for (;;) {
    try {
      const connection = await connectTo(Number(port), serial);
      try {
        await outbox.drain(connection, connection.ended);
      } finally {
        connection.close();
      }
    } catch {
      // The broker is away, or the connection was lost.
    }
    await sleep(10);
  }
}

async function append(): Promise<void> {
  for (;;) {
    const count = Math.floor(random() * 12);
    await Promise.all(
      Array.from({ length: count }, async () => {
        const messageClass = messageClasses[Math.floor(random() * messageClasses.length)] ?? 'record';
        const text = 'x'.repeat(random() < 0.02 ? 30_000 : Math.floor(random() * 300));
        const { id, seq } = await outbox.append({
          class: messageClass,
          topic: `gw/${serial}/${messageClass}`,
          body: { text },
        });
        say(`accepted ${messageClass} ${seq} ${id}`);
      }),
    );
    await sleep(random() * 15);
  }
}

void drain();
if (mode === 'finish') {
  const isEmpty = () => Object.values(outbox.view().kept ?? { unknown: 1 }).every((count) => count === 0);
  while (!isEmpty()) await sleep(20);
  process.exit(0);
}
await append();
