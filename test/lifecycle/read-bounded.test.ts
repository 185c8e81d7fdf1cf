import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBounded } from '../../src/lib/lifecycle/index.ts';
import { runs } from '../properties.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gw-bounded-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('reading a file of a bounded size', () => {
  it('returns its bytes up to the bound, and its size above it', async () => {
    const path = join(dir, 'any');
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
    await writeFile(join(dir, 'large'), bytes);
    const read = await readBounded(join(dir, 'large'), 16 * 1024 * 1024);
    expect(read.kind === 'bytes' && bytes.equals(read.bytes)).toBe(true);
  });

  it('follows a link, and reports other file types without blocking at a pipe', async () => {
    await writeFile(join(dir, 'file'), 'x');
    await symlink('file', join(dir, 'link'));
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    expect(await readBounded(join(dir, 'link'), 1)).toMatchObject({ kind: 'bytes' });
    expect(await readBounded(dir, 1)).toEqual({ kind: 'folder' });
    expect(await readBounded(join(dir, 'pipe'), 1)).toEqual({ kind: 'special' });
    expect(await readBounded('/dev/null', 1)).toEqual({ kind: 'special' });
  });

  it('rejects with the error of the operating system', async () => {
    await expect(readBounded(join(dir, 'none'), 1)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(readBounded(join(dir, 'file', 'x'), 1)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});
