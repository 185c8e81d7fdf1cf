import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proxyExits } from '../../../src/lib/tunnel/model.ts';
import type { ProxyEvent } from '../../../src/lib/tunnel/proxy.result.ts';
import { createLineReader, MAX_LINE_BYTES, parseProxyEvent } from '../../../src/lib/tunnel/session/proxy-events.ts';
import { runs } from '../../properties.ts';

const counts = { event: 'counts', open: 1, connections: 2, bytesIn: 300, bytesOut: 4_000_000_000 } as const;

describe('an event of the proxy', () => {
  it.each<ProxyEvent>([
    { event: 'connected', channelId: 'ch-1', localAddress: '127.0.0.1' },
    { event: 'connected', channelId: null, localAddress: 'fe80::1%eth0' },
    { event: 'services', services: ['web', 'a:b'] },
    { event: 'services', services: [] },
    { event: 'lost', detail: 'connection reset' },
    counts,
    { event: 'ended', exit: 'network-lost', detail: '' },
  ])('%j is read as it was written', (event) => void expect(parseProxyEvent(JSON.stringify(event))).toEqual(event));

  it('has no field that is not known', () => {
    expect(parseProxyEvent(JSON.stringify({ ...counts, token: 'x' }))).toEqual(counts);
  });

  it.each([
    'null',
    '[]',
    '{}',
    '"connected"',
    '{"event":"connected"}',
    '{"event":"connected","channelId":"a b","localAddress":"::1"}',
    '{"event":"connected","channelId":"a\\nb","localAddress":"::1"}',
    `{"event":"connected","channelId":"${'a'.repeat(257)}","localAddress":"::1"}`,
    '{"event":"connected","channelId":null,"localAddress":"<script>"}',
    '{"event":"services","services":["a","b","c","d"]}',
    '{"event":"services","services":[1]}',
    '{"event":"services","services":"web"}',
    '{"event":"counts","open":2,"connections":1,"bytesIn":0,"bytesOut":0}',
    '{"event":"counts","open":0,"connections":1.5,"bytesIn":0,"bytesOut":0}',
    '{"event":"counts","open":0,"connections":1,"bytesIn":-1,"bytesOut":0}',
    '{"event":"counts","open":0,"connections":1,"bytesIn":1e400,"bytesOut":0}',
    '{"event":"ended","exit":"constructor","detail":""}',
    '{"event":"ended","exit":0,"detail":""}',
    '{"event":"ended","exit":"closed"}',
    '{"event":"started"}',
    '{"event":"lost","detail":"x"',
  ])('%s is none', (line) => void expect(parseProxyEvent(line)).toBeNull());

  it('keeps one line of bounded length of a text', () => {
    const detail = `status 400\r\n\u001b[31m2026-01-31 ended by someone\u202e ${'x'.repeat(2_000)}`;
    const event = parseProxyEvent(JSON.stringify({ event: 'lost', detail }));
    expect(event).toMatchObject({ event: 'lost', detail: expect.stringMatching(/^status 400 \[31m2026[ -~]{400,}…$/) });
  });

  it('is never made of other bytes, and never throws (property)', { tags: 'property' }, () => {
    const anyField = fc.dictionary(
      fc.constantFrom('event', 'channelId', 'localAddress', 'services', 'detail', 'exit', 'open', 'connections'),
      fc.oneof(fc.constantFrom('connected', 'ended', 'counts', ...Object.keys(proxyExits)), fc.jsonValue()),
    );
    const fields = anyField.map((all) => JSON.stringify(all));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fields), (line) => {
        const event = parseProxyEvent(line);
        if (event === null) return;
        expect(parseProxyEvent(JSON.stringify(event))).toEqual(event);
        expect(JSON.stringify(event).length).toBeLessThan(2_000);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe('the lines of the proxy', () => {
  const linesOf = (chunks: readonly Uint8Array[]) => {
    const lines: (string | null)[] = [];
    const reader = createLineReader((line) => lines.push(line));
    for (const chunk of chunks) reader.push(chunk);
    return lines;
  };

  it('are the same, however their bytes arrive (property)', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(50)), (texts, cuts) => {
        const lines = texts.map((text) => text.replaceAll('\n', ' ')).filter((text) => text !== '');
        let rest: Uint8Array = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const chunks = [
          ...cuts.map((cut) => {
            const chunk = rest.subarray(0, cut);
            rest = rest.subarray(cut);
            return chunk;
          }),
          rest,
        ];
        expect(linesOf(chunks)).toEqual(lines.map((line) => Buffer.from(line).toString()));
      }),
    );
  });

  it('end without a newline are no lines', () => void expect(linesOf([Buffer.from('{"event":')])).toEqual([]));

  it('that are too long are skipped to their end, and nothing of them is kept', () => {
    const long = Buffer.alloc(MAX_LINE_BYTES, 'x');
    expect(linesOf([long, Buffer.from('\na\n')])).toEqual([long.toString(), 'a']);
    expect(linesOf([long, Buffer.from('x'), long, Buffer.from('\na\n')])).toEqual([null, 'a']);
  });

  it('that are not UTF-8 are none', () => {
    expect(linesOf([Uint8Array.of(0x61, 0xff, 0x0a, 0x62, 0x0a)])).toEqual([null, 'b']);
  });
});
