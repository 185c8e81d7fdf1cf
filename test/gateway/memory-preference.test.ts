import { expect, it } from 'vitest';
import { preferMemoryAfterBursts } from '../../src/lib/gateway/gateway.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

it('prefers memory from a burst until most of it is returned, and sets nothing in between', async () => {
  const clock = createFakeClock();
  const flags: string[] = [];
  let megabytes = 120;
  const watch = preferMemoryAfterBursts(
    clock,
    () => megabytes * 1_000_000,
    (flag) => flags.push(flag),
  );
  const after = async (resident: number) => {
    megabytes = resident;
    await clock.advance(15_000);
    return flags.splice(0);
  };
  expect(await after(120)).toEqual([]);
  expect(await after(165)).toEqual([]);
  expect(await after(250)).toEqual(['--optimize-for-size']);
  expect(await after(160)).toEqual([]);
  expect(await after(130)).toEqual(['--no-optimize-for-size']);
  expect(await after(165)).toEqual([]);
  watch[Symbol.dispose]();
  expect([await after(400), clock.pending]).toEqual([[], 0]);
});
