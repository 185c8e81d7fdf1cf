import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readReleaseKeys, verifyPackage } from '../../../src/lib/cloud/index.ts';
import { makeRelease, newReleaseKey } from '../../../src/lib/toolkit/release/make.ts';
import { has, sharedFolder } from '../kit.ts';

const dir = sharedFolder();
let keyFile: string;
beforeAll(async () => {
  keyFile = join(dir, 'signing.pem');
  await newReleaseKey(keyFile);
});

let count = 0;
let folder: string;
beforeEach(() => {
  count += 1;
  folder = join(dir, `gw-${count}`);
});

const { signal } = new AbortController();
const files: Readonly<Record<string, string>> = {
  'package.json': '{"name":"gw","version":"1.2.3"}',
  'bin/run.js': '#!/usr/bin/env node\n',
  'dist/a.js': 'a',
  'node_modules/x/index.js': 'x',
};

/** An installation, its files written in this order. */
function install(into: string, order = Object.keys(files), more: Readonly<Record<string, string>> = {}): void {
  for (const name of [...order, ...Object.keys(more)]) {
    mkdirSync(join(into, name, '..'), { recursive: true });
    writeFileSync(join(into, name), more[name] ?? files[name] ?? '');
  }
  chmodSync(join(into, 'bin/run.js'), 0o755);
}

const make = (change: Partial<Parameters<typeof makeRelease>[0]> = {}) =>
  makeRelease({ folder, keyFile, out: `${folder}.tar`, minimumVersion: '0.0.0', force: false, signal, ...change });

describe('a key pair for releases', () => {
  it('is one that gateways accept, the private half for its owner only, and replaces nothing', async () => {
    const file = join(dir, 'own.pem');
    const made = await newReleaseKey(file);
    expect(made).toMatchObject({ file, publicFile: join(dir, 'own.pub.pem') });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const [read] = await readReleaseKeys(made.publicFile);
    expect(read.equals(createPublicKey(readFileSync(file, 'utf8')))).toBe(true);
    const before = readFileSync(file, 'utf8');
    await expect(newReleaseKey(file)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    // Also where only the other half is there.
    rmSync(file);
    await expect(newReleaseKey(file)).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    expect(() => statSync(file)).toThrow('ENOENT');
    expect(before).toContain('PRIVATE KEY');
  });
});

describe('a release that is made', () => {
  it('is verified by a gateway with the public key, and by no other', async () => {
    install(folder);
    const made = await make({ minimumVersion: '1.0.0' });
    expect(made).toMatchObject({ version: '1.2.3', minimumVersion: '1.0.0', files: 4 });
    const keys = await readReleaseKeys(join(dir, 'signing.pub.pem'));
    const { manifest, sha256 } = await verifyPackage(made.file, { keys });
    expect(sha256).toBe(made.sha256);
    expect(manifest.files.filter(({ executable }) => executable).map(({ path }) => path)).toEqual(['bin/run.js']);
    const other = generateKeyPairSync('ed25519').publicKey;
    await expect(verifyPackage(made.file, { keys: [other] })).rejects.toMatchObject({ code: 'RELEASE_INVALID' });
  });

  it('has the same bytes for the same files, wherever, whenever and in whatever order they were written', async () => {
    install(folder);
    const one = await make();
    const elsewhere = join(dir, 'src', 'elsewhere');
    install(elsewhere, Object.keys(files).toReversed());
    for (const name of Object.keys(files)) utimesSync(join(elsewhere, name), 1, 1);
    const other = await make({ folder: elsewhere, out: join(dir, 'elsewhere.tar') });
    expect(readFileSync(other.file).equals(readFileSync(one.file))).toBe(true);
  });

  it('replaces a file only with --force', async () => {
    install(folder);
    await make();
    await expect(make()).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    await expect(make({ force: true })).resolves.toMatchObject({ files: 4 });
  });

  it.each<[string, () => void, object]>([
    ['no folder', () => {}, { code: 'RELEASE_INVALID', message: has('no such file or folder') }],
    [
      'another program',
      () => install(folder, ['bin/run.js'], { 'package.json': '{"name":"x"}' }),
      { code: 'RELEASE_INVALID' },
    ],
    ['no JSON', () => install(folder, ['bin/run.js'], { 'package.json': '{' }), { code: 'RELEASE_INVALID' }],
    ['no program', () => install(folder, ['bin/run.js', 'package.json']), { code: 'RELEASE_INVALID' }],
    ['a link', () => install(folder), { code: 'RELEASE_INVALID', message: has('neither a file') }],
    [
      'no version',
      () => install(folder, ['bin/run.js'], { 'package.json': '{"name":"gw","version":"one"}' }),
      { code: 'RELEASE_INVALID' },
    ],
  ])('is none of %s', async (what, prepare, error) => {
    prepare();
    if (what === 'no program') rmSync(join(folder, 'bin/run.js'));
    if (what === 'a link') symlinkSync('/etc/passwd', join(folder, 'link'));
    await expect(make()).rejects.toMatchObject(error);
    expect(() => statSync(`${folder}.tar`)).toThrow('ENOENT');
  });

  it.each([
    ['the public key', () => readFileSync(join(dir, 'signing.pub.pem'), 'utf8'), /is the public key/],
    [
      'another kind',
      () => String(generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
      /not an Ed25519/,
    ],
    ['no key', () => 'hello', /not an Ed25519/],
  ])('is not signed with %s', async (_, content, message) => {
    install(folder);
    const wrong = join(dir, 'wrong.pem');
    writeFileSync(wrong, content(), { mode: 0o600 });
    chmodSync(wrong, 0o600);
    await expect(make({ keyFile: wrong })).rejects.toMatchObject({
      code: 'SECRET_UNREADABLE',
      message: has(message),
      remedy: has('gw release key new'),
    });
  });
});
