import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBody } from '../../../src/lib/tunnel/records/schema.ts';
import { isFull, runs } from '../../properties.ts';
import { endOf, linesOf, recordOf, refusedOf, startOf } from '../records/bodies.ts';
import { headOf, recordFolder } from './folder.ts';

/** Twelve sessions and two refusals over three files, the oldest not the first of all. */
const bodies: readonly RecordBody[] = [
  ...Array.from({ length: 12 }, (_, n) => [startOf(n), endOf(n)]).flat(),
  refusedOf(1),
  refusedOf(2),
];
const lines = linesOf(bodies);
const names = ['sessions-000001.jsonl', 'sessions-000002.jsonl', 'sessions.jsonl'] as const;
const cuts = [0, 9, 18, lines.length] as const;
const filesOf = (all: readonly string[], at: readonly number[] = cuts) =>
  Object.fromEntries(names.map((name, index) => [name, all.slice(at[index], at[index + 1])]));
/** File and line of a position over all files. */
const placeOf = (index: number) => {
  const file = index >= cuts[2] ? 2 : index >= cuts[1] ? 1 : 0;
  return { file: names[file] ?? '', line: index - (cuts[file] ?? 0) + 1 };
};
const head = headOf(lines);

type Folder = ReturnType<typeof recordFolder>;
async function broken(folder: Folder, more = {}) {
  const facts = await folder.audit(more);
  expect(facts.verdict).toBe('findings');
  const { file, line } = facts.firstBroken ?? { file: '', line: 0 };
  return { facts, first: { file: basename(file ?? ''), line } };
}
/** Writes the lines over the three files, `moved` lines more or less in the file of `index`. */
function changed(all: readonly string[], index: number, moved: number) {
  const at = cuts.map((cut) => (cut > index ? cut + moved : cut));
  return recordFolder(filesOf(all, at), head);
}
const anyLine = fc.nat({ max: lines.length - 1 });
/** In `npm test` the first and the last line of each file, and one between. */
const places = isFull ? [...lines.keys()] : [0, 8, 9, 13, 17, 18, 25];

it('unchanged records are whole, over rotated files and by head.json', async () => {
  using folder = recordFolder(filesOf(lines), head);
  const facts = await folder.audit();
  expect(facts).toMatchObject({ verdict: 'ok', records: 26, sessions: 12, firstSeq: 1, lastSeq: 26, findings: [] });
  const ids = (is: string) => facts.checks.flatMap(({ id, verdict }) => (verdict === is ? [id] : [])).join(' ');
  expect(ids('ok')).toBe('chain beginning end pairs durations configured scope overlap tokens-records');
  expect(ids('not-checked')).toBe('tokens-logs cloud');
});

describe('a change is found and the first line of it named', () => {
  it('one byte at any place', { tags: 'property' }, async () => {
    await fc.assert(
      fc.asyncProperty(anyLine, fc.nat(), fc.integer({ min: 1, max: 255 }), async (index, place, flip) => {
        const bytes = Buffer.from(lines[index] ?? '');
        const at = place % bytes.byteLength;
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        using folder = recordFolder(filesOf(lines), head);
        const { file } = placeOf(index);
        const before = readFileSync(folder.path(file));
        const offset = lines.slice(index - placeOf(index).line + 1, index).join('').length;
        writeFileSync(
          folder.path(file),
          Buffer.concat([before.subarray(0, offset), bytes, before.subarray(offset + bytes.byteLength)]),
        );
        expect((await broken(folder)).first).toEqual(placeOf(index));
      }),
      { numRuns: runs(400) },
    );
  });

  it('any line removed', { tags: 'property' }, async () => {
    for (const index of places) {
      using folder = changed(lines.toSpliced(index, 1), index, -1);
      const { facts, first } = await broken(folder);
      // The line that is now in its place, or the place behind the end.
      const isLastOfFile = cuts.includes((index + 1) as 0) && index + 1 < lines.length;
      expect(first).toEqual(isLastOfFile ? placeOf(index + 1) : placeOf(index));
      expect(facts.findings[0]?.values).toMatchObject({ from: index + 1, to: index + 1 });
    }
  });

  it('any line twice, or a copy of any line at any place', { tags: 'property' }, async () => {
    for (const index of places) {
      using folder = changed(lines.toSpliced(index + 1, 0, lines[index] ?? ''), index, 1);
      expect((await broken(folder)).first).toEqual({ ...placeOf(index), line: placeOf(index).line + 1 });
    }
    await fc.assert(
      fc.asyncProperty(anyLine, anyLine, async (from, to) => {
        fc.pre(from !== to && from !== to - 1);
        using folder = changed(lines.toSpliced(to, 0, lines[from] ?? ''), to, 1);
        expect((await broken(folder)).first).toEqual(placeOf(to));
      }),
      { numRuns: runs(200) },
    );
  });

  it('any line that was written for the place, with a right hash and the right predecessor', {
    tags: 'property',
  }, async () => {
    for (const index of places) {
      const prev = recordOf(lines[index] ?? '').prev;
      const [forged = ''] = linesOf([refusedOf(99)], { seq: index + 1, prev });
      using folder = changed(lines.toSpliced(index, 0, forged), index, 1);
      expect((await broken(folder)).first).toEqual(placeOf(index));
      using replaced = recordFolder(filesOf(lines.with(index, forged)), head);
      const { first } = await broken(replaced);
      // Its own hash is right, so the next line is the one that does not follow it.
      expect(first).toEqual(index === lines.length - 1 ? placeOf(index) : placeOf(index + 1));
    }
  });

  it('any two lines swapped', { tags: 'property' }, async () => {
    for (const a of places) {
      for (const b of places.filter((other) => other > a)) {
        const swapped = lines.with(a, lines[b] ?? '').with(b, lines[a] ?? '');
        using folder = recordFolder(filesOf(swapped), head);
        expect((await broken(folder)).first).toEqual(placeOf(a));
      }
    }
  });

  it('the end cut at any byte of the last file', { tags: 'property' }, async () => {
    const last = lines.slice(cuts[2]).join('');
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: last.length - 1 }), async (length) => {
        using folder = recordFolder(filesOf(lines), head);
        writeFileSync(folder.path('sessions.jsonl'), last.slice(0, length));
        const whole = last.slice(0, length).split('\n').length - 1;
        const { facts, first } = await broken(folder);
        expect(facts.counts).toContainEqual({ code: 'missing-end', count: 1 });
        // With no line left, the place behind the last one of the file before.
        expect(first).toEqual(
          whole === 0 && length === 0 ? { file: names[1], line: 10 } : { file: 'sessions.jsonl', line: whole + 1 },
        );
      }),
      { numRuns: runs(150) },
    );
  });

  it('any file removed', async () => {
    const found: string[] = [];
    for (const name of names) {
      using folder = recordFolder(filesOf(lines), head);
      rmSync(folder.path(name));
      const { facts, first } = await broken(folder);
      found.push(`${first.file}:${first.line} ${facts.findings[0]?.code} ${facts.findings[0]?.values.from}`);
      expect(readdirSync(folder.dir)).toHaveLength(3);
    }
    expect(found).toEqual([
      'sessions-000002.jsonl:1 missing-records 1',
      'sessions.jsonl:1 missing-records 10',
      'sessions-000002.jsonl:10 missing-end 19',
    ]);
  });
});

describe('what the chain alone cannot show', () => {
  /** Everything from this record on is written again, with right hashes and a new head. */
  function rewritten(from: number) {
    const forged = [...bodies.slice(0, from), refusedOf(98), ...bodies.slice(from + 1)];
    const again = linesOf(forged);
    expect(again.slice(0, from)).toEqual(lines.slice(0, from));
    return recordFolder(filesOf(again), headOf(again));
  }

  it('a tail that was hashed again is found by the copy of the cloud, at the first changed record', async () => {
    for (const from of [24, 25]) {
      using folder = rewritten(from);
      expect(await folder.audit()).toMatchObject({ verdict: 'ok' });
      const cloud = folder.path('cloud.jsonl');
      writeFileSync(cloud, lines.join(''));
      const facts = await folder.audit({ cloud });
      expect(facts.findings[0]).toMatchObject({ code: 'cloud-differs', seq: from + 1, file: cloud, line: from + 1 });
      expect(facts.verdict).toBe('findings');
    }
  });

  it('a tail that was removed with its head is found by the copy of the cloud', async () => {
    const kept = lines.slice(0, 20);
    using folder = recordFolder(filesOf(kept, [0, 9, 18, 20]), headOf(kept));
    expect(await folder.audit()).toMatchObject({ verdict: 'ok' });
    const cloud = folder.path('cloud.jsonl');
    writeFileSync(cloud, lines.join(''));
    const facts = await folder.audit({ cloud });
    expect(facts.findings.map(({ code, seq }) => `${code} ${seq}`)).toEqual(
      [21, 22, 23, 24, 25, 26].map((seq) => `missing-locally ${seq}`),
    );
  });
});
