import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import type { SessionRecord } from '../../../src/lib/tunnel/records/schema.ts';
import { folderOfEach } from '../../lifecycle/folder.ts';
import { isFull } from '../../properties.ts';
import { endOf, idOf, linesOf, recordOf, refusedOf, startOf, tokenHashOf } from './bodies.ts';

const root = folderOfEach();
let dir: string;
let logged: { level: string; message: string; fields: Record<string, unknown> }[];
const note = (level: string) => (fields: object, message: string) =>
  logged.push({ level, message, fields: { ...fields } });
const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
let now = 0;
const clock = {
  wall() {
    now += 1_000;
    return new Date(Date.UTC(2026, 0, 2) + now);
  },
};
const errors = () => logged.filter(({ level }) => level === 'error').map(({ message }) => message);

const open = (more: { maxFileBytes?: number } = {}) => openRecords({ dir, serial: 'SN-1', clock, log, ...more });
const current = () => join(dir, 'sessions.jsonl');
const files = () =>
  readdirSync(dir)
    .filter((name) => /^sessions(-\d+)?\.jsonl$/.test(name))
    .toSorted((a, b) => (a === 'sessions.jsonl' ? 1 : b === 'sessions.jsonl' ? -1 : a < b ? -1 : 1));
const allLines = () => files().flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n').slice(0, -1));
const all = () => allLines().map(recordOf);
const head = () => JSON.parse(readFileSync(join(dir, 'head.json'), 'utf8')) as { seq: number; hash: string };

function expectChain(records: readonly SessionRecord[], from = 1) {
  for (const [index, record] of records.entries()) {
    expect(record.seq).toBe(from + index);
    if (index > 0) expect(record.prev).toBe(records[index - 1]?.hash);
  }
}

beforeEach(() => {
  dir = root.at('support');
  logged = [];
});

describe('append', () => {
  it('writes the bytes of the format, for the owner only', async () => {
    await using records = await open();
    const made = [await records.append(startOf(1)), await records.append(endOf(1)), await records.append(refusedOf(1))];
    const again = linesOf([startOf(1), endOf(1), refusedOf(1)], { at: made[0]?.at ?? '', stepS: 1 });
    expect(readFileSync(current(), 'utf8')).toBe(again.join(''));
    expect(made).toEqual(again.map(recordOf));
    expect(head()).toMatchObject({ seq: 3, hash: made[2]?.hash });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
    expect(errors()).toEqual([]);
  });

  it('keeps the order of concurrent calls', async () => {
    await using records = await open();
    const made = await Promise.all(Array.from({ length: 50 }, (_, n) => records.append(startOf(n))));
    expect(all()).toEqual(made);
    expectChain(made);
  });

  it('goes on with the chain after a restart, and knows tokens and open sessions', async () => {
    {
      await using records = await open();
      for (const body of [startOf(1), endOf(1), startOf(2), refusedOf(7)]) await records.append(body);
      expect(records.openSessions()).toEqual([]);
    }
    await using records = await open();
    expect(records.openSessions()).toEqual([{ session: idOf(2), at: expect.stringMatching(/^2026/) }]);
    expect(records.hasToken(tokenHashOf('token 1'))).toBe(true);
    expect(records.hasToken(tokenHashOf('refused 7'))).toBe(true);
    expect(records.hasToken(tokenHashOf('token 3'))).toBe(false);
    await records.append(endOf(2, 'unclean-shutdown', { durationS: null }));
    expect(records.openSessions()).toEqual([]);
    expectChain(all());
    expect(errors()).toEqual([]);
  });

  it('refuses a record that is larger than a line may be, and keeps nothing of it', async () => {
    await using records = await open();
    await records.append(startOf(1));
    await expect(records.append(endOf(1, 'proxy-failed', { detail: 'x'.repeat(70_000) }))).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
    });
    await records.append(endOf(1));
    expectChain(all());
    expect(all()).toHaveLength(2);
  });

  it('refuses after close', async () => {
    const records = await open();
    await records.close();
    await expect(records.append(startOf(1))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });
});

describe('rotation', () => {
  it('keeps the chain over files, removes the oldest beyond 20, and lists newest first', async () => {
    {
      await using records = await open({ maxFileBytes: 900 });
      for (let n = 1; n <= 25; n += 1) {
        await records.append(startOf(n));
        await records.append(endOf(n));
        await records.markSent(2 * n);
      }
      expect(files()).toHaveLength(21);
      const kept = all();
      expectChain(kept, kept[0]?.seq);
      expect(kept[0]?.seq).toBeGreaterThan(1);
      const newest = await records.last(7);
      expect(newest).toEqual(kept.toReversed().slice(0, 7));
      expect(await records.last(1_000)).toEqual(kept.toReversed());
    }
    await using again = await open({ maxFileBytes: 900 });
    expect((await again.append(refusedOf(1))).seq).toBe(51);
    expect(errors()).toEqual([]);
  });

  it('keeps files with records that the cloud does not have, up to 40', async () => {
    await using records = await open({ maxFileBytes: 500 });
    for (let n = 1; n <= 35; n += 1) await records.append(startOf(n));
    expect(all()).toHaveLength(35);
    for (let n = 36; n <= 43; n += 1) await records.append(startOf(n));
    expect(files()).toHaveLength(41);
    expect(errors()).toContain('session records were removed that the cloud does not have');
  });

  it('goes on after a crash between renaming the file and creating the next', async () => {
    {
      await using records = await open();
      await records.append(startOf(1));
    }
    renameSync(current(), join(dir, 'sessions-000001.jsonl'));
    await using records = await open();
    expect(records.openSessions()).toHaveLength(1);
    await records.append(endOf(1));
    expectChain(all());
    expect(errors()).toEqual([]);
  });
});

describe('what is sent', () => {
  it('comes in order over rotated files, from the persisted pointer on', async () => {
    {
      await using records = await open({ maxFileBytes: 1_200 });
      for (let n = 1; n <= 20; n += 1) await records.append(startOf(n));
      const first = await records.unsent(3);
      expect(first.map(({ seq }) => seq)).toEqual([1, 2, 3]);
      // The same again until it is marked.
      expect((await records.unsent(3)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
      await records.markSent(3);
      expect((await records.unsent(9)).map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
      await records.markSent(12);
      await records.markSent(5);
      expect(records.notSentYet()).toBe(8);
      // Rotates the file that the next batch is in.
      for (let n = 21; n <= 24; n += 1) await records.append(startOf(n));
    }
    await using records = await open({ maxFileBytes: 1_200 });
    expect(records.notSentYet()).toBe(12);
    const seen: number[] = [];
    for (let n = 25; n <= 30; n += 1) {
      const batch = await records.unsent(2);
      seen.push(...batch.map(({ seq }) => seq));
      await records.markSent(seen.at(-1) ?? 0);
      await records.append(startOf(n));
    }
    expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => 13 + at));
  });

  it.each([['{"format":"gw/support'], ['{"format":"gw/support-session-sent/1","seq":99}']])(
    'is everything again when the pointer is %s',
    async (text) => {
      {
        await using records = await open();
        await records.append(startOf(1));
        await records.markSent(1);
      }
      writeFileSync(join(dir, 'sent.json'), text);
      await using records = await open();
      expect((await records.unsent()).map(({ seq }) => seq)).toEqual([1]);
    },
  );
});

describe('damage', () => {
  async function filled(count = 3) {
    await using records = await open();
    for (let n = 1; n <= count; n += 1) await records.append(startOf(n));
    return readFileSync(current());
  }
  const parts = () => readdirSync(dir).filter((name) => name.endsWith('.part'));

  it('a torn last line, cut at every byte, is moved into a file and logged', { tags: 'property' }, async () => {
    const bytes = await filled(2);
    const more = linesOf([startOf(3)], { seq: 3 })[0] ?? '';
    for (let cut = 1; cut < more.length; cut += isFull ? 13 : 71) {
      logged = [];
      for (const name of parts()) rmSync(join(dir, name));
      writeFileSync(current(), Buffer.concat([bytes, Buffer.from(more.slice(0, cut))]));
      await using records = await open();
      expect(readFileSync(current())).toEqual(bytes);
      expect(parts().map((name) => readFileSync(join(dir, name), 'utf8'))).toEqual([more.slice(0, cut)]);
      expect(errors()).toEqual(['a torn last line of the session records was moved into a file']);
      expect((await records.last(1))[0]?.seq).toBe(2);
    }
  });

  it('of the last line is rotated away whole, and the chain goes on after the record of head.json', async () => {
    const bytes = await filled();
    const last = all().at(-1);
    const changed = Buffer.from(bytes);
    changed[bytes.length - 90] = 0x21;
    writeFileSync(current(), changed);
    await using records = await open();
    const made = await records.append(endOf(1));
    expect(made).toMatchObject({ seq: 4, prev: last?.hash });
    expect(readFileSync(join(dir, 'sessions-000001.jsonl'))).toEqual(changed);
    expect(errors()).toContain('the last line of the session records is no record: they go on in a new file');
  });

  it('zeros that a power failure left behind are moved away as a torn line', async () => {
    const bytes = await filled();
    appendFileSync(current(), Buffer.alloc(100_000));
    await using records = await open();
    await records.append(endOf(1));
    expect(readFileSync(current()).subarray(0, bytes.length)).toEqual(bytes);
    expectChain(all());
    expect(parts().map((name) => statSync(join(dir, name)).size)).toEqual([100_000]);
  });

  it('a cut end leaves its numbers reserved, so that the gap stays', async () => {
    const bytes = await filled();
    const lines = bytes.toString().split('\n');
    truncateSync(current(), `${lines[0]}\n`.length);
    await using records = await open();
    const made = await records.append(endOf(1));
    expect(made).toMatchObject({ seq: 4, prev: recordOf(lines[2] ?? '').hash });
    expect(errors()).toContain('session records are missing at the end: the numbers stay reserved for them');
  });

  it('of head.json keeps it under another name', async () => {
    await filled();
    writeFileSync(join(dir, 'head.json'), 'not json');
    await using records = await open();
    expect(head()).toMatchObject({ seq: 3 });
    const kept = readdirSync(dir).find((name) => name.startsWith('head.json.damaged-'));
    expect(readFileSync(join(dir, kept ?? ''), 'utf8')).toBe('not json');
    await records.append(endOf(1));
    expectChain(all());
  });

  it('in the middle is logged, and the chain goes on', async () => {
    const bytes = await filled();
    bytes[bytes.indexOf('SN-1')] = 0x21;
    writeFileSync(current(), bytes);
    await using records = await open();
    await records.append(endOf(1));
    expect(all().at(-1)?.prev).toBe(all().at(-2)?.hash);
    expect(errors()).toEqual([expect.stringContaining('are damaged')]);
  });

  it('head.json that is one behind, as after a crash, is repaired without a complaint', async () => {
    await filled(2);
    const behind = readFileSync(join(dir, 'head.json'));
    {
      await using records = await open();
      await records.append(startOf(9));
    }
    writeFileSync(join(dir, 'head.json'), behind);
    await using _records = await open();
    expect(head().seq).toBe(3);
    expect(errors()).toEqual([]);
  });
});

describe('while it is open', () => {
  it('a missing head.json is logged, since a cut end does not show then', async () => {
    {
      await using records = await open();
      for (const n of [1, 2]) await records.append(refusedOf(n));
    }
    expect(errors()).toEqual([]);
    rmSync(join(dir, 'head.json'));
    await using records = await open();
    expect(errors()).toEqual([expect.stringMatching(/^head\.json is missing/)]);
    await records.append(refusedOf(3));
    expect(head().seq).toBe(3);
    expect(errors()).toHaveLength(1);
  });

  it('a removed file costs its records and never the next one', async () => {
    await using records = await open();
    await records.append(startOf(1));
    const second = await records.append(endOf(1));
    rmSync(current());
    expect(await records.append(startOf(2))).toMatchObject({ seq: 3, prev: second.hash });
    expect(all().map(({ seq }) => seq)).toEqual([3]);
    expect(errors()).toContain('the file of the session records was changed by another program');
  });

  it('a line that another program appended stays, and the chain goes on behind it', async () => {
    await using records = await open();
    const first = await records.append(startOf(1));
    appendFileSync(current(), linesOf([endOf(1)], { seq: 2, prev: first.hash }).join(''));
    await records.append(startOf(2));
    expectChain(all());
    expect(all()).toHaveLength(3);
  });

  it('a folder that cannot be written refuses, and the next append works again', async () => {
    await using records = await open();
    await records.append(startOf(1));
    // A second name of the file could be another user's; root passes any mode, so this stands for a refusal.
    linkSync(current(), join(dir, 'other-name'));
    rmSync(current());
    mkdirSync(current());
    await expect(records.append(endOf(1))).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    rmSync(current(), { recursive: true });
    renameSync(join(dir, 'other-name'), current());
    await records.append(endOf(1));
    expectChain(all());
    expect(all()).toHaveLength(2);
  });
});

describe('opening', () => {
  it('creates nothing', async () => {
    await using records = await open();
    expect(existsSync(dir)).toBe(false);
    expect(await records.last(5)).toEqual([]);
    expect(await records.unsent()).toEqual([]);
    expect(records.notSentYet()).toBe(0);
  });

  it('refuses a folder that others may write to', async () => {
    mkdirSync(dir, { recursive: true });
    chmodSync(dir, 0o777);
    await expect(open()).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });

  it('refuses a file that cannot be read', async () => {
    mkdirSync(join(dir, 'sessions.jsonl'), { recursive: true, mode: 0o700 });
    await expect(open()).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});
