import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { snapshotOutbox } from '../../../src/lib/cloud/outbox/store/snapshot.ts';
import { openStore, type Store } from '../../../src/lib/cloud/outbox/store/store.ts';
import { runs } from '../../properties.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-outbox-snapshot-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
const freshPath = () => join(mkdtempSync(join(scratch, 's-')), 'outbox.db');

const open = (path: string) =>
  openStore({ path, maxBytes: 1_000_000, serial: 'SN-7', recordTopic: 'gw/r', shadowTopic: 'gw/s' });
let ids = 0;
const message = (size: number) => ({
  ...{ class: 'record' as const, topic: 'gw/r', bodyJson: JSON.stringify({ text: 'x'.repeat(size) }) },
  ...{ idField: null, id: `id-${++ids}`, atMs: ids },
});
const kept = (store: Store) =>
  store.page('record', -1, { maxMessages: 10_000, maxBytes: 10_000_000 }).messages.map(({ key }) => key);

describe('a snapshot of an outbox in use', () => {
  it('is the outbox as it was at one moment of the copy, however it is written to meanwhile, and changes nothing of it', {
    tags: 'property',
  }, async () => {
    const step = fc.record({
      add: fc.integer({ min: 0, max: 6 }),
      size: fc.integer({ min: 0, max: 9_000 }),
      drop: fc.integer({ min: 0, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 12 }), async (first, then) => {
        const path = freshPath();
        const store = open(path);
        const take = ({ add, size, drop }: (typeof first)[number]) => {
          if (add > 0) store.append(Array.from({ length: add }, () => message(size)));
          if (drop > 0) store.remove(kept(store).slice(0, drop));
        };
        for (const one of first) take(one);
        const states = [kept(store)];
        const to = join(dirname(path), 'copy.db');
        const copying = snapshotOutbox(path, to, `${to}.draft`).then(() => true);
        for (const one of then) {
          take(one);
          states.push(kept(store));
          if (await Promise.race([copying, new Promise((next) => setImmediate(next, false))])) break;
        }
        await copying;
        const copy = open(to);
        // One of them: each append and each removal is a state of its own.
        const found = kept(copy);
        const all = new Set(states.flat());
        expect(found.filter((key) => !all.has(key))).toEqual([]);
        expect(copy.state().kept.record).toBe(found.length);
        expect(copy.lastSeqs()[0]).toBeGreaterThanOrEqual(found.at(-1) ?? 0);
        const [oldest, newest] = [states[0] ?? [], states.at(-1) ?? []];
        if (found.length > 0) expect(found.at(-1)).toBeGreaterThanOrEqual(oldest.at(-1) ?? 0);
        // Nothing in the middle is missing.
        expect(found).toEqual(
          [...all].toSorted((a, b) => a - b).filter((key) => key >= (found[0] ?? 0) && key <= (found.at(-1) ?? -1)),
        );
        copy.close();
        expect(kept(store)).toEqual(newest);
        store.close();
        expect(readdirSync(dirname(path)).filter((name) => name.includes('draft'))).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  it('is refused of a damaged file, and leaves nothing behind', async () => {
    const path = freshPath();
    const store = open(path);
    store.append(Array.from({ length: 50 }, () => message(2_000)));
    store.close();
    const bytes = readFileSync(path);
    bytes.fill(0xff, 8_192, 12_288);
    writeFileSync(path, bytes);
    const to = join(dirname(path), 'copy.db');
    await expect(snapshotOutbox(path, to, `${to}.draft`)).rejects.toThrow();
    expect([existsSync(to), readdirSync(dirname(path))]).toEqual([false, ['outbox.db']]);
  });

  it('is for its owner alone', async () => {
    const path = freshPath();
    open(path).close();
    const to = join(dirname(path), 'copy.db');
    await snapshotOutbox(path, to, `${to}.draft`);
    expect(statSync(to).mode & 0o777).toBe(0o600);
  });
});
