// Sets and clears the stop latch in a loop until it is killed; prints each change before it begins and after it is
// saved.
import { systemClock } from '../../src/lib/lifecycle/clock.ts';
import { silentLog } from '../../src/lib/lifecycle/folded-log.ts';
import { createStopLatch } from '../../src/lib/motion/stop-latch.ts';

const latch = createStopLatch({ stateDir: process.argv[2] ?? '', clock: systemClock, log: silentLog, onChange() {} });
await latch.load();
for (let i = 0; i < 100_000; i += 1) {
  process.stdout.write(`setting ${i}\n`);
  await latch.set(`stop ${i}`, 'child');
  if (process.argv[3] === 'once') {
    process.stdout.write(`set ${i}\n`);
    setInterval(() => {}, 1_000);
    break;
  }
  process.stdout.write(`set ${i}\nclearing ${i}\n`);
  await latch.clear();
  process.stdout.write(`cleared ${i}\n`);
}
