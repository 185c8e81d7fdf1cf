import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutQueries } from '../../../src/lib/operator/http/without-queries.ts';

describe('data without the queries of URLs', () => {
  it('has no query and no fragment, and is the same otherwise', () => {
    expect(
      withoutQueries([
        'PUT https://storage.example/maps/1.tar?X-Signature=abc failed (403)',
        { deep: ['(https://a.example/x#secret, https://b.example?y)', 'is it? yes: #1 a/b c:d'] },
        'mqtts://broker.example:8883 https://a.example/é?ü=1\nwss://b.example?z',
        ...[7, null, true],
      ]),
    ).toEqual([
      'PUT https://storage.example/maps/1.tar failed (403)',
      { deep: ['(https://a.example/x https://b.example', 'is it? yes: #1 a/b c:d'] },
      'mqtts://broker.example:8883 https://a.example/é\nwss://b.example',
      ...[7, null, true],
    ]);
  });

  it('has no secret of any URL, whatever stands around it', { tags: 'property' }, () => {
    const around = fc.oneof(fc.string(), fc.constantFrom('', ' ', 'https://', '://', 'a:', '?', '#', '\n'));
    fc.assert(
      fc.property(around, around, fc.constantFrom('?', '#'), (before, between, mark) => {
        const text = `${before}https://a.example/${between}${mark}SECRET`;
        // A query ends with white space: what follows it is none.
        fc.pre(!/\s/.test(between));
        expect(withoutQueries(text)).not.toContain('SECRET');
      }),
    );
  });

  it('looks at each letter of a long text once', { tags: 'large' }, () => {
    // For a search that begins anew at each letter these would be hours.
    for (const text of ['a'.repeat(3_000_000), 'a://'.repeat(1_000_000), 'x?y '.repeat(1_000_000)]) {
      expect(withoutQueries(text)).toBe(text);
    }
  });
});
