import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { NewMessage } from '../../../src/lib/cloud/outbox/store/model.ts';
import { createStoreThread } from '../../../src/lib/cloud/outbox/thread/store-thread.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-outbox-thread-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const message = (bytes: number): NewMessage => ({
  class: 'fault',
  topic: 'gw/SN1/faults',
  bodyJson: JSON.stringify(Array.from({ length: bytes / 100 }, (_, n) => `${n}`.padEnd(98, 'x'))),
  idField: null,
  id: 'a',
  atMs: 0,
});

describe('the thread of the outbox', () => {
  it('that ends for lack of memory says that the outcome is unknown, and is started again by the next request', {
    tags: 'large',
  }, async () => {
    const ends: string[] = [];
    const thread = createStoreThread(
      { path: join(scratch, 'outbox.db'), serial: 'SN1', recordTopic: 'r', shadowTopic: 's', maxBytes: 1e9 },
      systemClock,
      { onReply() {}, onSilence() {}, onEnd: (text) => void ends.push(text) },
    );
    expect(await thread.call('append', { messages: [message(100)] })).toMatchObject({ result: [{ seq: 1 }] });
    // Far above what the outbox hands over at once.
    const outcome = await thread.call('append', { messages: Array.from({ length: 30 }, () => message(2_000_000)) });
    expect(outcome).toMatchObject({ kind: 'ended', text: expect.stringMatching(/memory/) });
    expect(ends).toHaveLength(1);
    expect(await thread.call('append', { messages: [message(100)] })).toMatchObject({ result: [{ seq: 2 }] });
    await thread.close();
    await thread.close();
  });
});
