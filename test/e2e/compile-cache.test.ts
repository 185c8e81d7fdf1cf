import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runProcess } from '../process.ts';
import { gwBinary } from './gw.ts';

const uid = process.getuid?.() ?? 0;
const scratch = mkdtempSync(join(tmpdir(), 'gw-compile-cache-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs `gw help` with this folder for temporary files, and gives the names in the folder of compiled code. */
async function compiledBelow(temporary: string): Promise<readonly string[]> {
  const env = { ...process.env, TMPDIR: temporary, NODE_COMPILE_CACHE: undefined };
  const { code, stderr } = await runProcess(process.execPath, [gwBinary, 'help'], { env });
  expect([code, stderr]).toEqual([0, '']);
  return namesIn(join(temporary, `gw-compiled-${uid}`));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function temporaryFolder(name: string, mode = 0o700): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  chmodSync(folder, mode);
  return folder;
}

describe('compiled code', () => {
  it('is kept in a folder that only its owner may enter, and in no other', async () => {
    const temporary = temporaryFolder('own', 0o1777);
    expect(await compiledBelow(temporary)).toHaveLength(1);
    expect(statSync(join(temporary, `gw-compiled-${uid}`)).mode & 0o777).toBe(0o700);
    expect(readdirSync(temporary)).toEqual([`gw-compiled-${uid}`]);
  });

  it('is not kept in a folder that others may write to, or replace', async () => {
    const open = temporaryFolder('open');
    mkdirSync(join(open, `gw-compiled-${uid}`));
    chmodSync(join(open, `gw-compiled-${uid}`), 0o770);
    expect(await compiledBelow(open)).toEqual([]);
    const linked = temporaryFolder('linked');
    symlinkSync(temporaryFolder('target'), join(linked, `gw-compiled-${uid}`));
    expect(await compiledBelow(linked)).toEqual([]);
    expect(await compiledBelow(temporaryFolder('not-sticky', 0o777))).toEqual([]);
  });

  it.runIf(uid === 0)('is not kept in the folder of another user', async () => {
    const temporary = temporaryFolder('foreign', 0o1777);
    mkdirSync(join(temporary, `gw-compiled-${uid}`), { mode: 0o700 });
    chownSync(join(temporary, `gw-compiled-${uid}`), 65_534, 65_534);
    expect(await compiledBelow(temporary)).toEqual([]);
    const theirs = temporaryFolder('theirs');
    chownSync(theirs, 65_534, 65_534);
    expect(await compiledBelow(theirs)).toEqual([]);
  });

  it('is kept nowhere where no folder can be made', async () => {
    for (const temporary of ['/proc', join(scratch, 'missing')]) expect(await compiledBelow(temporary)).toEqual([]);
  });
});
