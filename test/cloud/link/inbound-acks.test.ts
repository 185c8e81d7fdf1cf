import { expect, it } from 'vitest';
import { createInboundAcks } from '../../../src/lib/cloud/link/mqtt/acks.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

it('acknowledges nothing after the end of the connection, and leaves no timer behind', async () => {
  const clock = createFakeClock();
  const sent: number[] = [];
  const acks = createInboundAcks(clock, (messageId) => sent.push(messageId));
  const disk = Promise.withResolvers<void>();
  acks.add(1, disk.promise);
  acks.add(2, Promise.resolve());
  acks[Symbol.dispose]();
  disk.resolve();
  await clock.advance(10_000);
  expect([sent, clock.pending]).toEqual([[], 0]);
});
