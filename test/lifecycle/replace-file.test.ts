import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/lib/lifecycle/index.ts';

const scratch = mkdtempSync(join(tmpdir(), 'gw-replace-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(join(scratch, 'in'), { recursive: true, force: true });
});

const mode = (path: string) => statSync(path).mode & 0o777;

describe('a file that is replaced', () => {
  it('is complete, with its mode, and its folder is created', async () => {
    const path = join(scratch, 'in/a/secret');
    await replaceFile(path, 'first\n', { mode: 0o600, folderMode: 0o700 });
    expect(readFileSync(path, 'utf8')).toBe('first\n');
    expect(mode(path)).toBe(0o600);
    expect(mode(join(scratch, 'in/a'))).toBe(0o700);
    chmodSync(path, 0o644);
    await replaceFile(path, 'second\n', { mode: 0o600 });
    expect(readFileSync(path, 'utf8')).toBe('second\n');
    expect(mode(path)).toBe(0o600);
    expect(readdirSync(join(scratch, 'in/a'))).toEqual(['secret']);
  });

  it('is unchanged, with no draft left, when it cannot be replaced', async () => {
    mkdirSync(join(scratch, 'in/taken'), { recursive: true });
    writeFileSync(join(scratch, 'in/taken/x'), 'kept');
    await expect(replaceFile(join(scratch, 'in/taken'), 'text')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(readdirSync(join(scratch, 'in'))).toEqual(['taken']);
    expect(readFileSync(join(scratch, 'in/taken/x'), 'utf8')).toBe('kept');
  });
});
