import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEvent } from '../../../src/lib/toolkit/operator/first-event.ts';
import { forAll } from '../kit.ts';

const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const firstEvent = (stream: string, name: string) => findEvent(name)(stream);

describe('the first event of a stream', () => {
  it('is the first of its name, whatever stands before and after it', () => {
    expect(firstEvent(`: hello\n\n${event('other', 1)}${event('state', 2)}${event('state', 3)}`, 'state')).toBe('2');
    expect(firstEvent(event('other', 1), 'state')).toBeNull();
  });

  it('is never a part of one, wherever the stream was cut', { tags: 'property' }, () => {
    const isOfWhole = (value: unknown, at: number) => {
      const whole = event('state', value);
      const cut = whole.slice(0, Math.min(at, whole.length - 1));
      expect(firstEvent(cut, 'state')).toBeNull();
      expect(firstEvent(whole, 'state')).toBe(JSON.stringify(value));
    };
    forAll(fc.jsonValue(), fc.nat(400), isOfWhole);
  });

  it('is found with its last character, in whatever parts it is received', { tags: 'property' }, () => {
    const isSame = (values: unknown[], cuts: number[]) => {
      const whole = `: hello\n\n${event('other', 1)}${values.map((value) => event('state', value)).join('')}`;
      const find = findEvent('state');
      const ends = [...new Set(cuts.map((cut) => cut % whole.length)), whole.length].sort((a, b) => a - b);
      let from = 0;
      for (const end of ends) {
        expect(find(whole.slice(from, end))).toBe(firstEvent(whole.slice(0, end), 'state'));
        from = end;
      }
      expect(find('')).toBe(values.length === 0 ? null : JSON.stringify(values[0]));
    };
    forAll(fc.array(fc.jsonValue(), { maxLength: 3 }), fc.array(fc.nat(4_000), { maxLength: 20 }), isSame);
  });

  it('is found in no foreign text, and no text makes it fail', { tags: 'property' }, () => {
    const isSafe = (text: string) => {
      const found = firstEvent(text, 'state');
      if (found !== null) expect(text).toContain('event: state');
    };
    const words = fc.constantFrom('event: state', 'event:', 'data: {}', 'data', '\n', '\n\n', '\r\n', '\u0000');
    forAll(fc.string(), isSafe);
    forAll(
      fc.array(words).map((all) => all.join('')),
      isSafe,
    );
  });
});
