import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

const scratch = mkdtempSync(join(tmpdir(), 'gw-programs-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const script = new URL('../../scripts/package/programs.js', import.meta.url).href;
const { programsIn } = (await import(script)) as {
  programsIn(folder: string): { path: string; processor: string }[];
};

/** The first 20 bytes of an ELF file: magic number, and e_machine at 18. */
const elf = (machine: number) => {
  const head = Buffer.alloc(64);
  head.write('\x7fELF', 'latin1');
  head.writeUInt16LE(machine, 18);
  return head;
};

it('a compiled file is found in any folder, whatever its name, with its processor', () => {
  mkdirSync(join(scratch, 'a/b'), { recursive: true });
  writeFileSync(join(scratch, 'a/b/node'), elf(183));
  writeFileSync(join(scratch, 'a/x.node'), elf(62));
  writeFileSync(join(scratch, 'old'), elf(3));
  writeFileSync(join(scratch, 'script.js'), '#!/usr/bin/env node\n');
  writeFileSync(join(scratch, 'empty'), '');
  expect(Object.fromEntries(programsIn(scratch).map(({ path, processor }) => [path, processor]))).toEqual({
    [join(scratch, 'a/b/node')]: 'arm64',
    [join(scratch, 'a/x.node')]: 'x64',
    [join(scratch, 'old')]: 'machine 3',
  });
});
