import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readReleaseKey, verifyPackage } from '../../../src/lib/cloud/index.ts';
import { privateFolderProblem } from '../../../src/lib/lifecycle/index.ts';
import { makeDemoPackage } from '../../../src/lib/toolkit/demo/demo.ts';
import { scratch, writeTree } from '../../cloud/release/packages.ts';

describe('the package of the demo', () => {
  it('is signed, and its release folder is private to the user with any umask', async () => {
    await using folder = scratch();
    const [root, dir] = [join(folder.dir, 'gw'), join(folder.dir, 'demo')];
    await writeTree(root, {
      'bin/run.js': '',
      'checklists/demo.yaml': '',
      'dist/index.js': '',
      'packaging/boot.js': '',
      'oclif.manifest.json': '{"version":"1.0.0"}',
      'package.json': '{"name":"gw","version":"1.0.0"}',
    });
    await mkdir(join(root, 'node_modules/fastify'), { recursive: true });
    mkdirSync(join(dir, 'secrets'), { recursive: true, mode: 0o700 });
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const keyPath = join(dir, 'secrets', 'release-signing-key.pem');
    writeFileSync(keyPath, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    const publicPath = join(dir, 'release-key.pem');
    writeFileSync(publicPath, publicKey.export({ type: 'spki', format: 'pem' }));

    const releasesDir = join(dir, 'releases');
    const before = process.umask(0o002);
    let path: string;
    try {
      path = await makeDemoPackage({ root, dir, releasesDir, version: '1.0.1' });
    } finally {
      process.umask(before);
    }
    expect(statSync(releasesDir).mode & 0o777).toBe(0o700);
    expect(await privateFolderProblem(releasesDir)).toBeNull();
    const signal = new AbortController().signal;
    const { manifest } = await verifyPackage(path, { publicKey: await readReleaseKey(publicPath), signal });
    expect(manifest.version).toBe('1.0.1');
  });
});
