import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { decodeIncident } from '../../src/lib/incident/decode.ts';
import { encodeIncident } from '../../src/lib/incident/incident-file.ts';
import { sampleBody, sampleHead } from './incidents.ts';

const [head, body] = [sampleHead, sampleBody];
const text = encodeIncident(head, body);

describe('the file of an incident', () => {
  it('is read as it was written', () => {
    const { sha256, ...read } = decodeIncident(Buffer.from(text), 'x');
    expect(read).toEqual({ head, body });
    expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has the sum that coreutils compute', () => {
    const lines = text.split('\n');
    const sum = execFileSync('sha256sum', { input: `${lines.slice(0, 2).join('\n')}\n`, encoding: 'utf8' });
    expect(sum.slice(0, 64)).toBe(lines[2]);
  });

  it('with one byte changed is never read', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const bytes = Buffer.from(text);
        bytes[at] = (bytes[at] as number) ^ change;
        expect(() => decodeIncident(bytes, 'x')).toThrow(GwError);
      }),
    );
  });

  it('cut at any byte is never read', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.nat(text.length - 1), (length) => {
        expect(() => decodeIncident(Buffer.from(text).subarray(0, length), 'x')).toThrow(GwError);
      }),
    );
  });

  it('of any bytes is an error that names it', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(() => decodeIncident(bytes, 'dump.bin')).toThrow(/dump\.bin.* is no incident of gw/);
      }),
    );
  });

  it('of other data with a sound sum names what is wrong', () => {
    const other = encodeIncident({ ...head, id: 'seven' } as never, body);
    expect(() => decodeIncident(Buffer.from(other), 'x')).toThrow(/line 1 is no incident of gw: "id"/);
  });
});
