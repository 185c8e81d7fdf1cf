import { expect, it } from 'vitest';
import { createRemover } from '../../../src/lib/cloud/outbox/outbox.ts';
import type { StoreThread } from '../../../src/lib/cloud/outbox/thread/store-thread.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

it('a retry with nothing to remove does not stop later removals', async () => {
  const clock = createFakeClock();
  const removed: unknown[] = [];
  const call = (async (_: string, request: unknown) => {
    removed.push(request);
    return { kind: 'done', result: null };
  }) as StoreThread['call'];
  const remover = createRemover({ call }, clock, () => {});

  remover.retry();
  await clock.advance(1_000);
  remover.add(7);
  await clock.advance(1_000);
  expect(removed).toEqual([{ keys: [7] }]);
  await remover.flush();
  remover.add(8);
  await remover.flush();
  expect(removed).toEqual([{ keys: [7] }, { keys: [8] }]);
});
