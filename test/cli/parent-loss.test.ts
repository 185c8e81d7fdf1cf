import { expect, it } from 'vitest';
import { onParentLoss } from '../../src/cli/parent-loss.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

it('the end of the parent process is reported once, within a quarter of a second', async () => {
  const clock = createFakeClock();
  const parent = Object.getOwnPropertyDescriptor(process, 'ppid') as PropertyDescriptor;
  const losses: number[] = [];
  using _watching = onParentLoss(() => losses.push(process.ppid), clock);
  try {
    await clock.advance(1_000);
    expect(losses).toEqual([]);
    Object.defineProperty(process, 'ppid', { configurable: true, get: () => 1 });
    await clock.advance(1_000);
    expect([losses, clock.pending]).toEqual([[1], 0]);
  } finally {
    Object.defineProperty(process, 'ppid', parent);
  }
});
