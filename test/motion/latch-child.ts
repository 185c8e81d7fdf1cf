// Sets and clears the stop latch in a loop until it is killed, on a disk that takes so much longer; prints each change before
// it begins and after it is saved. With 'once' the first stop stays.
import { systemClock } from '../../src/lib/lifecycle/clock.ts';
import { silentLog } from '../../src/lib/lifecycle/folded-log.ts';
import { createLatchDisk } from '../../src/lib/motion/latch/latch-disk.ts';
import { createStopLatch } from '../../src/lib/motion/latch/stop-latch.ts';

const [stateDir = '', delayMs = '0', how] = process.argv.slice(2);
const real = createLatchDisk(stateDir);
const disk: typeof real = {
  ...real,
  async write(kept) {
    await systemClock.sleep(Number(delayMs));
    await real.write(kept);
  },
};
const latch = createStopLatch({ stateDir, clock: systemClock, log: silentLog, onChange() {}, disk });
await latch.load();
for (let i = 0; i < 100_000; i += 1) {
  process.stdout.write(`setting ${i}\n`);
  await latch.set(`stop ${i}`, 'child');
  process.stdout.write(`set ${i} ${latch.state().saved}\n`);
  if (how === 'once') await systemClock.sleep(1e9);
  process.stdout.write(`clearing ${i}\n`);
  await latch.clear();
  process.stdout.write(`cleared ${i}\n`);
}
