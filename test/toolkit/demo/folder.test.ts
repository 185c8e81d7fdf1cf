import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { type DemoOptions, runDemo } from '../../../src/lib/toolkit/demo/demo.ts';

let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gw-demo-folder-'));
  dir = join(root, 'demo');
  mkdirSync(join(dir, 'state'), { recursive: true });
  writeFileSync(join(root, 'victim'), 'precious');
  writeFileSync(join(dir, 'state/kept'), 'kept');
  // Files of an earlier demo, so that the folder is recognised as one.
  symlinkSync(join(root, 'victim'), join(dir, '.gw-demo'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

/** It is interrupted at the first program that it starts, which does not exist. */
const run = () =>
  runDemo({
    dir,
    gw: [join(root, 'no-such-program')],
    environment: {},
    checklistsDir: root,
    searchPath: undefined,
    gwVersion: '0',
    clock: systemClock,
    switchFault: async () => {},
    onResult: () => {},
    onProgress: () => {},
    onWaiting: () => {},
    freePort: async () => 5173,
    signal: AbortSignal.abort(new Error('enough')),
  } as unknown as DemoOptions);

describe('the folder of a demo', () => {
  it.runIf(process.getuid?.() === 0)('of another user is left unchanged', async () => {
    chownSync(dir, 65_534, 65_534);
    await expect(run()).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      message: expect.stringContaining('belongs to user 65534'),
    });
    expect(readdirSync(dir).sort()).toEqual(['.gw-demo', 'state']);
    expect(readFileSync(join(dir, 'state/kept'), 'utf8')).toBe('kept');
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('precious');
  });

  it('that others may write to is left unchanged', async () => {
    chmodSync(dir, 0o777);
    await expect(run()).rejects.toMatchObject({ remedy: expect.stringContaining('chmod go-w') });
    expect(readFileSync(join(dir, 'state/kept'), 'utf8')).toBe('kept');
  });

  it('of this user is used, and nothing is written through a link in it', async () => {
    const { demo, problem } = await run();
    expect(problem?.message).toBe('enough');
    expect(demo).toMatchObject({ ok: false, end: 'interrupted', checklist: null, record: null, lastRecord: null });
    expect(readFileSync(join(root, 'victim'), 'utf8')).toBe('precious');
    expect(readFileSync(join(dir, '.gw-demo'), 'utf8')).toContain('made by `gw demo`');
  });
});
