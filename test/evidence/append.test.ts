import { execFile } from 'node:child_process';
import { access, appendFile, link, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { appendRecord, type EvidenceRecord, loadEvidenceFile } from '../../src/lib/evidence/index.ts';
import { folderOfFile } from '../lifecycle/folder.ts';
import { isFull, runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';
import { recordOf } from './record-of.ts';

const good = recordOf('vendor.move.request', true, { who: 'Jörg' });

const evidenceModule = pathToFileURL(join(import.meta.dirname, '../../src/lib/evidence/index.ts')).href;

const root = folderOfFile();
let path = '';
let count = 0;
beforeEach(() => {
  count += 1;
  path = join(root, String(count), 'evidence.jsonl');
});

describe('an evidence file that is not where it seems to be', () => {
  it('is not written through a symbolic link or a second hard link, and the error names it', async () => {
    await mkdir(join(path, '..'), { recursive: true });
    const victim = join(path, '../victim');
    await writeFile(victim, '');
    await symlink(victim, path);
    const message = expect.stringContaining('it is a symbolic link');
    await expect(appendRecord(path, good)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE', message });
    await rm(path);
    await link(victim, path);
    await expect(appendRecord(path, good)).rejects.toMatchObject({ message: expect.stringContaining('2 hard links') });
    await rm(path);
    await symlink(join(path, '../nowhere'), path);
    await expect(appendRecord(path, good)).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(await readFile(victim, 'utf8')).toBe('');
    await expect(access(join(path, '../nowhere'))).rejects.toThrow();
  });
});

describe('appending a record to an evidence file', () => {
  it('creates the file and its folder, readable for all users, and reports it', async () => {
    expect(await appendRecord(path, good)).toEqual({ created: true, records: [good], index: 0 });
    expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(good)}\n`);
    expect((await stat(path)).mode & 0o444).toBe(0o444);
  });

  it('keeps the existing content byte for byte and adds one line', async () => {
    await appendRecord(path, good);
    const before = await readFile(path, 'utf8');
    const second = { ...good, value: { moved: [1.25, null] }, who: 'x' };
    expect(await appendRecord(path, second)).toEqual({ created: false, records: [good, second], index: 1 });
    expect(await readFile(path, 'utf8')).toBe(`${before}${JSON.stringify(second)}\n`);
  });

  it('starts a new line where the last one was not ended', async () => {
    await mkdir(join(root, String(count)));
    await writeFile(path, JSON.stringify(good));
    expect((await appendRecord(path, { ...good, who: 'x' })).records).toHaveLength(2);
    expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(3);
  });

  it('of several concurrent programs and calls loses no line and tears none', { tags: 'property' }, async () => {
    const program = `
      const { appendRecord } = await import(process.argv[1]);
      for (let n = 0; n < 5; n += 1) await appendRecord(process.argv[2], { ...JSON.parse(process.argv[3]), who: process.argv[4] + n });
    `;
    const args = ['--input-type=module', '-e', program, evidenceModule, path, JSON.stringify(good)];
    const others = isFull ? ['a', 'b', 'c'] : ['a'];
    const programs = others.map((who) => promisify(execFile)(process.execPath, [...args, who]));
    const calls = Array.from({ length: 15 }, (_, index) => appendRecord(path, { ...good, who: `call ${index}` }));
    const appended = await Promise.all(calls);
    await Promise.all(programs);
    const records = await loadEvidenceFile(path);
    expect(records).toHaveLength(15 + 5 * others.length);
    expect(new Set(records.map(({ who }) => who)).size).toBe(records.length);
    for (const [index, result] of appended.entries()) expect(result.records[result.index]?.who).toBe(`call ${index}`);
  });

  it('is read completely while another program is writing a line', async () => {
    await mkdir(join(root, String(count)));
    const line = JSON.stringify({ ...good, who: 'Jörg' });
    const bytes = Buffer.from(`${line}\n${line}\n`);
    // Also in the middle of a character.
    for (const cut of [line.length + 20, bytes.lastIndexOf('ö') + 1]) {
      await writeFile(path, bytes.subarray(0, cut));
      const reading = loadEvidenceFile(path);
      await appendFile(path, bytes.subarray(cut));
      expect(await reading).toHaveLength(2);
    }
  });

  it('of a broken file writes nothing', async () => {
    await mkdir(join(root, String(count)));
    const line = JSON.stringify(good);
    for (const broken of [`${line}\n{`, `${line}\n${line.slice(0, -5)}`, 'no records', '\u0000', '{"fact":"x"}\n']) {
      await writeFile(path, broken);
      await expect(appendRecord(path, good)).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
      expect(await readFile(path, 'utf8')).toBe(broken);
    }
  });

  it('of a full file writes nothing: more would make it unreadable', async () => {
    await appendRecord(path, good);
    await appendFile(path, ' '.repeat(4 * 1024 * 1024 - (await stat(path)).size));
    await expect(appendRecord(path, good)).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
    expect((await stat(path)).size).toBe(4 * 1024 * 1024);
    expect(await loadEvidenceFile(path)).toEqual([good]);
  });

  it('without write permission is an error that names the file', async () => {
    await mkdir(path, { recursive: true });
    await expect(appendRecord(path, good)).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
    await writeFile(join(root, String(count), 'file'), '');
    const below = join(root, String(count), 'file', 'evidence.jsonl');
    await expect(appendRecord(below, good)).rejects.toThrow('file/evidence.jsonl');
  });

  it('on a disk with space for half a line removes that half', async () => {
    const maxRecords = 1024;
    await appendRecord(path, { ...good, how: 'x'.repeat(760) });
    const before = await readFile(path, 'utf8');
    expect(before.length).toBeLessThan(maxRecords - 20);
    expect(before.length + JSON.stringify(good).length).toBeGreaterThan(maxRecords);
    const program = `
      const { appendRecord } = await import(process.argv[1]);
      await appendRecord(process.argv[2], JSON.parse(process.argv[3])).catch(({ code, message }) => console.log(code, message));
    `;
    const script = 'ulimit -f 1; exec "$0" --input-type=module -e "$@"';
    const args = ['-c', script, process.execPath, program, evidenceModule, path, JSON.stringify(good)];
    const { stdout } = await promisify(execFile)('bash', args);
    expect(stdout).toContain(`FILE_UNWRITABLE The evidence file ${path} cannot be written`);
    expect(await readFile(path, 'utf8')).toBe(before);
    expect((await appendRecord(path, good)).records).toHaveLength(2);
  });

  it('of a device instead of a file is refused', async () => {
    await expect(appendRecord('/dev/full', good)).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
  });
});

describe('an invalid record', () => {
  const deep = JSON.parse(`${'['.repeat(20)}${']'.repeat(20)}`) as EvidenceRecord['value'];
  it.each([
    ['no fact', { fact: ' ' }],
    ['no person', { who: '' }],
    ['a line break', { how: 'first\nsecond' }],
    ['an escape sequence', { who: '\u001b[31mred' }],
    ['no time', { when: 'yesterday' }],
    ['no serial', { serial: '' }],
    ['a number that JSON does not have', { value: Number.POSITIVE_INFINITY }],
    ['a deep value', { value: deep }],
    ['a huge value', { value: 'x'.repeat(20_000) }],
    ['a key of another kind', { extra: 1 }],
    ['a value that would not be parsed back', { value: JSON.parse('{"__proto__":1}') }],
    ['such a value in a list', { value: JSON.parse('[{"__proto__":{}}]') }],
  ])('with %s is refused, and there is no file', async (_, change) => {
    await expect(appendRecord(path, { ...good, ...change } as EvidenceRecord)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(access(path)).rejects.toThrow();
  });

  it('is written with a fixed order of keys', async () => {
    const { when, ...rest } = good;
    const { records } = await appendRecord(path, { when, ...rest });
    expect(records).toEqual([good]);
    expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(good)}\n`);
  });

  it('of any kind is refused by its code, or written unchanged', { tags: 'property' }, async () => {
    const record = fc.record({
      fact: fc.string({ minLength: 1 }),
      value: fc.jsonValue({ maxDepth: 2 }),
      serial: fc.constant('SN0001'),
      software: fc.constant('1'),
      how: fc.string({ unit: anyCharacter, minLength: 1 }),
      who: fc.string({ minLength: 1 }),
      when: fc.constant('2026-01-31T12:00:00Z'),
    });
    await fc.assert(
      fc.asyncProperty(record, async (any) => {
        await rm(path, { force: true });
        try {
          const { records } = await appendRecord(path, any as EvidenceRecord);
          expect(records).toEqual([JSON.parse(JSON.stringify(any))]);
        } catch (error) {
          expect(error).toMatchObject({ code: 'USAGE' });
          await expect(access(path)).rejects.toThrow();
        }
      }),
      { numRuns: runs(50) },
    );
  });
});
