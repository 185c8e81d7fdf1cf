import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasNamespaces } from './peer.ts';

const child = fileURLToPath(new URL('./storage-disk-child.ts', import.meta.url));

describe.runIf(hasNamespaces())('transfers on a full file system', () => {
  it('say that the disk is full, accept nothing, and continue the download when there is space', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-storage-disk-'));
    try {
      const { stdout } = await promisify(execFile)('unshare', ['--mount', '--', process.execPath, child, dir], {
        env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
        timeout: 100_000,
      });
      const { full, left, fullSpool, spool, repaired, ranges } = JSON.parse(stdout);
      expect(full).toMatchObject({
        code: 'FILE_UNWRITABLE',
        message: expect.stringContaining('no space left on the disk'),
      });
      expect(left).toEqual(['filler', 'package.tar.partial']);
      expect(fullSpool).toMatchObject({
        code: 'FILE_UNWRITABLE',
        message: expect.stringContaining('no space left on the disk'),
      });
      expect(spool).toEqual([]);
      expect(repaired).toBe('done');
      // The first attempt had no partial file; the second continued it.
      expect(ranges).toEqual([null, expect.stringMatching(/^bytes=[1-9]\d*-1999999$/)]);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
