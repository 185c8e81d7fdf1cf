import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { maxBatchBytes, walBytes } from '../../../src/lib/cloud/outbox/limits.ts';
import { type MessageClass, messageClasses } from '../../../src/lib/cloud/outbox/message-class.ts';
import { logDamage } from '../../../src/lib/cloud/outbox/store/database.ts';
import { failureKind } from '../../../src/lib/cloud/outbox/store/failure.ts';
import type { NewMessage } from '../../../src/lib/cloud/outbox/store/model.ts';
import { finishSetAside, setAside } from '../../../src/lib/cloud/outbox/store/set-aside.ts';
import { openStore, type Store } from '../../../src/lib/cloud/outbox/store/store.ts';
import { runs } from '../../properties.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-outbox-store-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const fresh = () => join(mkdtempSync(join(scratch, 's-')), 'outbox.db');
const open = (path: string, maxBytes = 1_000_000) =>
  openStore({ path, maxBytes, serial: 'SN1', recordTopic: 'gw/SN1/records', shadowTopic: 'gw/SN1/shadow' });

const asideOf = (path: string) => ({
  ...{ path, maxBytes: 1_000_000, serial: 'SN1', shadowTopic: 'gw/SN1/shadow' },
  ...{ kind: 'corrupt' as const, reason: 'x', atMs: 0, lastSeqs: [] },
});

const ASIDE = '.corrupt-1970-01-01T00-00-00.000Z';

let ids = 0;
const message = (messageClass: MessageClass, bytes = 100, idField: string | null = null): NewMessage => ({
  class: messageClass,
  topic: `gw/SN1/${messageClass}`,
  bodyJson: JSON.stringify({ text: 'ä'.repeat(bytes / 2) }),
  idField,
  id: `id-${++ids}`,
  atMs: 1_769_860_800_000 + ids,
});

interface Sent {
  readonly id: string;
  readonly seq: number;
  readonly key: number;
}

/** Everything that is kept of a class, page by page. */
function kept(store: Store, messageClass: MessageClass): Sent[] {
  const found: Sent[] = [];
  for (let after = -1; ; ) {
    const { messages, isEnd, newestKey } = store.page(messageClass, after, { maxMessages: 7, maxBytes: 5_000 });
    for (const { key, payload } of messages) {
      const { id, seq } = JSON.parse(Buffer.from(payload).toString()) as { id: string; seq: number };
      found.push({ id, seq, key });
    }
    after = messages.at(-1)?.key ?? after;
    expect(after).toBeLessThanOrEqual(newestKey);
    if (isEnd) return found;
  }
}

/** Ends like `kill -9`: a copy of the files as they are, without closing the store. */
function crash(path: string): string {
  const copy = fresh();
  for (const end of ['', '-wal']) if (existsSync(path + end)) writeFileSync(copy + end, readFileSync(path + end));
  return copy;
}

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      classes: fc.array(fc.constantFrom(...messageClasses), { minLength: 1, maxLength: 8 }),
      bytes: fc.constantFrom(0, 90, 3_000, 40_000, 126_000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      class: fc.constantFrom(...messageClasses),
      from: fc.nat(20),
      count: fc.nat(12),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('crash' as const, 'reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('record' as const) }) },
);

describe('the store of the outbox', () => {
  it('keeps what a simple model keeps, through crashes, and thins only the oldest telemetry', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        let path = fresh();
        let store = open(path);
        const model: Record<MessageClass, Pick<Sent, 'id' | 'seq'>[]> = {
          ...{ record: [], fault: [], shadow: [], telemetry: [] },
        };
        const lastSeq: Record<MessageClass, number> = { record: 0, fault: 0, shadow: 0, telemetry: 0 };
        let thinned = 0;
        /** The store may have thinned; the model follows, and only the oldest telemetry may be missing. */
        const compare = () => {
          const state = store.state();
          const gone = state.thinned - thinned;
          thinned = state.thinned;
          model.telemetry.splice(0, gone);
          for (const name of messageClasses) {
            expect(kept(store, name).map(({ id, seq }) => ({ id, seq }))).toEqual(model[name]);
            expect(state.kept[name]).toBe(model[name].length);
          }
          expect(state.bytes).toBeLessThanOrEqual(1_000_000);
        };
        try {
          for (const step of commands) {
            if (step.do === 'append') {
              const many = Math.max(1, Math.floor(maxBatchBytes(1_000_000) / (step.bytes + 200)));
              const messages = step.classes.slice(0, many).map((name) => message(name, step.bytes));
              for (const [index, result] of store.append(messages).entries()) {
                const { class: name, id } = messages[index] as NewMessage;
                if ('refused' in result) {
                  expect(result.refused).toMatch(/^the outbox is full/);
                  expect(store.state().kept.telemetry).toBe(0);
                  continue;
                }
                expect(result.seq).toBe(++lastSeq[name]);
                model[name].push({ id, seq: result.seq });
              }
            } else if (step.do === 'remove') {
              const all = kept(store, step.class);
              const keys = all.slice(step.from, step.from + step.count).map(({ key }) => key);
              store.remove(keys);
              // A second time it changes nothing.
              store.remove(keys);
              model[step.class].splice(step.from, step.count);
            } else if (step.do === 'record') {
              const id = `record-${++ids}`;
              if (store.recordThinning({ id, atMs: 1_769_860_800_000 }) !== null) {
                model.record.push({ id, seq: ++lastSeq.record });
              }
            } else {
              if (step.do === 'crash') path = crash(path);
              else store.close();
              store = open(path);
            }
            compare();
          }
        } finally {
          store.close();
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it('makes the whole payload, the same in every copy, with the id where it is asked for', () => {
    const store = open(fresh());
    const shadow = { ...message('shadow', 0, 'clientToken'), bodyJson: '{"state":{"reported":{}}}' };
    const empty = { ...message('fault'), bodyJson: '{}' };
    expect(store.append([shadow, empty, message('record')])).toEqual([{ seq: 1 }, { seq: 1 }, { seq: 1 }]);
    const payload = (name: MessageClass) =>
      JSON.parse(
        Buffer.from(store.page(name, -1, { maxMessages: 1, maxBytes: 1 }).messages[0]?.payload ?? []).toString(),
      );
    expect(payload('shadow')).toEqual({ clientToken: shadow.id, state: { reported: {} } });
    expect(payload('fault')).toEqual({ id: empty.id, seq: 1, at: new Date(empty.atMs).toISOString(), serial: 'SN1' });
    expect(payload('record').text).toMatch(/^ä+$/);
    store.close();
  });

  it('thins telemetry for the others, and records that once for all that was thinned', () => {
    const path = fresh();
    let store = open(path);
    for (let batch = 0; batch < 40; batch += 1)
      store.append(Array.from({ length: 100 }, () => message('telemetry', 300)));
    store.append([message('record', 100_000)]);
    const { thinned, kept: counts } = store.state();
    expect(thinned).toBeGreaterThan(1_000);
    expect(thinned + counts.telemetry).toBe(4_000);
    // The count of what is not recorded yet survives a crash.
    store = open(crash(path));
    expect(store.recordThinning({ id: 'r1', atMs: 0 })).not.toBeNull();
    expect(store.recordThinning({ id: 'r2', atMs: 0 })).toBeNull();
    const [, record] = store.page('record', -1, { maxMessages: 9, maxBytes: 1e6 }).messages;
    expect(JSON.parse(Buffer.from(record?.payload ?? []).toString())).toMatchObject({
      ...{ id: 'r1', kind: 'telemetry-thinned', count: thinned, fromSeq: 1, toSeq: thinned },
      from: expect.stringMatching(/^2026-/),
    });
    store.close();
  });

  it('refuses what there is no space for when only other messages are kept, and nothing that was accepted goes', () => {
    const store = open(fresh());
    const results = store.append(Array.from({ length: 20 }, () => message('fault', 100_000)));
    const accepted = results.filter((result) => 'seq' in result).length;
    expect(accepted).toBeGreaterThan(3);
    expect(results.at(-1)).toEqual({ refused: expect.stringMatching(/^the outbox is full/) });
    expect(store.state().kept.fault).toBe(accepted);
    // Refused messages leave no gap in the numbers.
    store.remove(kept(store, 'fault').map(({ key }) => key));
    expect(store.append([message('fault')])).toEqual([{ seq: accepted + 1 }]);
    store.close();
  });

  it('counts the space of all messages of one transaction together', () => {
    const path = fresh();
    const maxBytes = 1_000_000;
    const store = open(path, maxBytes);
    // Each of them alone has space to the last, all together have not.
    const batch = () => Array.from({ length: 20 }, () => message('fault', 2_500));
    const results = Array.from({ length: 40 }, () => store.append(batch())).flat();
    expect(results.some((result) => 'refused' in result)).toBe(true);
    store.close();
    // The write-ahead log has the rest of the limit.
    expect(statSync(path).size).toBeLessThanOrEqual(maxBytes - walBytes(maxBytes));
  });

  it('says of when the oldest message is, also after more was appended in one transaction than was thinned', () => {
    const store = open(fresh());
    // The other classes have a message each, later than all of these, since an empty one is looked at every time.
    const others = messageClasses.filter((name) => name !== 'telemetry');
    store.append(others.map((name) => ({ ...message(name), atMs: 2_000_000_000_000 })));
    while (store.state().thinned === 0) store.append([message('telemetry', 3_000)]);
    let thinnings = 0;
    for (let round = 0; round < 60; round += 1) {
      const { thinned, kept: before } = store.state();
      store.append(Array.from({ length: 40 }, () => message('telemetry', 100)));
      const after = store.state();
      if (after.thinned > thinned && after.kept.telemetry >= before.telemetry) thinnings += 1;
      const oldest = store.page('telemetry', -1, { maxMessages: 1, maxBytes: 1 }).messages[0];
      const { at } = JSON.parse(Buffer.from(oldest?.payload ?? []).toString());
      expect(new Date(after.oldestAtMs ?? 0).toISOString()).toBe(at);
    }
    expect(thinnings).toBeGreaterThan(0);
    store.close();
  });

  it('shrinks its file when it is empty', () => {
    const path = fresh();
    const store = open(path, 8_000_000);
    for (let batch = 0; batch < 5; batch += 1) store.append(Array.from({ length: 8 }, () => message('fault', 100_000)));
    const full = statSync(path).size;
    store.remove(kept(store, 'fault').map(({ key }) => key));
    store.close();
    expect(full).toBeGreaterThan(3_000_000);
    expect(statSync(path).size).toBeLessThan(1_000_000);
  });

  it('is readable and writable by its owner only, and so is its write-ahead log', () => {
    const path = fresh();
    const store = open(path);
    store.append([message('fault')]);
    for (const end of ['', '-wal']) expect(statSync(path + end).mode & 0o777).toBe(0o600);
    // A second daemon on the same file.
    expect(() => open(path)).toThrow(/locked/);
    store.close();
  });
});

/** Opens, reads everything and appends, with the repair of the thread. */
function useDamaged(path: string): { readonly read: Sent[]; readonly salvaged: number | null } {
  const use = () => {
    finishSetAside(path);
    const store = open(path);
    try {
      const read = messageClasses.flatMap((name) => kept(store, name));
      store.append([message('fault')]);
      store.remove(read.slice(0, 3).map(({ key }) => key));
      store.state();
      return read;
    } finally {
      store.close();
    }
  };
  try {
    return { read: use(), salvaged: null };
  } catch (error) {
    expect(failureKind(error)).toBe('corrupt');
    const aside = setAside(asideOf(path));
    expect(existsSync(aside.path)).toBe(true);
    return { read: use(), salvaged: aside.salvaged };
  }
}

function filled(): { readonly path: string; readonly ids: Map<string, number> } {
  const path = fresh();
  const store = open(path);
  const known = new Map<string, number>();
  for (let batch = 0; batch < 10; batch += 1) {
    const messages = messageClasses.flatMap((name) => [message(name, 90), message(name, 2_000)]);
    for (const [index, result] of store.append(messages).entries()) {
      if ('seq' in result) known.set((messages[index] as NewMessage).id, result.seq);
    }
  }
  store.close();
  return { path, ids: known };
}

describe('a damaged file', () => {
  const { path: original, ids: known } = filled();
  const bytes = readFileSync(original);
  const damaged = (change: (copy: Buffer) => Buffer) => {
    const path = fresh();
    writeFileSync(path, change(Buffer.from(bytes)));
    return path;
  };

  it('never yields a message that was not written, and never ends the outbox', { tags: 'property' }, () => {
    const change = fc.oneof(
      fc.record({
        kind: fc.constant('overwrite' as const),
        at: fc.nat(bytes.length - 1),
        with: fc.uint8Array({ minLength: 1, maxLength: 200 }),
      }),
      fc.record({ kind: fc.constant('truncate' as const), at: fc.nat(bytes.length) }),
      fc.record({ kind: fc.constant('zero' as const), at: fc.nat(bytes.length / 4096 - 1) }),
    );
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const path = damaged((copy) => {
          let result = copy;
          for (const step of changes) {
            if (step.kind === 'truncate') result = result.subarray(0, step.at);
            else if (step.kind === 'zero') result.subarray(step.at * 4096, (step.at + 1) * 4096).fill(0);
            else
              result.set(step.with.subarray(0, Math.max(0, result.length - step.at)), Math.min(step.at, result.length));
          }
          return result;
        });
        const { read } = useDamaged(path);
        for (const { id, seq } of read) expect(known.get(id)).toBe(seq);
        expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
      }),
      { numRuns: runs(150) },
    );
  });

  it('keeps what is before and after a damaged page', () => {
    const path = damaged((copy) => copy.fill(0xff, 10 * 4096, 11 * 4096));
    const { read, salvaged } = useDamaged(path);
    expect(salvaged).toBe(read.length);
    expect(read.length).toBeGreaterThan(known.size / 2);
    expect(read.length).toBeLessThan(known.size);
  });

  /** Committed one by one and killed before they were moved to the database itself. */
  function killed(count: number) {
    const path = fresh();
    const store = open(path);
    const sent: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const made = message('fault');
      store.append([made]);
      sent.push(made.id);
    }
    const copy = crash(path);
    store.close();
    return { path: copy, sent, log: readFileSync(`${copy}-wal`) };
  }

  it('of zero length is set aside with its log, and so is a log whose database is gone', () => {
    for (const lose of [(path: string) => writeFileSync(path, ''), (path: string) => rmSync(path)]) {
      const { path, log } = killed(5);
      lose(path);
      expect(useDamaged(path)).toEqual({ read: [], salvaged: 0 });
      expect(readFileSync(`${path}${ASIDE}-wal`)).toEqual(log);
    }
  });

  it('whose log has random bytes at its start or in its middle is set aside with it, and with what is readable', {
    tags: 'property',
  }, () => {
    fc.assert(
      fc.property(fc.nat(1), fc.uint8Array({ minLength: 12_500, maxLength: 14_000 }), (half, noise) => {
        // Unlike a crash, which leaves at most one frame half written.
        fc.pre(new Set(noise).size > 20);
        const { path, sent, log } = killed(12);
        const damagedLog = Buffer.from(log);
        damagedLog.set(noise, half === 0 ? 0 : Math.floor(log.length / 2));
        writeFileSync(`${path}-wal`, damagedLog);
        const { read, salvaged } = useDamaged(path);
        expect(salvaged).toBe(read.length);
        expect(read.map(({ id }) => id)).toEqual(sent.slice(0, read.length));
        expect(readFileSync(`${path}${ASIDE}-wal`)).toEqual(damagedLog);
      }),
      { numRuns: runs(20) },
    );
  });

  it('is not one whose log a kill or a power failure has cut off anywhere, or whose log was used before', {
    tags: 'property',
  }, () => {
    // The log begins anew several times, with old frames behind the new ones.
    const path = fresh();
    const store = open(path);
    const copies: { readonly path: string; readonly last: string }[] = [];
    for (let n = 0; n < 60; n += 1) {
      const made = message('fault');
      store.append([made]);
      if (n % 2 === 1) store.remove(kept(store, 'fault').map(({ key }) => key));
      else copies.push({ path: crash(path), last: made.id });
    }
    store.close();
    for (const { path: copy, last } of copies) {
      const { read, salvaged } = useDamaged(copy);
      expect([read.map(({ id }) => id), salvaged]).toEqual([[last], null]);
    }
    const { log, path: whole } = killed(6);
    const database = readFileSync(whole);
    fc.assert(
      fc.property(fc.integer({ min: 32, max: log.length }), fc.boolean(), (length, isZeroed) => {
        const cut = fresh();
        writeFileSync(cut, database);
        // A file that was extended, and whose last blocks were not written.
        const zeros = isZeroed ? Math.min(4_096, log.length - length) : 0;
        writeFileSync(`${cut}-wal`, Buffer.concat([log.subarray(0, length), Buffer.alloc(zeros)]));
        expect(useDamaged(cut).salvaged).toBeNull();
      }),
      { numRuns: runs(40) },
    );
  });

  it('is judged by its log without an exception, whatever bytes that has', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20_000 }), fc.nat(40), (noise, at) => {
        expect(logDamage(Buffer.from(noise), 4096)).toSatisfy((found) => found !== null || noise.length === 0);
        // Behind a sound header.
        const { log } = sound;
        const mixed = Buffer.concat([log.subarray(0, 32 + at), noise]);
        expect(['string', 'object']).toContain(typeof logDamage(mixed, 4096));
      }),
    );
  });
  const sound = killed(1);

  it('is kept with its content, and at most three of them', () => {
    const path = damaged((copy) => copy.fill(0xaa, 0, 100));
    for (let round = 0; round < 5; round += 1) {
      setAside({ ...asideOf(path), atMs: round * 1_000 });
    }
    const names = readdirSync(join(path, '..')).filter((name) => /\.corrupt-[^w]+$/.test(name));
    expect(names).toHaveLength(3);
  });

  it('that cannot be read at all still never gives a number twice', () => {
    const path = damaged((copy) => copy.fill(0xaa, 0, 100));
    setAside({ ...asideOf(path), lastSeqs: [5, 6, 7, 8] });
    const store = open(path);
    expect(store.append(messageClasses.map((name) => message(name)))).toEqual([6, 7, 8, 9].map((seq) => ({ seq })));
    store.close();
  });

  // The log of the old database holds its last messages.
  it.each([
    ['before the first renaming, its old database is used', ['', '-wal', '-shm', '.new'], 'old'],
    ['after the first renaming, its new database is used', ['-wal', '-shm', '.new', ASIDE], 'new'],
    ['after the renaming of the log', ['-shm', '.new', ASIDE, `${ASIDE}-wal`], 'new'],
    ['before the last renaming', ['.new', ASIDE, `${ASIDE}-wal`], 'new'],
    ['after the last renaming', ['', ASIDE, `${ASIDE}-wal`], 'new'],
  ] as const)('whose repair was interrupted %s', (_, ends, expected) => {
    const old = fresh();
    const writer = open(old);
    writer.append([message('fault'), message('fault')]);
    const log = crash(old);
    writer.close();
    expect(readFileSync(`${log}-wal`).length).toBeGreaterThan(0);

    const path = fresh();
    for (const end of ends) {
      const isNew = end === '.new' || (end === '' && expected === 'new');
      if (end === '-shm') writeFileSync(path + end, Buffer.alloc(32_768, 0xff));
      else writeFileSync(path + end, isNew ? bytes : readFileSync(log + (end.endsWith('-wal') ? '-wal' : '')));
    }
    expect(useDamaged(path)).toMatchObject({ salvaged: null, read: { length: expected === 'old' ? 2 : known.size } });
    expect(existsSync(`${path}.new`)).toBe(false);
    if (expected === 'new') expect(readFileSync(`${path}${ASIDE}-wal`)).toEqual(readFileSync(`${log}-wal`));
  });

  it('of another program is set aside, and one of a newer gw is left alone', () => {
    const foreign = fresh();
    const database = new DatabaseSync(foreign);
    database.exec('CREATE TABLE a (b); INSERT INTO a VALUES (1)');
    database.close();
    expect(useDamaged(foreign)).toEqual({ read: [], salvaged: 0 });

    const newer = damaged((copy) => copy);
    const changed = new DatabaseSync(newer);
    changed.exec('PRAGMA user_version = 9');
    changed.close();
    let thrown: unknown;
    try {
      open(newer);
    } catch (error) {
      thrown = error;
    }
    expect(failureKind(thrown)).toBe('foreign');
  });
});
