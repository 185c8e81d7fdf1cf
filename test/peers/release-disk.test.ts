import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hasNamespaces } from './peer.ts';

const child = fileURLToPath(new URL('./release-disk-child.ts', import.meta.url));

/** A real file system of the kernel, mounted for this one program only. */
async function play(scenario: string) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-release-disk-'));
  try {
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['--mount', '--', process.execPath, '--no-warnings', child, dir, scenario],
      { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1' }, timeout: 100_000 },
    );
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
    return JSON.parse(stdout) as Record<string, any>;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

describe.runIf(hasNamespaces())('a release on a full disk', { concurrent: true }, () => {
  it('that is too small from the start fails before the download', async () => {
    const { status, reason, phase, names } = await play('too small');
    expect({ status, phase, names }).toEqual({ status: 'FAILED', phase: 'rejected', names: ['state.json'] });
    expect(reason).toMatch(/Too little free space in .*needed are/);
  });

  it('that becomes full while it is unpacked fails, and leaves the old version and free space', async () => {
    const { status, reason, phase, names } = await play('becomes full');
    expect({ status, phase, names }).toEqual({ status: 'FAILED', phase: 'rejected', names: ['state.json'] });
    expect(reason).toMatch(/^0\.2\.0 in \/.*\/releases cannot be written \(no space left on the disk\)\.$/);
  });

  it('that is full when the new version runs is reported, and the release is confirmed after a repair', async () => {
    const { status, phase, names, views } = await play('full later');
    expect(views[1]).toMatchObject({
      status: 'failing',
      detail: expect.stringMatching(/state.json cannot be written \(no space left on the disk\)/),
    });
    expect({ status, phase, names }).toEqual({
      status: 'SUCCEEDED',
      phase: 'confirmed',
      names: ['0.2.0', 'current', 'state.json'],
    });
  });
});
