import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/build-if-changed.js', import.meta.url));

/** In place of npm, which takes as long as ten of these: copies src to dist, countably. */
const npm = `#!/bin/sh
rm -rf dist && cp -R src dist && printf x >> builds
[ -z "$CHANGED_MEANWHILE" ] || printf 'changed while it was built' > "$CHANGED_MEANWHILE"
[ -z "$FAILS" ] || exit 3
[ "$*" = 'run -s build' ]
`;

let root: string;
const put = (path: string, text: string) => writeFileSync(join(root, path), text);
const builds = () => (existsSync(join(root, 'builds')) ? readFileSync(join(root, 'builds'), 'utf8').length : 0);

function run(args: string[] = [], env: Record<string, string> = {}) {
  const copy = join(root, 'scripts/build-if-changed.js');
  const PATH = `${join(root, 'bin')}${delimiter}${process.env.PATH}`;
  return spawnSync(process.execPath, [copy, ...args], { encoding: 'utf8', env: { ...process.env, PATH, ...env } });
}

function makeTree() {
  root = mkdtempSync(join(tmpdir(), 'gw-build-'));
  for (const folder of ['bin', 'scripts', 'src/deep', 'web', 'node_modules/vite'])
    mkdirSync(join(root, folder), { recursive: true });
  cpSync(script, join(root, 'scripts/build-if-changed.js'));
  writeFileSync(join(root, 'bin/npm'), npm, { mode: 0o755 });
  put('package.json', JSON.stringify({ type: 'module', scripts: { build: 'node make.js' } }));
  put('package-lock.json', '{}');
  put('tsconfig.json', '{}');
  put('vite.config.ts', '');
  put('src/deep/a.ts', 'a');
  put('web/page.ts', 'page');
}
const removeTree = () => rmSync(root, { recursive: true, force: true });

describe('a build', () => {
  beforeAll(() => {
    makeTree();
    run();
  });
  afterAll(removeTree);

  it('runs where there is none, and not again while nothing has changed', () => {
    expect(readFileSync(join(root, 'dist/deep/a.ts'), 'utf8')).toBe('a');
    // A clone or a checkout sets new times with the same content.
    utimesSync(join(root, 'src/deep/a.ts'), new Date(), new Date());
    expect([run().status, run(['--prepare']).status, builds()]).toEqual([0, 0, 1]);
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
    ['a removed source', () => rmSync(join(root, 'src/b.ts'))],
    [
      'a moved source',
      () => {
        put('src/a.ts', 'c');
        rmSync(join(root, 'src/deep/a.ts'));
      },
    ],
    ['a changed page', () => put('web/page.ts', 'other')],
    ['another version of a tool', () => put('package-lock.json', '{ "lockfileVersion": 3 }')],
    ['another command in package.json', () => put('package.json', JSON.stringify({ name: 'x', type: 'module' }))],
    ['other settings of the compiler', () => put('tsconfig.json', '{ "include": [] }')],
    ['other settings of the bundler', () => put('vite.config.ts', 'export default {}')],
    ['another build script', () => put('scripts/check.js', '')],
    ['a removed output file', () => rmSync(join(root, 'dist/a.ts'))],
    ['an output file changed by hand', () => put('dist/a.ts', 'z')],
    ['an extra file among the output', () => put('dist/old.js', '')],
    ['a corrupt stamp', () => put('dist/.built.json', '{"inputs"')],
  ])('runs again for %s', (_, change) => {
    const before = builds();
    change();
    expect([run().status, builds()]).toEqual([0, before + 1]);
  });

  it('does not run again after all of them', () => {
    const before = builds();
    expect([run().status, builds()]).toEqual([0, before]);
  });
});

describe('in a tree of its own', () => {
  beforeEach(makeTree);
  afterEach(removeTree);

  it('a build during which a source changed counts as out of date', () => {
    run([], { CHANGED_MEANWHILE: 'src/deep/a.ts' });
    expect(readFileSync(join(root, 'dist/deep/a.ts'), 'utf8')).toBe('a');
    run();
    expect(readFileSync(join(root, 'dist/deep/a.ts'), 'utf8')).toBe('changed while it was built');
  });

  it('a build that fails ends with its exit code and runs again, also when an older one existed', () => {
    run();
    put('src/deep/a.ts', 'b');
    for (const round of [2, 3]) expect([run([], { FAILS: '1' }).status, builds()]).toEqual([3, round]);
    expect([run().status, builds()]).toEqual([0, 4]);
  });

  it('is skipped after an installation where there are no sources', () => {
    rmSync(join(root, 'src'), { recursive: true });
    const { status, stderr } = run(['--prepare']);
    expect([status, stderr, builds()]).toEqual([0, '', 0]);
  });

  it('without the tools does not fail an installation, and names the command that installs them', () => {
    rmSync(join(root, 'node_modules/vite'), { recursive: true });
    const { status, stderr } = run(['--prepare']);
    expect([status, builds()]).toEqual([0, 0]);
    expect(stderr).toContain('run `npm ci` without --omit, which installs them and builds');
  });

  it('fails an installation when its build fails', () => {
    const { status, stderr } = run(['--prepare'], { FAILS: '1' });
    expect(status).toBe(3);
    expect(stderr).toContain('gw is not built: the build failed');
    expect(stderr).toContain('run `npm ci` without --omit');
  });
});
