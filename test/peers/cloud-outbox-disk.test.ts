import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runProcess } from '../process.ts';
import { hasNamespaces, hasProgram } from './peer.ts';

const child = fileURLToPath(new URL('./cloud-outbox-disk-child.ts', import.meta.url));
const env = { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1' };

/** Real file systems of the kernel, mounted for this one program only. */
async function play(scenario: string) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-outbox-disk-'));
  try {
    const args = ['--net', '--mount', '--', process.execPath, child, dir, scenario];
    const { code, stdout, stderr } = await runProcess('unshare', args, { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
    return JSON.parse(stdout) as Record<string, any>;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Whether an image file can be mounted and frozen here. */
function canFreeze(): boolean {
  if (!['mkfs.ext4', 'fsfreeze', 'truncate'].every(hasProgram)) return false;
  const script =
    'd=$(mktemp -d) && truncate -s 4M $d/i && mkfs.ext4 -q $d/i && mkdir $d/m && mount -o loop $d/i $d/m; s=$?; umount $d/m; rm -rf $d; exit $s';
  return spawnSync('unshare', ['--mount', '--', 'sh', '-c', script], { env }).status === 0;
}

const unwritable = (text: RegExp) => ({ code: 'FILE_UNWRITABLE', message: expect.stringMatching(text) });

/** All that was accepted is there after a restart, in order, and nothing that was not. */
function expectKept({ after, repaired }: Record<string, { accepted: number[]; sent: number[]; view: unknown }>) {
  expect(repaired?.view).toMatchObject({ status: 'open', remedy: null });
  expect(after?.sent).toEqual(after?.accepted.toSorted((a, b) => a - b));
  expect(after?.sent).toEqual(after?.sent.map((_, index) => index + 1));
}

describe.runIf(hasNamespaces())('the outbox on a real file system', { concurrent: true }, () => {
  it('that is full refuses with the reason, keeps what it accepted, and continues when there is space', async () => {
    const seen = await play('full');
    expect(seen.before).toMatchObject({ accepted: 5, view: { status: 'open' } });
    expect(seen.broken.view).toMatchObject({
      status: 'failing',
      detail: expect.stringMatching(/cannot be written to: database or disk is full/),
      remedy: expect.stringMatching(/Free space/),
    });
    expect(seen.broken.refusals.at(-1)).toEqual(unwritable(/full/));
    expect(seen.broken.pending).toEqual([]);
    // What was accepted before is still sent.
    expect(seen.broken.readable.slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
    expectKept(seen as never);
  });

  it('that is read-only opens, refuses with the reason, and continues when it can be written to', async () => {
    const seen = await play('read-only');
    expect(seen.before).toMatchObject({ accepted: 0, view: { status: 'failing', kept: null } });
    expect(seen.broken.view.detail).toMatch(/read-only file system/);
    expect(seen.broken.refusals.at(-1)).toEqual(unwritable(/read-only file system/));
    expect(seen.after.accepted).toEqual([1]);
    expectKept(seen as never);
  });

  it.runIf(canFreeze())(
    'that does not answer never blocks gw, refuses what the disk was not given, and continues',
    async () => {
      const seen = await play('silent');
      expect(seen.broken.view).toMatchObject({
        status: 'failing',
        detail: expect.stringMatching(/the disk does not answer/),
        remedy: expect.stringMatching(/Check the disk/),
      });
      // The one that the disk was given is pending: whether it is kept is not known.
      expect(seen.broken.pending).toEqual([100]);
      expect(seen.broken.refusals).toHaveLength(10);
      for (const refusal of seen.broken.refusals) expect(refusal).toEqual(unwritable(/the disk does not answer/));
      // 5 s of timers of 50 ms, with every allowance for a busy machine.
      expect(seen.broken.ticks).toBeGreaterThan(20);
      // It was stored, and its append resolved.
      expect(seen.after.accepted).toHaveLength(7);
      expectKept(seen as never);
    },
  );

  it.runIf(canFreeze())('that does not answer from the start opens as failing, and continues', async () => {
    const seen = await play('silent from the start');
    expect(seen.before).toMatchObject({
      accepted: 0,
      view: { status: 'failing', kept: null, detail: expect.stringMatching(/the disk does not answer/) },
    });
    expect(seen.broken.refusals.at(-1)).toEqual(unwritable(/the disk does not answer/));
    expect(seen.broken.pending).toEqual([]);
    expect(seen.after.accepted).toEqual([1]);
    expectKept(seen as never);
  });
});
