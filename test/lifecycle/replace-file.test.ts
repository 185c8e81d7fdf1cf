import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { replaceFile } from '../../src/lib/lifecycle/index.ts';
import { folderOfEach } from './folder.ts';

const scratch = folderOfEach();

const mode = (path: string) => statSync(path).mode & 0o777;

describe('a file that is replaced', () => {
  it('is complete, with its mode, and its folder is created', async () => {
    const path = scratch.at('in/a/secret');
    await replaceFile(path, 'first\n', { mode: 0o600, folderMode: 0o700 });
    expect(readFileSync(path, 'utf8')).toBe('first\n');
    expect(mode(path)).toBe(0o600);
    expect(mode(scratch.at('in/a'))).toBe(0o700);
    chmodSync(path, 0o644);
    await replaceFile(path, 'second\n', { mode: 0o600 });
    expect(readFileSync(path, 'utf8')).toBe('second\n');
    expect(mode(path)).toBe(0o600);
    expect(readdirSync(scratch.at('in/a'))).toEqual(['secret']);
  });

  it('is unchanged, with no draft left, when it cannot be replaced', async () => {
    mkdirSync(scratch.at('in/taken'), { recursive: true });
    writeFileSync(scratch.at('in/taken/x'), 'kept');
    await expect(replaceFile(scratch.at('in/taken'), 'text')).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect(readdirSync(scratch.at('in'))).toEqual(['taken']);
    expect(readFileSync(scratch.at('in/taken/x'), 'utf8')).toBe('kept');
  });
});
