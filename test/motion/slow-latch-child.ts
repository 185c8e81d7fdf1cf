// Latches a stop on a disk with a slow sync, and prints its reported state whenever that changes.
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/lib/lifecycle/clock.ts';
import { silentLog } from '../../src/lib/lifecycle/folded-log.ts';
import { createLatchDisk } from '../../src/lib/motion/latch-disk.ts';
import { createStopLatch } from '../../src/lib/motion/stop-latch.ts';

const stateDir = process.argv[2] ?? '';
const real = createLatchDisk(stateDir);
const latch = createStopLatch({
  stateDir,
  clock: systemClock,
  log: silentLog,
  onChange: () => process.stdout.write(`${latch.state().latched ? latch.state().saved : 'free'}\n`),
  disk: {
    ...real,
    async write(kept) {
      await sleep(Number(process.argv[3]));
      await real.write(kept);
    },
  },
});
await latch.load();
await latch.set('drill', 'child');
setInterval(() => {}, 1_000);
