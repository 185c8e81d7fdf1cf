import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseRevokedKeys, readRevokedKeys } from '../../../src/lib/net/ssh/host/revoked-keys.ts';
import { runs } from '../../properties.ts';
import { errorOf } from './ssh-server.ts';

const field = (bytes: Buffer | string) => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(bytes));
  return Buffer.concat([length, Buffer.from(bytes)]);
};
const keyOf = (point: number) => Buffer.concat([field('ssh-ed25519'), field(Buffer.alloc(32, point))]);
const lineOf = (blob: Buffer) => `ssh-ed25519 ${blob.toString('base64')} comment\n`;
const head = Buffer.concat([
  Buffer.from('SSHKRL\n\0'),
  Buffer.from([0, 0, 0, 1]),
  Buffer.alloc(24),
  field(''),
  field('x'),
]);
const section = (type: number, ...entries: Buffer[]) =>
  Buffer.concat([Buffer.from([type]), field(Buffer.concat(entries.map(field)))]);

it('lines of public keys revoke those keys; comments and empty lines none', () => {
  const isRevoked = parseRevokedKeys(Buffer.from(`# lost\n\n${lineOf(keyOf(1))}  ${lineOf(keyOf(2))}`));
  expect([keyOf(1), keyOf(2), keyOf(3)].map((key) => isRevoked?.(key))).toEqual([true, true, false]);
});

it('a revocation list revokes its keys, whatever certificates and signature are in it', () => {
  const certificates = Buffer.concat([Buffer.from([1]), field('certificates of a CA')]);
  const signature = Buffer.concat([Buffer.from([4]), field('key'), field('signature')]);
  const isRevoked = parseRevokedKeys(Buffer.concat([head, certificates, section(2, keyOf(1), keyOf(2)), signature]));
  expect([keyOf(1), keyOf(2), keyOf(3)].map((key) => isRevoked?.(key))).toEqual([true, true, false]);
});

it('a malformed file is none: it may revoke the key of this host', () => {
  const bad = [
    Buffer.from('ssh-ed25519\n'),
    Buffer.from(`ssh-rsa ${keyOf(1).toString('base64')}\n`),
    Buffer.from('<html>\n'),
    head.subarray(0, 20),
    Buffer.concat([head, Buffer.from([9]), field('')]),
    Buffer.concat([head, section(2, keyOf(1)).subarray(0, 30)]),
  ];
  for (const bytes of bad) expect(parseRevokedKeys(bytes)).toBeNull();
});

it('any bytes are read without an exception', { tags: 'property' }, () => {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((it) => Buffer.from(it));
  fc.assert(
    fc.property(fc.boolean(), bytes, bytes, (isList, content, key) => {
      const isRevoked = parseRevokedKeys(isList ? Buffer.concat([head, content]) : content);
      if (isRevoked !== null) expect(isRevoked(key)).toBeTypeOf('boolean');
    }),
    { numRuns: runs(500) },
  );
});

it('a missing or malformed file trusts no host, with its name and the next step', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-revoked-'));
  const file = join(dir, 'revoked');
  expect(await errorOf(readRevokedKeys(file))).toMatchObject({
    code: 'FILE_UNREADABLE',
    message: expect.stringMatching(/revoked cannot be read \(ENOENT\); no host is trusted/),
    remedy: expect.stringContaining('RevokedHostKeys'),
  });
  writeFileSync(file, 'nonsense\n');
  expect((await errorOf(readRevokedKeys(file))).message).toContain('are malformed');
  rmSync(dir, { recursive: true });
});
