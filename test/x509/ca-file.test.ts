import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCaCertificates } from '../../src/lib/x509/index.ts';
import { runs } from '../properties.ts';
import { caFileCases, root } from './ca-files.ts';

const read = (content: string | Buffer) => readCaCertificates(Buffer.from(content as string));

describe('a CA file', () => {
  it.each(caFileCases)('$name', ({ bytes, count, says }) => {
    const found = read(bytes);
    expect(found.ok ? found.certificates.length : null).toBe(count);
    if (says) expect(found.ok ? found.notes.join() : found.problem).toMatch(says);
    if (!found.ok) return;
    expect(read(found.pem)).toMatchObject({ ok: true, pem: found.pem, notes: [] });
  });

  it('never throws, and what it holds is read again as the same', { tags: 'property' }, () => {
    const parts = fc.array(
      fc.oneof(
        fc.constantFrom(...caFileCases.map(({ bytes }) => Buffer.from(bytes as string))),
        fc
          .constantFrom('-----BEGIN ', '-----END ', 'CERTIFICATE-----', '\n', '\r', '#')
          .map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(parts, fc.nat(), fc.nat(255), (chunks, at, byte) => {
        const bytes = Buffer.concat(chunks);
        if (bytes.length > 0) bytes[at % bytes.length] = byte;
        const found = readCaCertificates(bytes);
        if (found.ok) expect(read(found.pem)).toMatchObject({ ok: true, pem: found.pem });
        else expect(found.problem).not.toBe('');
      }),
      { numRuns: runs(500) },
    );
  });

  it('holds the same with any text around its blocks', { tags: 'property' }, () => {
    const text = fc.string().map((line) => line.replaceAll('-', ' '));
    fc.assert(
      fc.property(text, text, fc.constantFrom('\n', '\r\n', '\r'), (before, after, end) => {
        const content = `${before}${end}${root.caPem.replaceAll('\n', end)}${after}`;
        expect(read(content)).toMatchObject({ ok: true, pem: root.caPem });
      }),
      { numRuns: runs(200) },
    );
  });

  it('is read in time with the size of the file, whatever it holds', () => {
    const opens = read('-----BEGIN CERTIFICATE-----\n'.repeat(30_000));
    expect(opens).toMatchObject({ ok: false });
  });
});
