import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { parseSshTarget, readSshTarget } from '../../../src/lib/net/ssh/config/config.ts';
import { commandLine } from '../../../src/lib/net/ssh/connection.ts';
import { foreignText } from '../../../src/lib/net/ssh/foreign-text.ts';
import { publicPartOf } from '../../../src/lib/net/ssh/login/identities.ts';
import { runs } from '../../properties.ts';
import { anyCharacter } from '../../text/units.ts';

describe('an SSH target', () => {
  it.each([
    ['gateway', { host: 'gateway', user: null, port: null }],
    ['technician@192.0.2.2', { host: '192.0.2.2', user: 'technician', port: null }],
    ['technician@gw.example.com:2222', { host: 'gw.example.com', user: 'technician', port: 2222 }],
    ['t@[2001:db8::7]:22', { host: '2001:db8::7', user: 't', port: 22 }],
    ['t@2001:db8::7', { host: '2001:db8::7', user: 't', port: null }],
    ['a@b@gw', { host: 'gw', user: 'a@b', port: null }],
    ['ssh://t@gw:22/', { host: 'gw', user: 't', port: 22 }],
  ])('is parsed from %s', (text, target) => void expect(parseSshTarget(text)).toEqual(target));

  const odd =
    '|@gw|t@|gw:|gw:0|gw:70000|gw:x|-oProxyCommand=x|-t@gw|t@-gw|a b|t t@gw|gw,gw|*|[gw]:22|gw:1:2|t\n@gw|gw/path';
  it.each(odd.split('|'))('is rejected in %j', (text) => {
    expect(readSshTarget(text)).toBeNull();
    expect(() => parseSshTarget(text)).toThrow(GwError);
  });

  it('is parsed from any text without a throw', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const target = readSshTarget(text);
        if (target === null) return;
        expect(target.host).toMatch(/^[A-Za-z0-9_:][A-Za-z0-9_.:-]*$/);
        expect(target.user ?? 'x').not.toMatch(/^-|[\s\p{Cc}]/u);
      }),
    );
  });
});

describe('a command line for the remote shell', () => {
  it('does not quote plain arguments', () => {
    expect(commandLine(['gw', 'heartbeat', 'check', '--json', '/etc/gw/site.yaml'])).toBe(
      'gw heartbeat check --json /etc/gw/site.yaml',
    );
    expect(commandLine(['a', '', "it's", 'A=b'])).toBe(`a '' 'it'"'"'s' 'A=b'`);
  });

  it('passes every argument through a shell unchanged', { tags: 'property' }, () => {
    const odd = fc.constantFrom("'", '"', '\\', '$', '`', '\n', ' ', '*', '!', '~', '#', ';', '&', '(', '=', 'ä', '-');
    const word = fc.oneof(fc.string({ unit: odd, maxLength: 12 }), fc.string({ maxLength: 12 }));
    const plain = word.filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 6 }), (words) => {
        const line = commandLine(['printf', '%s\\0', ...words]);
        const { stdout } = spawnSync('/bin/sh', ['-c', line], { encoding: 'utf8' });
        expect(stdout.split('\0').slice(0, -1)).toEqual(words);
      }),
      { numRuns: runs(60, 6) },
    );
  });

  it('rejects NUL bytes', () => {
    expect(() => commandLine(['gw', 'a\0b'])).toThrow(GwError);
    expect(() => commandLine([])).toThrow(RangeError);
  });
});

it('a text of a server is one line of bounded length without control characters', { tags: 'property' }, () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 2_000 }), (text) => {
      const plain = foreignText(text);
      expect(plain).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
      expect(plain.length).toBeLessThanOrEqual(301);
    }),
  );
});

it('the public key of an encrypted key file is parsed from any bytes without a throw', { tags: 'property' }, () => {
  // In pieces: a whole line of this kind would look like a key in the repository.
  const [line, what] = ['-----', 'OPENSSH PRIVATE KEY'];
  const frame = (bytes: Uint8Array) =>
    [`${line}BEGIN ${what}${line}`, Buffer.from(bytes).toString('base64'), `${line}END ${what}${line}`, ''].join('\n');
  const head = [...Buffer.from('openssh-key-v1\0')];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), fc.boolean(), (bytes, isHeaded) => {
      const given = isHeaded ? Uint8Array.from([...head, ...bytes]) : bytes;
      expect(publicPartOf(frame(given))?.isPrivateKey() ?? false).toBe(false);
    }),
  );
  expect(publicPartOf('nothing of the kind')).toBeNull();
});
