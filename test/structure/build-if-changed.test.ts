import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/build-if-changed.js', import.meta.url));

/** A countable build: copies src to dist, slowly where SLOW names a file that is changed meanwhile. */
const build = `
import { appendFileSync, cpSync, rmSync, writeFileSync } from 'node:fs';
rmSync('dist', { recursive: true, force: true });
cpSync('src', 'dist', { recursive: true });
appendFileSync('builds', 'x');
if (process.env.CHANGED_MEANWHILE) writeFileSync(process.env.CHANGED_MEANWHILE, 'changed while it was built');
if (process.env.FAILS) process.exit(3);
`;

let root: string;
const put = (path: string, text: string) => writeFileSync(join(root, path), text);
const builds = () => (existsSync(join(root, 'builds')) ? readFileSync(join(root, 'builds'), 'utf8').length : 0);

function run(args: string[] = [], env: Record<string, string> = {}) {
  const copy = join(root, 'scripts/build-if-changed.js');
  return spawnSync(process.execPath, [copy, ...args], { encoding: 'utf8', env: { ...process.env, ...env } });
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gw-build-'));
  for (const folder of ['scripts', 'src/deep', 'web', 'node_modules/vite'])
    mkdirSync(join(root, folder), { recursive: true });
  cpSync(script, join(root, 'scripts/build-if-changed.js'));
  put('package.json', JSON.stringify({ type: 'module', scripts: { build: 'node make.js' } }));
  put('package-lock.json', '{}');
  put('tsconfig.json', '{}');
  put('vite.config.ts', '');
  put('make.js', build);
  put('src/deep/a.ts', 'a');
  put('web/page.ts', 'page');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('a build', () => {
  it('runs where there is none, and not again while nothing has changed', () => {
    expect(run().status).toBe(0);
    expect(readFileSync(join(root, 'dist/deep/a.ts'), 'utf8')).toBe('a');
    expect(run().status).toBe(0);
    expect(run(['--prepare']).status).toBe(0);
    // A clone or a checkout sets new times with the same content.
    utimesSync(join(root, 'src/deep/a.ts'), new Date(), new Date());
    run();
    expect(builds()).toBe(1);
  });

  it.each([
    ['a changed source', () => put('src/deep/a.ts', 'b')],
    [
      'a changed source of the same length with an old time',
      () => {
        put('src/deep/a.ts', 'c');
        utimesSync(join(root, 'src/deep/a.ts'), 1, 1);
      },
    ],
    ['a new source', () => put('src/b.ts', 'a')],
    ['a removed source', () => rmSync(join(root, 'src/deep/a.ts'))],
    [
      'a moved source',
      () => {
        put('src/a.ts', 'a');
        rmSync(join(root, 'src/deep/a.ts'));
      },
    ],
    ['a changed page', () => put('web/page.ts', 'other')],
    ['another version of a tool', () => put('package-lock.json', '{ "lockfileVersion": 3 }')],
    [
      'another command in package.json',
      () => put('package.json', JSON.stringify({ name: 'x', type: 'module', scripts: { build: 'node make.js' } })),
    ],
    ['other settings of the compiler', () => put('tsconfig.json', '{ "include": [] }')],
    ['other settings of the bundler', () => put('vite.config.ts', 'export default {}')],
    ['another build script', () => put('scripts/check.js', '')],
    ['a removed output file', () => rmSync(join(root, 'dist/deep/a.ts'))],
    ['an output file changed by hand', () => put('dist/deep/a.ts', 'z')],
    ['an extra file among the output', () => put('dist/old.js', '')],
    ['a corrupt stamp', () => put('dist/.built.json', '{"inputs"')],
  ])('runs again for %s', (_, change) => {
    run();
    change();
    expect(run().status).toBe(0);
    expect(builds()).toBe(2);
    run();
    expect(builds()).toBe(2);
  });

  it('during which a source changed counts as out of date', () => {
    run([], { CHANGED_MEANWHILE: 'src/deep/a.ts' });
    expect(readFileSync(join(root, 'dist/deep/a.ts'), 'utf8')).toBe('a');
    run();
    expect(readFileSync(join(root, 'dist/deep/a.ts'), 'utf8')).toBe('changed while it was built');
  });

  it('that fails ends with its exit code and runs again, also when an older one existed', () => {
    run();
    put('src/deep/a.ts', 'b');
    expect(run([], { FAILS: '1' }).status).toBe(3);
    expect(run([], { FAILS: '1' }).status).toBe(3);
    expect(run().status).toBe(0);
    expect(builds()).toBe(4);
  });
});

describe('after an installation', () => {
  it('is skipped where there are no sources', () => {
    rmSync(join(root, 'src'), { recursive: true });
    const { status, stderr } = run(['--prepare']);
    expect([status, stderr, builds()]).toEqual([0, '', 0]);
  });

  it('without the tools does not fail, and names the command that installs them', () => {
    rmSync(join(root, 'node_modules/vite'), { recursive: true });
    const { status, stderr } = run(['--prepare']);
    expect([status, builds()]).toEqual([0, 0]);
    expect(stderr).toContain('run `npm ci`, which installs them and builds');
  });

  it('fails when its build fails', () => {
    const { status, stderr } = run(['--prepare'], { FAILS: '1' });
    expect(status).toBe(3);
    expect(stderr).toContain('gw is not built: the build failed');
    expect(stderr).toContain('run `npm ci` without --omit');
  });
});
