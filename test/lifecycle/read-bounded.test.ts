import { execFileSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readBounded } from '../../src/lib/lifecycle/index.ts';
import { runs } from '../properties.ts';
import { folderOfEach } from './folder.ts';

const dir = folderOfEach();

describe('reading a file of a bounded size', () => {
  it('returns its bytes up to the bound, and its size above it', { tags: 'property' }, async () => {
    const path = dir.at('any');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), fc.integer({ min: 0, max: 64 }), async (bytes, maxBytes) => {
        await writeFile(path, bytes);
        const read = await readBounded(path, maxBytes);
        if (bytes.byteLength > maxBytes) expect(read).toEqual({ kind: 'too-large', size: bytes.byteLength });
        else expect(read.kind === 'bytes' && Buffer.from(bytes).equals(read.bytes)).toBe(true);
      }),
      { numRuns: runs(50) },
    );
  });

  it('reads a large file completely', async () => {
    const bytes = Buffer.alloc(9 * 1024 * 1024, 'robot');
    await writeFile(dir.at('large'), bytes);
    const read = await readBounded(dir.at('large'), 16 * 1024 * 1024);
    expect(read.kind === 'bytes' && bytes.equals(read.bytes)).toBe(true);
  });

  it('follows a link, and reports other file types without blocking at a pipe', async () => {
    await writeFile(dir.at('file'), 'x');
    await symlink('file', dir.at('link'));
    execFileSync('mkfifo', [dir.at('pipe')]);
    expect(await readBounded(dir.at('link'), 1)).toMatchObject({ kind: 'bytes' });
    expect(await readBounded(dir.path, 1)).toEqual({ kind: 'folder' });
    expect(await readBounded(dir.at('pipe'), 1)).toEqual({ kind: 'special' });
    expect(await readBounded('/dev/null', 1)).toEqual({ kind: 'special' });
  });

  it('rejects with the error of the operating system', async () => {
    await expect(readBounded(dir.at('none'), 1)).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(dir.at('file'), 'x');
    await expect(readBounded(dir.at('file', 'x'), 1)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
