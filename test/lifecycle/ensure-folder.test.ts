import { readdir, stat, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ensureFolder } from '../../src/lib/lifecycle/index.ts';
import { isFull } from '../properties.ts';
import { folderOfEach } from './folder.ts';

describe('a required folder', () => {
  const dir = folderOfEach();

  it('is created with its parents, and unchanged when it exists', async () => {
    await ensureFolder(dir.at('a/b/c'), 0o700);
    expect((await stat(dir.at('a/b/c'))).mode & 0o777).toBe(0o700);
    await ensureFolder(dir.at('a/b/c'), 0o755);
    expect((await stat(dir.at('a/b/c'))).mode & 0o777).toBe(0o700);
    await ensureFolder(`${dir.path}/a/`);
    expect(await readdir(dir.path)).toEqual(['a']);
  });

  it('may be created by concurrent calls', { tags: 'property' }, async () => {
    for (const top of Array.from({ length: isFull ? 50 : 8 }, (_, i) => `x${i}`)) {
      await Promise.all(Array.from({ length: 20 }, () => ensureFolder(dir.at(top, 'y/z'))));
      expect(await readdir(dir.at(top, 'y'))).toEqual(['z']);
    }
  });

  it('fails where a file is in its place', async () => {
    await writeFile(dir.at('file'), '');
    await expect(ensureFolder(dir.at('file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(ensureFolder(dir.at('file/x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('fails without endless retries where the file system accepts none', async () => {
    await expect(ensureFolder('/proc/none/x')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
