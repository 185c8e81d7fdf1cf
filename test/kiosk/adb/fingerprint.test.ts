import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyFingerprint } from '../../../src/lib/kiosk/index.ts';

describe('the fingerprint of an ADB key', () => {
  it('is the MD5 of the key in uppercase pairs, without its comment', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 524, maxLength: 524 }), (key) => {
        const expected = createHash('md5').update(key).digest('hex').toUpperCase();
        const shown = keyFingerprint(`${Buffer.from(key).toString('base64')} someone@host\n`);
        expect(shown?.replaceAll(':', '')).toBe(expected);
        expect(shown).toMatch(/^([0-9A-F]{2}:){15}[0-9A-F]{2}$/);
      }),
    );
  });

  it('is null for text that is not a key', { tags: 'property' }, () => {
    fc.assert(fc.property(fc.string({ maxLength: 99 }), (text) => void expect(keyFingerprint(text)).toBeNull()));
  });
});
