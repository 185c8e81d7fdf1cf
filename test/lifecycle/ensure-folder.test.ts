import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureFolder } from '../../src/lib/lifecycle/index.ts';
import { isFull } from '../properties.ts';

describe('a required folder', () => {
  let dir = '';
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-folder-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('is created with its parents, and unchanged when it exists', async () => {
    await ensureFolder(join(dir, 'a/b/c'), 0o700);
    expect((await stat(join(dir, 'a/b/c'))).mode & 0o777).toBe(0o700);
    await ensureFolder(join(dir, 'a/b/c'), 0o755);
    expect((await stat(join(dir, 'a/b/c'))).mode & 0o777).toBe(0o700);
    await ensureFolder(`${dir}/a/`);
    expect(await readdir(dir)).toEqual(['a']);
  });

  it('may be created by concurrent calls', async () => {
    for (const top of Array.from({ length: isFull ? 50 : 8 }, (_, i) => `x${i}`)) {
      await Promise.all(Array.from({ length: 20 }, () => ensureFolder(join(dir, top, 'y/z'))));
      expect(await readdir(join(dir, top, 'y'))).toEqual(['z']);
    }
  });

  it('fails where a file is in its place', async () => {
    await writeFile(join(dir, 'file'), '');
    await expect(ensureFolder(join(dir, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(ensureFolder(join(dir, 'file/x'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('fails without endless retries where the file system accepts none', async () => {
    await expect(ensureFolder('/proc/none/x')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
