import fc from 'fast-check';
import { expect, test } from 'vitest';
import { redacted, withoutTokens } from '../../../src/lib/tunnel/link/redaction.ts';
import { anyCharacter } from '../../text/units.ts';

const token = fc.string({ unit: fc.constantFrom(...'ABCDEFabcdef0123456789+/=_-.'), minLength: 8, maxLength: 200 });

test('no eight characters of a token remain, wherever they stand and however long the part is', {
  tags: 'property',
}, () => {
  fc.assert(
    fc.property(token, fc.nat(), fc.nat(), fc.string(), fc.string(), (secret, from, length, before, behind) => {
      const begin = from % (secret.length - 7);
      const part = secret.slice(begin, begin + 8 + (length % (secret.length - begin - 7)));
      for (const clean of [
        withoutTokens(before + part + behind, [secret]),
        redacted(before + part + behind, [secret], 300),
      ])
        for (let at = 0; at + 8 <= part.length; at += 1) expect(clean).not.toContain(part.slice(at, at + 8));
    }),
  );
});

test('other text stays as it is', () => {
  expect(withoutTokens('Token was previously used', ['destination-access-token', 'client'])).toBe(
    'Token was previously used',
  );
  expect(withoutTokens('anything', ['', ''])).toBe('anything');
});

test('foreign text is one printable line of bounded length', { tags: 'property' }, () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 500 }), (text) => {
      const clean = redacted(text, [], 100);
      expect(clean.length).toBeLessThanOrEqual(104);
      expect(clean).toMatch(/^[\x20-\x7e]*$/);
    }),
  );
});

test('a token in base64 or percent coding is a word too long to stay', () => {
  const secret = 'destination/access/token/7f3a19c2b4d8e6f0+destination';
  const base64 = Buffer.from(secret).toString('base64');
  expect(redacted(`no ${base64} no ${encodeURIComponent(secret)}`, [secret], 300)).not.toContain(base64.slice(0, 12));
});
