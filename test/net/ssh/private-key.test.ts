import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import fc from 'fast-check';
import type { ParsedKey } from 'ssh2';
import { expect, it } from 'vitest';
import { parsePrivateKey } from '../../../src/lib/net/ssh/login/private-key.ts';
import { runs } from '../../properties.ts';

const kinds: [string, () => KeyObject][] = [
  ['RSA', () => generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey],
  ['ECDSA', () => generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey],
  ['Ed25519', () => generateKeyPairSync('ed25519').privateKey],
];
const encrypted = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'open sesame' } as const;

it.each(kinds)('a PKCS#8 key of type %s signs, encrypted or not', (kind, generate) => {
  const key = generate();
  const plain = parsePrivateKey(key.export({ type: 'pkcs8', format: 'pem' }).toString()) as ParsedKey;
  const text = key.export(encrypted).toString();
  const opened = parsePrivateKey(text, 'open sesame') as ParsedKey;
  expect(opened.getPublicSSH().equals(plain.getPublicSSH())).toBe(true);
  const data = Buffer.from('what the server sent');
  if (kind === 'Ed25519') expect(verify(null, data, createPublicKey(key), opened.sign(data) as Buffer)).toBe(true);
  else expect(opened.verify(data, plain.sign(data, 'sha512') as Buffer, 'sha512')).toBe(true);
  expect(parsePrivateKey(text)).toMatchObject({ message: expect.stringContaining('no passphrase given') });
  expect(parsePrivateKey(text, 'wrong')).toBeInstanceOf(Error);
});

it('an Ed25519 key is read also where a byte of it is zero', () => {
  for (let round = 0; round < 300; round += 1) {
    const { privateKey } = generateKeyPairSync('ed25519');
    const parsed = parsePrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    expect(parsed).not.toBeInstanceOf(Error);
  }
});

it('an unsupported type, and any text, is an error and no exception', { tags: 'property' }, () => {
  const other = generateKeyPairSync('x25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  expect(parsePrivateKey(other)).toMatchObject({ message: 'unsupported type of key' });
  fc.assert(
    fc.property(fc.base64String(), fc.boolean(), (content, isEncrypted) => {
      const label = isEncrypted ? 'ENCRYPTED PRIVATE KEY' : 'PRIVATE KEY';
      expect(parsePrivateKey(`-----BEGIN ${label}-----\n${content}\n-----END ${label}-----\n`, 'x')).toBeInstanceOf(
        Error,
      );
    }),
    { numRuns: runs(200) },
  );
});
