import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const home = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-structure-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** Runs the structure rules over a small tree made of these files. */
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
  return { status: run.status, broken: [...run.stderr.matchAll(/^error ([^:]+):/gm)].map((match) => match[1]).sort() };
}

const leaf = { 'src/lib/angle/index.ts': 'export const a = 1;\n', 'src/lib/angle/convert.ts': 'export const c = 1;\n' };

describe('the structure rules', () => {
  it('pass a tree that keeps them', () => {
    const tree = {
      ...leaf,
      'src/lib/chassis/codec.ts': "import { c } from '../angle/convert.ts';\nexport const d = c;\n",
    };
    expect(check('sound', tree)).toEqual({ status: 0, broken: [] });
  });

  it.each([
    ['sim imports the angle room', 'src/lib/sim/x.ts', "import { a } from '../angle/index.ts';", ['room-sim']],
    [
      'a room beside the codec converts',
      'src/lib/motion/x.ts',
      "import { c as a } from '../angle/convert.ts';",
      ['side-door-angle-convert-ts'],
    ],
    ['a leaf imports a room', 'src/lib/evidence/x.ts', "import { a } from '../angle/index.ts';", ['room-evidence']],
    [
      'a room imports the command framework',
      'src/lib/site/x.ts',
      "import { Command as a } from '@oclif/core';",
      ['lib-knows-no-cli'],
    ],
    [
      'a room starts programs',
      'src/lib/net/x.ts',
      "import { spawn as a } from 'node:child_process';",
      ['child-processes'],
    ],
    [
      'a room beside the fleet speaks UDP',
      'src/lib/net/x.ts',
      "import { createSocket as a } from 'node:dgram';",
      ['udp-sockets'],
    ],
    [
      'a room that the table does not know',
      'src/lib/utils/x.ts',
      "import { a } from '../angle/index.ts';",
      ['no-orphan-room'],
    ],
  ])('catch: %s', (name, path, line, rules) => {
    const result = check(name.replaceAll(' ', '-'), { ...leaf, [path]: `${line}\nexport const x = a;\n` });
    expect(result.status).toBe(1);
    expect(result.broken).toEqual(rules);
  });

  it('catch: another room than motion takes the calls that move the robot', () => {
    const result = check('moves', {
      'src/lib/chassis/moves.ts': 'export const m = 1;\n',
      'src/lib/operator/x.ts': "import { m } from '../chassis/moves.ts';\nexport const x = m;\n",
    });
    expect(result).toEqual({ status: 1, broken: ['side-door-chassis-moves-ts'] });
  });

  it('catch: another room than maps takes the writes that were never measured', () => {
    const files = (room: string) => ({
      'src/lib/chassis/map-writes.ts': 'export const w = 1;\n',
      [`src/lib/${room}/x.ts`]: "import { w } from '../chassis/map-writes.ts';\nexport const x = w;\n",
    });
    expect(check('writes', files('motion'))).toEqual({ status: 1, broken: ['side-door-chassis-map-writes-ts'] });
    expect(check('writes-by-maps', files('maps'))).toEqual({ status: 0, broken: [] });
  });

  it('catch: a circle', () => {
    const result = check('circle', {
      'src/lib/net/a.ts': "import { b } from './b.ts';\nexport const a = () => b;\n",
      'src/lib/net/b.ts': "import { a } from './a.ts';\nexport const b = () => a;\n",
    });
    expect(result.status).toBe(1);
    expect(result.broken).toContain('no-circular');
  });

  it('are not green over nothing', () => {
    expect(check('empty', {}).status).toBe(1);
  });
});
