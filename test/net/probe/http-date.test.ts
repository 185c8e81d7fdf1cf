import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clockDifference, parseHttpDate, parseHttpHead } from '../../../src/lib/net/probe/index.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('an HTTP date', () => {
  it('is parsed in its preferred form', () => {
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')?.toISOString()).toBe('1994-11-06T08:49:37.000Z');
  });

  it('is every UTC text of a JavaScript date with a year of four digits', { tags: 'property' }, () => {
    const dates = fc.date({
      min: new Date('0100-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(dates, (date) => {
        const whole = new Date(Math.floor(date.getTime() / 1000) * 1000);
        expect(parseHttpDate(whole.toUTCString())?.getTime()).toBe(whole.getTime());
      }),
    );
  });

  it.each([
    ['the obsolete form of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['the form of asctime', 'Sun Nov  6 08:49:37 1994'],
    ['a day of the week that does not belong to it', 'Mon, 06 Nov 1994 08:49:37 GMT'],
    ['a day that the month does not have', 'Thu, 31 Feb 2026 08:49:37 GMT'],
    ['an hour that no day has', 'Sun, 06 Nov 1994 24:49:37 GMT'],
    ['another zone', 'Sun, 06 Nov 1994 08:49:37 CET'],
    ['nothing', ''],
  ])('is not parsed from %s', (_, text) => void expect(parseHttpDate(text)).toBeNull());

  it('is never a wrong date, and never throws, whatever the text', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        const date = parseHttpDate(text);
        expect(date === null || date.toUTCString() === text).toBe(true);
      }),
    );
  });
});

describe('the head of an HTTP answer', () => {
  it('has a status and headers by name in lower case, the first of each', () => {
    const head = parseHttpHead(
      bytes('HTTP/1.1 403 Forbidden\r\nDate: a\r\nDATE: b\r\nx-y:\t c \r\n no header\r\n\r\nbody'),
    );
    expect(head).toEqual({
      status: 403,
      headers: new Map([
        ['date', 'a'],
        ['x-y', 'c'],
      ]),
    });
  });

  it('is unfinished at every cut before the empty line', () => {
    const text = 'HTTP/1.1 204 No Content\r\nDate: a\r\n\r\n';
    for (let length = 0; length < text.length; length += 1) {
      expect(parseHttpHead(bytes(text.slice(0, length)))).toBe('unfinished');
    }
    expect(parseHttpHead(bytes(text))).toMatchObject({ status: 204 });
  });

  it.each(['SSH-2.0-OpenSSH', 'HTTP/2 200\r\n\r\n', 'HTTP/1.1 20\r\n\r\n', '\r\n\r\n', '\u0016\u0003\u0001'])(
    'is not parsed from %j',
    (text) => void expect(parseHttpHead(bytes(text))).toBeNull(),
  );

  it('is rejected after 32 KiB without an end', () => {
    expect(parseHttpHead(bytes(`HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(10_000)}`))).toBeNull();
  });

  it('is parsed from any bytes without a throw', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (tail) => {
        const head = parseHttpHead(Buffer.concat([bytes('HTTP/1.1 200 OK\r\n'), tail]));
        if (head !== null && head !== 'unfinished') expect(head.status).toBe(200);
      }),
    );
  });
});

describe('the offset between two clocks', () => {
  it('is computed between the middle of the second of the date and the middle of the round trip', () => {
    expect(clockDifference(new Date(10_000), 10_400, 200)).toEqual({ behindMs: 0, uncertainMs: 600 });
    expect(clockDifference(new Date(70_000), 10_400, 200)).toEqual({ behindMs: 60_000, uncertainMs: 600 });
  });

  it('is within its stated uncertainty, whenever during the round trip the server wrote the date', {
    tags: 'property',
  }, () => {
    const way = fc.record({
      sentAtMs: fc.integer({ min: 0, max: 2 ** 40 }),
      wayMs: fc.integer({ min: 0, max: 10_000 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      offMs: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    });
    fc.assert(
      fc.property(way, ({ sentAtMs, wayMs, part, offMs }) => {
        const serverMs = sentAtMs + part * wayMs + offMs;
        const date = new Date(Math.floor(serverMs / 1000) * 1000);
        const { behindMs, uncertainMs } = clockDifference(date, sentAtMs, wayMs);
        expect(Math.abs(behindMs - offMs)).toBeLessThanOrEqual(uncertainMs + 1);
      }),
    );
  });
});
