import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { linksOf } from './markdown.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Contents of the tarball, without building. */
const [packed] = JSON.parse(
  execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' }),
) as [{ readonly files: readonly { readonly path: string }[] }];
const files = new Set(packed.files.map(({ path }) => path));

/** Pages referenced by a text, as in 'see docs/kiosk.md'. */
const pagesNamedIn = (text: string) => [...text.matchAll(/\bdocs\/[\w-]+\.\w+/g)].map(([page]) => page);

describe('the packed tarball', () => {
  it.each([
    ['the program references', 'src/**/*.ts'],
    ['the pages of the operator server reference', 'web/**/*'],
    ['the checklists reference', 'checklists/*'],
    ['the start script references', 'bin/*'],
    ['the help references', 'oclif.manifest.json'],
    ['the unit file references', 'packaging/*'],
  ])('carries every page that %s', (_, pattern) => {
    const sources = globSync(pattern, { cwd: root }).filter((path) => /\.\w+$/.test(path));
    expect(sources.length).toBeGreaterThan(0);
    const lacking = sources.flatMap((source) => pagesNamedIn(read(source)).map((page) => `${source}: ${page}`));
    expect(lacking.filter((line) => !files.has(line.split(': ')[1] ?? ''))).toEqual([]);
  });

  it('has references to pages at all', () => {
    expect(pagesNamedIn(read('src/lib/error/table.ts'))).toContain('docs/kiosk.md');
    expect(pagesNamedIn('see docs/no-such-page.md.')).toEqual(['docs/no-such-page.md']);
  });

  it('carries everything that its pages link to', () => {
    const pages = [...files].filter((path) => path.endsWith('.md'));
    expect(pages.length).toBeGreaterThan(20);
    const broken = pages.flatMap((page) =>
      linksOf(page, read(page))
        .filter(({ path }) => !files.has(path))
        .map(({ target }) => `${page} -> ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('carries the runtime files, and no development files', () => {
    for (const path of [
      'bin/run.js',
      'oclif.manifest.json',
      'scripts/build-if-changed.js',
      ...['gw.service', 'launch.sh', 'boot.js'].map((name) => `packaging/${name}`),
    ]) {
      expect(files).toContain(path);
    }
    expect([...files].filter((path) => /^(src|test|bench|web)\/|\.built\.json$/.test(path))).toEqual([]);
  });
});

describe('the dependencies', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
  const sources = globSync('src/**/*.{ts,tsx}', { cwd: root }).map(read);
  const imported = new Set(
    sources
      .flatMap((text) => [...text.matchAll(/(?:from|import\(|import) ?'((?:@[\w.-]+\/)?[\w.-]+)([^']*)'/g)])
      .filter(([, name = '', rest = '']) => !name.startsWith('.') && !(name === 'node' && rest.startsWith(':')))
      .map(([, name = '']) => name),
  );

  it('name everything that runs, built in or not, and nothing that only builds or tests', () => {
    const run = [...imported].filter((name) => !(name in (devDependencies ?? {}))).toSorted();
    expect(run.length).toBeGreaterThan(20);
    expect(Object.keys(dependencies ?? {})).toEqual(expect.arrayContaining(run));
    expect([...imported].filter((name) => name in (devDependencies ?? {}))).toEqual([]);
  });

  it('have every library that is built in', () => {
    expect(Object.keys(dependencies ?? {})).toEqual(expect.arrayContaining(JSON.parse(read('scripts/built-in.json'))));
  });
});
