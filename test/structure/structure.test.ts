import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const home = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-structure-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs the structure rules over a small tree of these files; returns the broken rules by path. */
function check(name: string, files: Record<string, string>) {
  const tree = join(scratch, name);
  mkdirSync(tree, { recursive: true });
  cpSync(join(home, 'tsconfig.json'), join(tree, 'tsconfig.json'));
  cpSync(join(home, 'package.json'), join(tree, 'package.json'));
  symlinkSync(join(home, 'node_modules'), join(tree, 'node_modules'));
  mkdirSync(join(tree, 'src'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  const run = spawnSync(process.execPath, [join(home, 'scripts/check-structure.js'), tree], { encoding: 'utf8' });
  const broken: Record<string, string[]> = {};
  for (const [, rule = '', from = ''] of run.stderr.matchAll(/^error ([^:]+): (\S+) -> /gm)) {
    broken[from] = [...(broken[from] ?? []), rule].sort();
  }
  return { status: run.status, broken };
}

const leaf = { 'src/lib/angle/index.ts': 'export const a = 1;\n', 'src/lib/angle/convert.ts': 'export const c = 1;\n' };
const guarded = {
  'src/lib/chassis/moves.ts': 'export const m = 1;\n',
  'src/lib/chassis/map-writes.ts': 'export const w = 1;\n',
};
const toolkit = {
  'src/lib/toolkit/catalogue.ts': 'export const a = 1;\n',
  'src/lib/toolkit/map/show.ts': 'export const a = 1;\n',
};

/** Breach | the file with it | what it imports as `a` | the rule that reports it. */
const breaches = [
  ['sim imports the angle module', 'src/lib/sim/x.ts', "import { a } from '../angle/index.ts';", 'module-sim'],
  [
    'a module other than the codec converts angles',
    'src/lib/motion/angles.ts',
    "import { c as a } from '../angle/convert.ts';",
    'extra-entry-angle-convert-ts',
  ],
  ['a leaf imports a module', 'src/lib/evidence/x.ts', "import { a } from '../angle/index.ts';", 'module-evidence'],
  [
    'a module imports the command framework',
    'src/lib/site/x.ts',
    "import { Command as a } from '@oclif/core';",
    'lib-knows-no-cli',
  ],
  [
    'a module starts child processes',
    'src/lib/net/programs.ts',
    "import { spawn as a } from 'node:child_process';",
    'child-processes',
  ],
  [
    'a module other than fleet uses UDP',
    'src/lib/net/udp.ts',
    "import { createSocket as a } from 'node:dgram';",
    'udp-sockets',
  ],
  [
    'a command imports a file of a module past its entry point',
    'src/commands/chassis/x.ts',
    "import { a } from '../../lib/net/a.ts';",
    'entry-point-of-commands',
  ],
  [
    'a command imports a file of the toolkit that belongs to no topic',
    'src/cli/x.ts',
    "import { a } from '../lib/toolkit/catalogue.ts';",
    'entry-point-of-commands',
  ],
  [
    'a module that is not in the table',
    'src/lib/utils/x.ts',
    "import { a } from '../angle/index.ts';",
    'no-unlisted-module',
  ],
  [
    'a module other than motion imports the calls that move the robot',
    'src/lib/operator/moves.ts',
    "import { m as a } from '../chassis/moves.ts';",
    'extra-entry-chassis-moves-ts',
  ],
  [
    'a module other than maps imports the writes that were never measured',
    'src/lib/motion/writes.ts',
    "import { w as a } from '../chassis/map-writes.ts';",
    'extra-entry-chassis-map-writes-ts',
  ],
] as const;
const circle = {
  'src/lib/net/a.ts': "import { b } from './b.ts';\nexport const a = () => b;\n",
  'src/lib/net/b.ts': "import { a } from './a.ts';\nexport const b = () => a;\n",
};

/** Allowed: none of these files is reported. */
const sound = {
  ...leaf,
  ...guarded,
  ...toolkit,
  'src/commands/map/show.ts': "import { a } from '../../lib/toolkit/map/show.ts';\nexport const x = a;\n",
  'src/cli/types.ts': "import type { a } from '../lib/toolkit/catalogue.ts';\nexport type A = typeof a;\n",
  'src/lib/chassis/codec.ts': "import { c } from '../angle/convert.ts';\nexport const d = c;\n",
  'src/lib/maps/x.ts': "import { w } from '../chassis/map-writes.ts';\nexport const x = w;\n",
};

describe('the structure rules', () => {
  // One tree contains every breach, each in a file of its own, beside sound files.
  describe('catch in one run', () => {
    let found: ReturnType<typeof check>;
    beforeAll(() => {
      const files = breaches.map(([, path, line]) => [path, `${line}\nexport const x = a;\n`] as const);
      found = check('broken', { ...sound, ...circle, ...Object.fromEntries(files) });
    });

    it.each(breaches)('%s', (_name, path, _line, rule) => {
      expect(found.status).toBe(1);
      expect(found.broken[path]).toEqual([rule]);
    });

    it('a cycle, and nothing else', () => {
      const inCircle = Object.keys(circle).flatMap((path) => found.broken[path] ?? []);
      expect(inCircle).toContain('no-circular');
      const planted: string[] = [...breaches.map(([, path]) => path), ...Object.keys(circle)];
      expect(Object.keys(found.broken).filter((path) => !planted.includes(path))).toEqual([]);
    });
  });

  it('pass a tree without breaches', { tags: 'large' }, () => {
    expect(check('sound', sound)).toEqual({ status: 0, broken: {} });
  });

  it('are not green over an empty tree', { tags: 'large' }, () => {
    expect(check('empty', {}).status).toBe(1);
  });
});
