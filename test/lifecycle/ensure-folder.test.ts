import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureFolder } from '../../src/lib/lifecycle/index.ts';

describe('a folder that is to be there', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-folder-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('is made with those above it, and left alone when it is there', async () => {
    await ensureFolder(join(dir, 'a/b/c'), 0o700);
    expect((await stat(join(dir, 'a/b/c'))).mode & 0o777).toBe(0o700);
    await ensureFolder(join(dir, 'a/b/c'), 0o755);
    expect((await stat(join(dir, 'a/b/c'))).mode & 0o777).toBe(0o700);
    await ensureFolder(`${dir}/a/`);
    expect(await readdir(dir)).toEqual(['a']);
  });

  it('may be asked for many times at once', async () => {
    for (const top of Array.from({ length: 50 }, (_, i) => `x${i}`)) {
      await Promise.all(Array.from({ length: 20 }, () => ensureFolder(join(dir, top, 'y/z'))));
      expect(await readdir(join(dir, top, 'y'))).toEqual(['z']);
    }
  });

  it('is refused where a file stands in the way', async () => {
    await writeFile(join(dir, 'file'), '');
    await expect(ensureFolder(join(dir, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(ensureFolder(join(dir, 'file/x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('is refused, and not tried for ever, where the file system takes none', async () => {
    await expect(ensureFolder('/proc/none/x')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
