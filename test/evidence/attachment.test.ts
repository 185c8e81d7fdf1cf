import { writeFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { attachmentFolder, checkAttachment, writeAttachment } from '../../src/lib/evidence/index.ts';
import { evidenceRecordSchema } from '../../src/lib/evidence/record.ts';
import { folderOfEach } from '../lifecycle/folder.ts';
import { recordOf } from './record-of.ts';

const folder = folderOfEach();
let dir: string;
let path: string;
beforeEach(() => {
  dir = folder.path;
  path = join(dir, 'evidence.jsonl');
});

describe('what a trial leaves beside the evidence file', () => {
  it('is found again as it was recorded, and a change, a loss and a folder in its place are reported', async () => {
    const attachment = await writeAttachment(path, 't.json', '{"poses":[]}\n');
    expect(attachmentFolder(path)).toBe(join(dir, 'evidence.trials'));
    expect(await checkAttachment(path, attachment)).toBe('as-recorded');
    const file = join(dir, 'evidence.trials', 't.json');
    await writeFile(file, '{"poses":[1]}\n');
    expect(await checkAttachment(path, attachment)).toBe('changed');
    await rm(file);
    expect(await checkAttachment(path, attachment)).toBe('missing');
    expect(await checkAttachment(path, { ...attachment, file: '.' })).toBe('unreadable');
  });

  it('replaces nothing and stays in its folder', async () => {
    await writeAttachment(path, 't.json', 'a');
    await expect(writeAttachment(path, 't.json', 'b')).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    for (const name of ['../t.json', 'a/b.json', '..']) {
      await expect(writeAttachment(path, name, 'b'), name).rejects.toThrow();
    }
    expect(await readdir(dir)).toEqual(['evidence.trials']);
  });

  it('is refused beside 1,000 reports, seals not counted; the remedy says what moving them costs', async () => {
    const trials = join(dir, 'evidence.trials');
    await mkdir(trials);
    writeFileSync(join(trials, '1.json.sealed'), '');
    for (let n = 1; n < 1_000; n += 1) writeFileSync(join(trials, `${n}.json`), '');
    await writeAttachment(path, 'last.json', 'a');
    await expect(writeAttachment(path, 't.json', 'a')).rejects.toMatchObject({
      message: expect.stringContaining('1000 reports'),
      remedy: expect.stringMatching(/seal .* is moved away no longer counts: its trial must be run again/),
    });
  });

  it('is named in a record by a plain name and its hash only', () => {
    const record = recordOf('vendor.move.cancel');
    const sha256 = 'a'.repeat(64);
    const isOne = (attachment: unknown) => evidenceRecordSchema.safeParse({ ...record, attachment }).success;
    expect(isOne({ file: 't-1.json', sha256 })).toBe(true);
    for (const file of ['../t.json', '/etc/passwd', '.t', 'a/b', '', 'a\nb'])
      expect(isOne({ file, sha256 })).toBe(false);
    expect(isOne({ file: 't.json', sha256: 'A'.repeat(64) })).toBe(false);
    expect(isOne({ file: 't.json' })).toBe(false);
  });
});
