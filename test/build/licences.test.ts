import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Rolldown } from 'vite';
import { afterAll, describe, expect, it } from 'vitest';
import webConfig from '../../vite.web.config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'gw-licences-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Component {
  readonly 'bom-ref': string;
  readonly licenses?: readonly object[];
}
const script = (name: string) => import(new URL(`../../scripts/package/${name}`, import.meta.url).href);
const { licenceProblems, builtInLibraries } = (await script('licences.js')) as {
  licenceProblems(folder: string, bom: { components: readonly Component[] }): string[];
  builtInLibraries(folder: string): { name: string }[];
};
const { schemaProblems } = (await script('sbom-schema.js')) as { schemaProblems(bom: object): string[] };

/** The library of a module by its path; undefined: a module of gw or of the bundler. */
const libraryOf = (path: string) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
const librariesOf = (paths: readonly string[]) => {
  const found = new Set(paths.map(libraryOf).filter((name) => name !== undefined));
  expect(found.size).toBeGreaterThan(5);
  return [...found];
};
const listed = new Set(builtInLibraries(root).map(({ name }) => name));

describe('a library that is built in', () => {
  it('into the commands stands among the licences', () => {
    const maps = readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.map'),
    );
    const modules = maps.flatMap(
      (path) => (JSON.parse(readFileSync(join(root, 'dist', path), 'utf8')) as { sources: string[] }).sources,
    );
    expect(librariesOf(modules).filter((name) => !listed.has(name))).toEqual([]);
  });

  it('into the pages stands among the licences', async () => {
    const built = (await build({
      ...webConfig,
      configFile: false,
      root: join(root, 'web'),
      logLevel: 'silent',
      build: { ...webConfig.build, write: false, rollupOptions: { input: join(root, 'web/main.tsx') } },
    })) as Rolldown.RolldownOutput;
    const modules = built.output.flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
    expect(librariesOf(modules).filter((name) => !listed.has(name))).toEqual([]);
  });
});

describe('an installation', () => {
  const text = 'Permission is hereby granted. '.repeat(10);
  const staged = (name: string) => {
    const folder = join(scratch, name);
    for (const part of ['dist/web', 'dist/fonts', 'node_modules/kettle/node_modules/@hot/water']) {
      mkdirSync(join(folder, part), { recursive: true });
    }
    for (const part of ['dist', 'dist/web']) {
      writeFileSync(join(folder, part, 'THIRD-PARTY-LICENSES.md'), `# Licenses\n\n## oven - 1.0.0 (MIT)\n\n${text}\n`);
    }
    writeFileSync(join(folder, 'dist/fonts/Round-Bold.ttf'), '');
    writeFileSync(join(folder, 'dist/fonts/Round-LICENSE.md'), text);
    for (const library of ['node_modules/kettle', 'node_modules/kettle/node_modules/@hot/water']) {
      writeFileSync(join(folder, library, 'package.json'), '{}');
      writeFileSync(join(folder, library, 'LICENCE.txt'), text);
    }
    return folder;
  };
  const component = (expression: string): Component => ({ 'bom-ref': 'kettle@1.0.0', licenses: [{ expression }] });
  const problemsOf = (folder: string, ...components: Component[]) => licenceProblems(folder, { components });

  it('with every text and accepted licences has no problem', () => {
    const folder = staged('whole');
    expect(problemsOf(folder, component('MIT'), component('(BSD-3-Clause OR GPL-2.0)'))).toEqual([]);
  });

  it.each(['GPL-3.0', 'MIT AND GPL-2.0', 'SEE LICENSE IN x', 'UNLICENSED'])('under %s is refused', (expression) => {
    expect(problemsOf(staged('licence'), component(expression))).toEqual([
      `licence of kettle@1.0.0 is not accepted: ${expression}`,
    ]);
  });

  it('is refused where no licence is known', () => {
    expect(problemsOf(staged('unknown'), { 'bom-ref': 'kettle@1.0.0' })).toEqual([
      'licence of kettle@1.0.0 is not accepted: unknown',
    ]);
  });

  it.each([
    ['node_modules/kettle/LICENCE.txt', 'no licence text in node_modules/kettle'],
    [
      'node_modules/kettle/node_modules/@hot/water/LICENCE.txt',
      'no licence text in node_modules/kettle/node_modules/@hot/water',
    ],
    ['dist/fonts/Round-LICENSE.md', 'no licence text of the font Round-Bold.ttf'],
  ])('is refused without %s', (file, problem) => {
    const folder = staged('without');
    rmSync(join(folder, file));
    expect(problemsOf(folder)).toEqual([problem]);
  });

  it('is refused with a built-in library whose text is missing', () => {
    const folder = staged('built-in');
    writeFileSync(join(folder, 'dist/web/THIRD-PARTY-LICENSES.md'), '# Licenses\n\n## oven - 1.0.0 (MIT)\n');
    expect(problemsOf(folder)).toEqual(['no licence text of oven, which is built in']);
  });
});

describe('a bill of materials', () => {
  const bom = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: 'urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79',
    metadata: { timestamp: '2026-11-26T23:05:28.000Z' },
    components: [{ type: 'library', name: 'kettle', version: '1.0.0', licenses: [{ license: { id: 'MIT' } }] }],
  };

  it('is held against the schema of its version', () => {
    expect(schemaProblems(bom)).toEqual([]);
  });

  it('is refused with a wrong number, time, licence or kind of component, and with one component twice', () => {
    const [kettle] = bom.components;
    const components = [
      { type: 'library', name: 'x', licenses: [{ license: { id: 'MITT' } }] },
      { type: 'lib', name: 'x' },
      ...[kettle, kettle],
    ];
    const problems = schemaProblems({ ...bom, serialNumber: '1', metadata: { timestamp: 'yesterday' }, components });
    const places = new Set(problems.map((problem) => problem.split(' ')[0]));
    for (const place of ['/serialNumber', '/metadata/timestamp', '/components/1/type', '/components']) {
      expect(places).toContain(place);
    }
    expect(problems).toContainEqual(expect.stringMatching(/^\/components\/0\/licenses/));
  });
});
