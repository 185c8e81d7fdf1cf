// The software bill of materials of a staged installation (CycloneDX 1.5): its libraries, what is built into dist, and
// Node.js itself.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtInLibraries } from './licences.js';
import { root } from './stage.js';

/** The fonts in dist/fonts, by the package that they come from. */
const FONTS = { SourceSans3: 'source-sans', SourceCodePro: 'source-code-pro' };

/** CycloneDX as an object; the same for the same installation. */
export function sbomOf(folder, { epoch }) {
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'];
  const bom = JSON.parse(execFileSync('npm', words, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
  const installed = new Set(packagesIn(join(folder, 'node_modules')));
  // Of the lock those that this processor does not need, or that are left out.
  const left = bom.components.filter(
    ({ group, name, version }) => !installed.has(`${group ? `${group}/` : ''}${name}@${version}`),
  );
  const gone = new Set(left.map((component) => component['bom-ref']));
  const components = [
    ...bom.components.filter((component) => !gone.has(component['bom-ref'])),
    ...builtInLibraries(folder).map(builtIn),
    ...fontsIn(join(folder, 'dist/fonts')),
    ...runtime(join(folder, 'node_modules')),
  ];
  const unique = new Map(components.map((component) => [component['bom-ref'], component]));
  for (const component of unique.values()) component.licenses ??= oldLicences(join(folder, 'node_modules'), component);
  const listed = [...unique.values()].sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1));
  const dependencies = bom.dependencies
    .filter(({ ref }) => !gone.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => !gone.has(other)).sort() }));
  const content = JSON.stringify([listed, dependencies]);
  const hash = createHash('sha256').update(content).digest('hex');
  const serial = `${hash.slice(0, 8)}-${hash.slice(8, 12)}-5${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  const { component } = bom.metadata;
  return {
    ...bom,
    serialNumber: `urn:uuid:${serial}`,
    metadata: {
      ...bom.metadata,
      timestamp: new Date(epoch * 1_000).toISOString(),
      // npm names it after the folder.
      component: { ...component, name: 'gw' },
    },
    components: listed,
    dependencies,
  };
}

/** Packages of earlier years name their licence in another way, or in their licence file alone. */
function oldLicences(modules, { group, name }) {
  const folder = join(modules, group ?? '', name);
  const { licenses } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (licenses?.[0]?.type !== undefined) return [{ license: { id: licenses[0].type } }];
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  const text = file === undefined ? '' : readFileSync(join(folder, file), 'utf8');
  return /^\s*(the )?mit license/im.test(text) ? [{ license: { id: 'MIT' } }] : [];
}

function packagesIn(modules) {
  return readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(^|\/)package\.json$/.test(path))
    .flatMap((path) => {
      const { name, version } = JSON.parse(readFileSync(join(modules, path), 'utf8'));
      return name && version ? [`${name}@${version}`] : [];
    });
}

function builtIn({ name: full, version, licence }) {
  const [name, scope] = full.split('/').reverse();
  return {
    'bom-ref': `${full}@${version}`,
    type: 'library',
    name,
    ...(scope && { group: scope }),
    version,
    purl: `pkg:npm/${full.replace('@', '%40')}@${version}`,
    licenses: [/ (AND|OR|WITH) /.test(licence) ? { expression: licence } : { license: { id: licence } }],
    properties: [{ name: 'gw:builtInto', value: 'dist' }],
  };
}

function fontsIn(folder) {
  const families = new Set(
    readdirSync(folder)
      .filter((file) => file.endsWith('.ttf'))
      .map((file) => file.split('-')[0]),
  );
  return [...families].map((family) => {
    const name = FONTS[family];
    if (name === undefined) throw new Error(`dist/fonts/${family}: no package is known of this font`);
    const { version, license } = JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
    return builtIn({ name, version, licence: license });
  });
}

function runtime(modules) {
  return readdirSync(modules)
    .filter((name) => name.startsWith('node-linux-'))
    .map((name) => {
      const { version } = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));
      return {
        'bom-ref': `nodejs@${version}`,
        type: 'application',
        name: 'node',
        version,
        purl: `pkg:github/nodejs/node@v${version}`,
        cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
        licenses: [{ license: { id: 'MIT' } }],
      };
    });
}
