import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  assertOwnFolder,
  folderProblem,
  openExisting,
  openFresh,
  readWhole,
  replaceFile,
} from '../../src/lib/lifecycle/index.ts';
import { folderOfEach } from './folder.ts';

const OTHER_UID = 65_534;
const isRoot = process.getuid?.() === 0;

const dir = folderOfEach();
let victim: string;
beforeEach(() => {
  victim = dir.at('victim');
  writeFileSync(victim, 'precious');
});
afterEach(() => {
  // No trap may have been triggered by any attempt.
  expect(readFileSync(victim, 'utf8')).toBe('precious');
});

const at = (name: string) => dir.at(name);

describe('a file that is rewritten', () => {
  it('replaces a symbolic link without following it', async () => {
    symlinkSync(victim, at('file'));
    await replaceFile(at('file'), 'text', { durable: true });
    expect(readFileSync(at('file'), 'utf8')).toBe('text');
    expect(readdirSync(dir.path).sort()).toEqual(['file', 'victim']);
  });

  it('replaces one with a second hard link, which stays unchanged', async () => {
    linkSync(victim, at('file'));
    await replaceFile(at('file'), 'text');
    expect(readFileSync(at('file'), 'utf8')).toBe('text');
  });

  it('under a fresh name replaces no file', async () => {
    symlinkSync(victim, at('link'));
    symlinkSync(at('nowhere'), at('dangling'));
    linkSync(victim, at('second'));
    for (const name of ['link', 'dangling', 'second', 'victim']) {
      await expect(openFresh(at(name)), name).rejects.toMatchObject({ code: 'EEXIST' });
    }
    expect(readdirSync(dir.path)).not.toContain('nowhere');
  });
});

describe('a file that is appended to', () => {
  it('is a regular file with one name', async () => {
    writeFileSync(at('file'), 'a');
    await using file = await openExisting(at('file'), constants.O_WRONLY | constants.O_APPEND);
    await file.appendFile('b');
    expect(readFileSync(at('file'), 'utf8')).toBe('ab');
  });

  it('is never a symbolic link, a second hard link or a pipe, and never blocks', async () => {
    symlinkSync(victim, at('link'));
    linkSync(victim, at('second'));
    execFileSync('mkfifo', [at('pipe')]);
    mkdirSync(at('folder'));
    for (const [name, why] of [
      ['link', /symbolic link/],
      ['second', /2 hard links/],
      ['pipe', /not a regular file/],
      ['folder', /EISDIR/],
      ['nothing', /ENOENT/],
    ] as const) {
      await expect(openExisting(at(name)), name).rejects.toMatchObject({ code: expect.stringMatching(why) });
    }
    // Reading changes nothing: a backup by hard links is no reason to refuse.
    await (await openExisting(at('second'), constants.O_RDONLY)).close();
  });
});

it('a file of gw that is read completely is a regular file of a bounded size, and a pipe never blocks', async () => {
  execFileSync('mkfifo', [at('pipe')]);
  mkdirSync(at('folder'));
  expect(Buffer.from(await readWhole(victim, 8)).toString()).toBe('precious');
  await expect(readWhole(victim, 7)).rejects.toMatchObject({ code: expect.stringContaining('more than 7 bytes') });
  await expect(readWhole(at('pipe'), 9)).rejects.toMatchObject({ code: expect.stringContaining('regular file') });
  await expect(readWhole(at('folder'), 9)).rejects.toMatchObject({ code: 'EISDIR' });
  await expect(readWhole('/dev/zero', 9)).rejects.toMatchObject({ code: expect.stringContaining('regular file') });
});

describe('a state folder', () => {
  it('is accepted when it belongs to this user and others cannot write to it, and when it is missing', async () => {
    chmodSync(dir.path, 0o755);
    expect(await folderProblem(dir.path)).toBeNull();
    expect(await folderProblem(at('not-yet'))).toBeNull();
    await assertOwnFolder(dir.path);
  });

  it.each([0o777, 0o775, 0o1777])('is rejected with mode %o, and the remedy names it', async (mode) => {
    chmodSync(dir.path, mode);
    expect(await folderProblem(dir.path)).toMatchObject({ remedy: expect.stringContaining(`chmod go-w ${dir.path}`) });
    await expect(assertOwnFolder(dir.path)).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining(dir.path),
      remedy: expect.stringContaining('chmod go-w'),
    });
  });

  it.runIf(isRoot)('is rejected when it belongs to another user', async () => {
    chownSync(dir.path, OTHER_UID, OTHER_UID);
    expect(await folderProblem(dir.path)).toMatchObject({
      text: `it belongs to user ${OTHER_UID}, and gw runs as user 0`,
      remedy: expect.stringContaining(`chown -R 0 ${dir.path}`),
    });
  });

  it('is rejected when it is a file, or behind a loop of links', async () => {
    expect(await folderProblem(victim)).toMatchObject({ text: 'it is not a folder' });
    symlinkSync('loop', at('loop'));
    await expect(assertOwnFolder(at('loop'))).rejects.toMatchObject({
      message: expect.stringContaining('too many symbolic links'),
    });
  });
});
