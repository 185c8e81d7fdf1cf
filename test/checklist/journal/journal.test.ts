import { spawnSync } from 'node:child_process';
import { appendFile, chmod, copyFile, link, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { beginJournal, findJournal, readJournal, resumeJournal } from '../../../src/lib/checklist/index.ts';
import { parseJournal } from '../../../src/lib/checklist/journal/journal-lines.ts';
import { forAll, forAllOf, has, ownFolder } from '../../toolkit/kit.ts';

const child = fileURLToPath(new URL('./journal-child.ts', import.meta.url));
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]);
let dir = '';

beforeEach(async () => {
  dir = ownFolder();
  await writeFile(join(dir, 'photo.jpg'), jpeg);
});

/** Runs the child; returns the ids that it printed. */
function work(dieAt: string, ...more: string[]): { shown: string[]; killed: boolean } {
  const { stdout, signal, status, stderr } = spawnSync(process.execPath, [child, dir, dieAt, ...more], {
    encoding: 'utf8',
  });
  if (signal === null && status !== 0) throw new Error(stderr);
  return { shown: stdout.split('\n').filter(Boolean), killed: signal === 'SIGKILL' };
}

let complete: { readonly name: string; readonly bytes: Buffer } | undefined;
/** The journal of a run to the end. */
async function completeRun() {
  if (complete !== undefined) return complete;
  work('');
  const [name = ''] = (await readdir(dir)).filter((file) => file.endsWith('.jsonl'));
  complete = { name, bytes: await readFile(join(dir, name)) };
  return complete;
}
const all = Array.from({ length: 12 }, (_, n) => `q${n}`);
const lines = async (name: string) => (await readFile(join(dir, name), 'utf8')).split('\n').filter(Boolean);

describe('the journal of a run', () => {
  test('no confirmed answer is lost when the program is killed, and none is requested twice', async () => {
    expect(work('q4')).toEqual({ shown: all.slice(0, 5), killed: true });
    const found = await findJournal(dir, 'own', ['SN1']);
    const [completed] = found?.state.completed ?? [];
    expect([...(completed?.keys() ?? [])]).toEqual(all.slice(0, 5));
    expect(completed?.get('q2')?.result.answer).toMatchObject({
      answer: 'yes',
      initials: 'KM',
      remark: 'remark of q2',
    });
    expect(found?.state.attachments).toEqual([expect.objectContaining({ name: '001-q3.jpg', bytes: jpeg.length })]);
    // Killed again at a later step, then run to the end.
    expect(work('q7', 'resume')).toEqual({ shown: ['q5', 'q6', 'q7'], killed: true });
    expect(work('', 'resume')).toEqual({ shown: all.slice(8), killed: false });
    expect(await lines('asked')).toEqual(all);
    const [journal = ''] = (await readdir(dir)).filter((name) => name.endsWith('.jsonl'));
    const state = await readJournal(join(dir, journal));
    expect([...(state.completed[0]?.values() ?? [])].map(({ result }) => result.verdict)).toEqual(all.map(() => 'ok'));
    expect(await readFile(join(dir, `${journal.slice(0, -6)}.files`, '001-q3.jpg'))).toEqual(jpeg);
    expect((await readdir(dir)).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  test('truncated at any byte, it contains everything up to its last complete line', { tags: 'property' }, async () => {
    const { name, bytes } = await completeRun();
    const head = bytes.indexOf(0x0a) + 1;
    forAll(fc.integer({ min: head, max: bytes.length }), (cut) => {
      const state = parseJournal(bytes.subarray(0, cut), name);
      const whole = bytes.subarray(0, cut).toString().split('\n').slice(1, -1);
      const steps = whole.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'step');
      expect(state.completed[0]?.size).toBe(steps.length);
    });
  });

  test('has the newest result of a repeated step, and that as its last one', async () => {
    const { name, bytes } = await completeRun();
    const text = bytes.toString();
    const first = text.split('\n').find((line) => line.includes('"id":"q0"')) ?? '';
    const again = first.replace('"verdict":"ok"', '"verdict":"wrong"');
    const { completed } = parseJournal(Buffer.from(`${text}${again}\n`), name);
    expect([...(completed[0]?.keys() ?? [])]).toEqual([...all.slice(1), 'q0']);
    expect(completed[0]?.get('q0')?.result.verdict).toBe('wrong');
  });

  test('any other bytes yield a journal or JOURNAL_BROKEN, never another error', { tags: 'property' }, async () => {
    const { name, bytes } = await completeRun();
    const broken = (text: Uint8Array) => {
      try {
        parseJournal(text, name);
      } catch (error) {
        expect(error).toMatchObject({ code: 'JOURNAL_BROKEN' });
      }
    };
    forAllOf(300)(fc.nat(bytes.length - 1), fc.nat(255), (at, value) => {
      const changed = Buffer.from(bytes);
      changed[at] = value;
      broken(changed);
    });
    forAll(fc.uint8Array(), broken);
  });

  const begun = (serials: string[]) => ({
    id: crypto.randomUUID(),
    at: new Date().toISOString(),
    gw: '0',
    checklist: { name: 'own', sha256: 'x' },
    robots: serials.map((serial) => ({ site: 'Lobby', serial })),
  });

  test('an incomplete line is removed before the next is written', async () => {
    const first = await beginJournal(dir, begun(['SN1']));
    await first[Symbol.asyncDispose]();
    await appendFile(first.path, '{"kind":"resumed","at":"2026-');
    await using again = await resumeJournal(first.path);
    await again.write({ kind: 'resumed', at: '2026-01-02T03:04:05.000Z', gw: '0' });
    expect((await readJournal(first.path)).resumedAt).toEqual(['2026-01-02T03:04:05.000Z']);
  });

  test('is found by its list and its robots, and not by others', async () => {
    await using one = await beginJournal(dir, begun(['SN1']));
    await using two = await beginJournal(dir, begun(['SN1', 'SN2']));
    await writeFile(join(dir, 'own-20260102T030405Z-aaaaaaaa.jsonl'), '{"kind":"beg');
    expect((await findJournal(dir, 'own', ['SN1']))?.path).toBe(one.path);
    expect((await findJournal(dir, 'own', ['SN1', 'SN2']))?.path).toBe(two.path);
    expect(await findJournal(dir, 'own', ['SN2'])).toBeUndefined();
    expect(await findJournal(dir, 'other', ['SN1'])).toBeUndefined();
    expect(await findJournal(join(dir, 'none'), 'own', ['SN1'])).toBeUndefined();
  });

  test('one that cannot be read is reported so, and is not locked', async () => {
    const one = await beginJournal(dir, begun(['SN1']));
    await one[Symbol.asyncDispose]();
    await expect(findJournal(one.path, 'own', ['SN1'])).rejects.toMatchObject({
      code: 'JOURNAL_BROKEN',
      message: has('a part of the path is no folder'),
    });
    await expect(readJournal(join(dir, 'none.jsonl'))).rejects.toMatchObject({
      code: 'JOURNAL_BROKEN',
      message: has('no such file or folder'),
    });
    await writeFile(one.path, 'none\n');
    await expect(resumeJournal(one.path)).rejects.toMatchObject({ code: 'JOURNAL_BROKEN' });
    expect((await readdir(dir)).filter((name) => name.endsWith('.lock'))).toEqual([]);
  });

  test('behind a link, a second name or a pipe does not count, does not block, and is not written through', async () => {
    const one = await beginJournal(dir, begun(['SN1']));
    await one[Symbol.asyncDispose]();
    const victim = join(dir, 'victim');
    await copyFile(one.path, victim);
    const before = await readFile(victim, 'utf8');
    const name = join(dir, 'own-20990102T030405Z-aaaaaaaa.jsonl');
    for (const [trap, code] of [
      [() => symlink(victim, name), /symbolic link/],
      [() => link(victim, name), /2 hard links/],
      [() => spawnSync('mkfifo', [name]), /not a regular file/],
    ] as const) {
      await trap();
      await expect(resumeJournal(name).then((journal) => journal[Symbol.asyncDispose]())).rejects.toMatchObject({
        message: has(code),
      });
      await rm(name);
    }
    expect(await readFile(victim, 'utf8')).toBe(before);
  });

  test('is not created in a folder that others may write to', async () => {
    await chmod(dir, 0o777);
    await expect(beginJournal(dir, begun(['SN1']))).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      remedy: has('chmod go-w'),
    });
  });

  test('two programs cannot work on the same run', async () => {
    const one = await beginJournal(dir, begun(['SN1']));
    await expect(resumeJournal(one.path)).rejects.toMatchObject({ code: 'RUN_OPEN', exitCode: 4 });
    await one[Symbol.asyncDispose]();
    // A lock of a program that has ended does not block.
    await writeFile(`${one.path}.lock`, '999999999');
    {
      await using again = await resumeJournal(one.path);
      expect(again.path).toBe(one.path);
    }
    // Nor does a lock of an earlier process with the same id, as in a container that was restarted.
    await writeFile(`${one.path}.lock`, `${process.pid} 1`);
    await using again = await resumeJournal(one.path);
    expect(again.path).toBe(one.path);
  });
});

describe('photos', () => {
  test.each([
    ['a file that is not there', 'none.jpg', 'there is no such file'],
    ['a folder', '.', 'it is not a regular file'],
    ['text', 'asked.jpg', 'not a supported image'],
  ])('%s is rejected', async (_name, file, why) => {
    await writeFile(join(dir, 'asked.jpg'), 'no picture');
    await using journal = await beginJournal(dir, {
      id: crypto.randomUUID(),
      at: new Date().toISOString(),
      gw: '0',
      checklist: { name: 'own', sha256: 'x' },
      robots: [{ site: 'Lobby', serial: 'SN1' }],
    });
    await expect(journal.keepPhoto('a', join(dir, file))).rejects.toMatchObject({
      code: 'ATTACHMENT_INVALID',
      message: has(why),
    });
    expect((await readJournal(journal.path)).attachments).toEqual([]);
  });
});
