import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readReleaseKeys } from '../../../src/lib/cloud/release/keys.ts';
import { verifyPackage } from '../../../src/lib/cloud/release/read-package.ts';
import { unpackPackage, verifyInstalled } from '../../../src/lib/cloud/release/unpack.ts';
import { runs } from '../../properties.ts';
import { fresh } from '../fresh.ts';
import { makeKeys, makePackage, scratch } from './packages.ts';

const [old, next, third] = [makeKeys(), makeKeys(), makeKeys()];

const it = test.extend('folder', fresh(scratch));

describe('the key that verifies releases', () => {
  it('is an Ed25519 public key', async ({ folder }) => {
    const path = join(folder.dir, 'key.pem');
    await writeFile(path, old.publicPem);
    expect((await readReleaseKeys(path)).map((key) => key.equals(old.publicKey))).toEqual([true]);
    const ownKey = String(old.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    for (const text of ['', 'no key', ownKey, execFileSync('openssl', ['ecparam', '-name', 'prime256v1', '-genkey'])]) {
      await writeFile(path, text);
      await expect(readReleaseKeys(path)).rejects.toMatchObject({ code: 'RELEASE_INVALID' });
    }
    await expect(readReleaseKeys(join(folder.dir, 'none'))).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
  });
});

describe('a change of the release key', () => {
  it('accepts what either of two keys has signed, names which, and nothing of a third', async ({ folder }) => {
    const { dir } = folder;
    const path = join(dir, 'keys.pem');
    // As `cat` joins them, with a comment.
    await writeFile(path, `# until the next release\n${old.publicPem}${next.publicPem}`);
    const both = await readReleaseKeys(path);
    expect(both.map((key) => key.equals(old.publicKey))).toEqual([true, false]);
    for (const [index, pair] of [old, next].entries()) {
      const made = await makePackage(dir, pair.privateKey, { version: `1.0.${index}` });
      const verified = await verifyPackage(made.path, { keys: both });
      expect(verified.signer.equals(pair.publicKey)).toBe(true);
      const options = { keys: both, dir, folder: `1.0.${index}`, signal: new AbortController().signal };
      await unpackPackage(made.path, options);
      const installed = await verifyInstalled(dir, `1.0.${index}`, { keys: both });
      expect(installed.signer.equals(pair.publicKey)).toBe(true);
    }
    const strange = await makePackage(dir, third.privateKey, { version: '1.0.2' });
    await expect(verifyPackage(strange.path, { keys: both })).rejects.toMatchObject({
      code: 'RELEASE_INVALID',
      message: expect.stringContaining('does not match either release key'),
    });
    // Once the old key is taken away, what it has signed is refused, installed or not.
    await expect(verifyInstalled(dir, '1.0.0', { keys: [next.publicKey] })).rejects.toMatchObject({
      code: 'RELEASE_INVALID',
    });
  });

  it.each([
    ['three keys', [old.publicPem, next.publicPem, third.publicPem], /holds 3 release keys, at most 2/],
    ['one key twice', [old.publicPem, old.publicPem], /same release key twice/],
    [
      'a private key beside it',
      [old.publicPem, String(next.privateKey.export({ type: 'pkcs8', format: 'pem' }))],
      /not an/,
    ],
    ['a key cut off', [old.publicPem, next.publicPem.slice(0, 60)], /not an Ed25519/],
    ['a certificate beside it', [old.publicPem, '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'], /not an/],
  ])('refuses a file of %s', async (_what, texts, message) => {
    await using folder = scratch();
    const path = join(folder.dir, 'keys.pem');
    await writeFile(path, texts.join(''));
    await expect(readReleaseKeys(path)).rejects.toMatchObject({
      code: 'RELEASE_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it('reads any bytes as keys or as an error', { tags: 'property' }, async ({ folder }) => {
    const path = join(folder.dir, 'keys.pem');
    const part = fc.oneof(
      fc.constantFrom(old.publicPem, next.publicPem, '-----BEGIN PUBLIC KEY-----', '-----END PUBLIC KEY-----', '\n'),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
        await writeFile(path, parts.join(''));
        const keys = await readReleaseKeys(path).catch((error) => {
          expect(error).toMatchObject({ code: 'RELEASE_INVALID' });
          return [];
        });
        for (const key of keys) expect([old, next].some(({ publicKey }) => key.equals(publicKey))).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});
