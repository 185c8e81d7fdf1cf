import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addKnownHost,
  fingerprintOf,
  judgeHostKey,
  keyTypeOf,
  knownHostLine,
  knownHostName,
  parseKnownHosts,
  readKnownHosts,
} from '../../../src/lib/net/ssh/host/known-hosts.ts';
import { errorOf, newKeyPair, temporaryHome } from './ssh-server.ts';

function newKey(): { blob: Buffer; words: string } {
  const [type, base64] = newKeyPair().public.split(' ');
  return { blob: Buffer.from(base64 ?? '', 'base64'), words: `${type} ${base64}` };
}

const [one, two] = [newKey(), newKey()];
const judge = (text: string, host: string, key = one) =>
  judgeHostKey(parseKnownHosts(text, 'kh').entries, host, key.blob);

describe('the key of a host', () => {
  it('is found by name, by list, by pattern, and by its port', () => {
    expect(judge(`gw ${one.words}`, 'gw').kind).toBe('known');
    expect(judge(`other,GW,192.0.2.2 ${one.words} remark`, 'gw').kind).toBe('known');
    expect(judge(`*.example.com,!bad.example.com ${one.words}`, 'a.example.com').kind).toBe('known');
    expect(judge(`*.example.com,!bad.example.com ${one.words}`, 'bad.example.com').kind).toBe('unknown');
    expect(judge(`[gw]:2222 ${one.words}`, knownHostName('GW', 2222)).kind).toBe('known');
    expect(judge(`[gw]:2222 ${one.words}`, knownHostName('gw', 22)).kind).toBe('unknown');
    expect(judge(`gw ${two.words}\ngw ${one.words}`, 'gw').kind).toBe('known');
  });

  it('counts as changed when only other keys are known, with their lines', () => {
    expect(judge(`# remark\n\ngw ${two.words}`, 'gw')).toMatchObject({ kind: 'changed', known: [{ at: 'kh:3' }] });
  });

  it('is in no line that lacks a word, and such a line is reported', () => {
    const lacking = ['gw', `gw ${one.words.split(' ')[0]}`, '@revoked gw', `@other gw ${one.words}`];
    const { entries, invalidLines } = parseKnownHosts(lacking.join('\n'), 'kh');
    expect([entries, invalidLines]).toEqual([[], ['kh:1', 'kh:2', 'kh:3', 'kh:4']]);
  });

  it('is revoked by any matching @revoked line', () => {
    expect(judge(`gw ${one.words}\n@revoked * ${one.words}`, 'gw')).toEqual({ kind: 'revoked', at: 'kh:2' });
    expect(judge(`gw ${one.words}\n@revoked other ${one.words}`, 'gw').kind).toBe('known');
    expect(judge(`@revoked * ${two.words}`, 'gw').kind).toBe('unknown');
  });

  it('is not trusted by a @cert-authority line', () => {
    expect(judge(`@cert-authority * ${one.words}`, 'gw')).toEqual({ kind: 'unknown', certAuthorities: ['kh:1'] });
  });

  it('is found under a hashed name', () => {
    const line = knownHostLine('[192.0.2.2]:2222', one.blob, Buffer.from('a salt of some bytes'));
    expect(line).not.toContain('192.0.2.2');
    expect(judge(line, '[192.0.2.2]:2222').kind).toBe('known');
    expect(judge(line, '[192.0.2.2]:2222', two).kind).toBe('changed');
    expect(judge(line, '192.0.2.2').kind).toBe('unknown');
  });

  it('has the fingerprint of ssh-keygen', () => {
    // A public key of the test vectors of RFC 8032 (7.1, TEST 1); its fingerprint is from ssh-keygen -l.
    const key = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
    const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
    const blob = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(key)]);
    expect(keyTypeOf(blob)).toBe('ssh-ed25519');
    expect(fingerprintOf(blob)).toBe('SHA256:bbXpuKG6zhzdmnxq256TlqzFBzRl2f6OOg722cYNbU8');
  });
});

it('a line of known hosts matches every line that was written', { tags: 'property' }, () => {
  const host = fc.stringMatching(/^[a-z0-9][a-z0-9.-]{0,20}$/);
  fc.assert(
    fc.property(
      host,
      fc.integer({ min: 1, max: 65_535 }),
      fc.option(fc.uint8Array({ minLength: 20, maxLength: 20 })),
      (name, port, salt) => {
        const known = knownHostName(name, port);
        const line = knownHostLine(known, one.blob, salt === null ? null : Buffer.from(salt));
        expect(judge(line, known).kind).toBe('known');
        expect(judge(line, known, two).kind).toBe('changed');
      },
    ),
  );
});

describe('the file of known hosts', () => {
  it('is created for its owner only, and a line is appended after the last one', async () => {
    using folder = temporaryHome();
    const path = join(folder.home, 'new', '.ssh', 'known_hosts');
    expect(await readKnownHosts([path])).toEqual({ entries: [], invalidLines: [] });
    await addKnownHost(path, 'first line\n');
    await addKnownHost(path, 'second line\n');
    expect(readFileSync(path, 'utf8')).toBe('first line\nsecond line\n');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder.home, 'new', '.ssh')).mode & 0o777).toBe(0o700);
    writeFileSync(path, 'cut off');
    await addKnownHost(path, 'third line\n');
    expect(readFileSync(path, 'utf8')).toBe('cut off\nthird line\n');
  });

  it('keeps every line when several are added concurrently', async () => {
    using folder = temporaryHome();
    const path = join(folder.home, '.ssh', 'known_hosts');
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index} ${'x'.repeat(700)}\n`);
    await Promise.all(lines.map((line) => addKnownHost(path, line)));
    expect(readFileSync(path, 'utf8').split('\n').sort()).toEqual([...lines.map((line) => line.trimEnd()), ''].sort());
  });

  it('is never treated as empty when it cannot be read', async () => {
    using folder = temporaryHome();
    expect((await errorOf(readKnownHosts([folder.home]))).code).toBe('FILE_UNREADABLE');
    expect((await errorOf(addKnownHost(folder.home, 'line\n'))).code).toBe('FILE_UNWRITABLE');
  });
});
