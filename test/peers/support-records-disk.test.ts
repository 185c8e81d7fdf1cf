import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasNamespaces } from './peer.ts';

const child = fileURLToPath(new URL('./support-records-disk-child.ts', import.meta.url));

describe.runIf(hasNamespaces())('session records on a real file system', () => {
  it('that is full or read-only refuse, keep what was acknowledged, and go on with a whole chain', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'gw-records-disk-'));
    try {
      const { stdout } = await promisify(execFile)('unshare', ['--mount', '--', process.execPath, child, dir], {
        env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
        timeout: 100_000,
      });
      const seen = JSON.parse(stdout);
      expect(seen.refused).toContain('FILE_UNWRITABLE no space left on the disk');
      expect(seen.refused.at(-1)).toBe('FILE_UNWRITABLE the file system is read-only');
      expect(seen.whenFull.last).toBe(seen.whenFull.acknowledged);
      expect(seen.afterRestart).toBe(seen.whenFull.last);
      expect(seen).toMatchObject({ isRecovered: true, isWhole: true, left: [] });
      // The acknowledged ones, and the end at last.
      expect(seen.count).toBe(seen.acknowledged.length + 1);
      expect(seen.head.seq).toBe(seen.count);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
