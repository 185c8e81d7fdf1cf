import fc from 'fast-check';
import { expect, it } from 'vitest';
import { otherFormat } from '../../src/lib/json/index.ts';

it('is the format of the same kind with another number, and nothing else', () => {
  expect(otherFormat({ format: 'gw/stop-latch/2' }, 'gw/stop-latch/1')).toBe('gw/stop-latch/2');
  expect(otherFormat({ schema: 'gw/release-state/9' }, 'gw/release-state/1')).toBe('gw/release-state/9');
  for (const value of [{ format: 'gw/stop-latch/1' }, { format: 'gw/tablet/2' }, {}, null, [], 'gw/stop-latch/2']) {
    expect(otherFormat(value, 'gw/stop-latch/1')).toBeNull();
  }
});

it('is decided for any value', { tags: 'property' }, () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('gw/a/1', 'gw/a/2', 'gw/a/2\n', 'gw/A/2', 'gw/b/2'));
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.record({ format: text }), fc.record({ schema: text })), (value) => {
      expect([null, 'gw/a/2']).toContain(otherFormat(value, 'gw/a/1'));
    }),
  );
});
