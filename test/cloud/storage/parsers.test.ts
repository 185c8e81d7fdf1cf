import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { signedHeaders, storageAddress } from '../../../src/lib/cloud/storage/address.ts';
import { parseContentRange } from '../../../src/lib/cloud/storage/download.ts';
import { GwError } from '../../../src/lib/error/index.ts';

describe('Content-Range', () => {
  const range = fc
    .tuple(fc.nat(1e9), fc.nat(1e9), fc.nat(1e9))
    .map(([first, more, rest]) => ({ first, last: first + more, total: first + more + rest + 1 }));

  it('reads every valid one', { tags: 'property' }, () => {
    fc.assert(
      fc.property(range, fc.boolean(), ({ first, last, total }, isKnown) => {
        const parsed = parseContentRange(`bytes ${first}-${last}/${isKnown ? total : '*'}`);
        expect(parsed).toEqual({ first, last, total: isKnown ? total : null });
      }),
    );
  });

  it('returns only a range within its file, for any text', { tags: 'property' }, () => {
    const part = fc.oneof(fc.nat().map(String), fc.constantFrom('*', '-', '', '1e3', '0x10', ' 1', '9'.repeat(20)));
    const text = fc.oneof(
      fc.string(),
      fc
        .tuple(fc.constantFrom('bytes', 'items', 'Bytes'), part, part, part)
        .map(([u, a, b, c]) => `${u} ${a}-${b}/${c}`),
    );
    fc.assert(
      fc.property(text, (header) => {
        const parsed = parseContentRange(header);
        if (parsed === null) return;
        expect(Number.isSafeInteger(parsed.first) && Number.isSafeInteger(parsed.last)).toBe(true);
        expect(parsed.first).toBeLessThanOrEqual(parsed.last);
        if (parsed.total !== null) expect(parsed.last).toBeLessThan(parsed.total);
      }),
    );
  });

  it.each([
    undefined,
    '',
    'bytes */300',
    'bytes 0-9',
    'bytes 9-0/300',
    'bytes 0-300/300',
    'items 0-9/300',
    'bytes 0-9/300, 1',
  ])('rejects %s', (header) => expect(parseContentRange(header)).toBeNull());
});

describe('a pre-signed URL', () => {
  const storageUrl = 'https://storage.example.com/robots';
  const limit = { method: 'PUT', storageUrl } as const;

  it('is accepted only below cloud.storageUrl, and no error shows its query', { tags: 'property' }, () => {
    const secret = 'c0ffee5ec2e7c0ffee';
    const url = fc
      .tuple(
        fc.constantFrom('https://', 'http://', 'HTTPS://', 'wss://', 'https:/', 'https:\\\\', ''),
        fc.oneof(
          fc.constantFrom(
            'storage.example.com',
            'STORAGE.example.com',
            'storage.example.com.evil.test',
            'a@storage.example.com',
          ),
          fc.domain(),
        ),
        fc.constantFrom('', ':443', ':444', ':0', ':99999'),
        fc.constantFrom('/robots/x', '/robots', '/robotsx', '/robots/../x', '/robots/%2e%2e/x', '//robots/x', '/', ''),
      )
      .map(([scheme, host, port, path]) => `${scheme}${host}${port}${path}?X-Signature=${secret}`);
    fc.assert(
      fc.property(url, (text) => {
        try {
          const { origin, target, tried } = storageAddress(text, limit);
          expect(origin).toBe('https://storage.example.com');
          expect(target.startsWith('/robots/')).toBe(true);
          expect(new URL(`${origin}${target}`).pathname.startsWith('/robots/')).toBe(true);
          expect(JSON.stringify(tried)).not.toContain(secret);
        } catch (error) {
          if (!(error instanceof GwError)) throw error;
          expect(error.code).toBe('STORAGE_REFUSED');
          expect(`${error.message}${JSON.stringify(error)}${error.stack}`).not.toContain(secret);
        }
      }),
    );
  });

  it('may be any https:// URL without cloud.storageUrl', () => {
    const { origin, tried } = storageAddress('https://[::1]:8443/a/b?q', { method: 'GET', storageUrl: undefined });
    expect(origin).toBe('https://[::1]:8443');
    expect(tried).toEqual({ address: '::1', port: 8443, action: 'GET /a/b' });
  });

  it('is refused when it is longer than gw reads', () => {
    const url = `https://storage.example.com/robots/${'x'.repeat(9_000)}`;
    expect(() => storageAddress(url, limit)).toThrow('is not a URL');
  });
});

describe('headers that the signature covers', () => {
  const tried = { address: 'storage.example.com' };

  it('never contain a line end, and never replace those of the connection', { tags: 'property' }, () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom('Host', 'content-length', 'Transfer-Encoding', 'x-meta', 'RANGE'),
    );
    fc.assert(
      fc.property(fc.dictionary(name, fc.oneof(fc.string(), fc.constantFrom('a\r\nb: c', 'ü', 'ok'))), (headers) => {
        try {
          for (const [key, value] of Object.entries(signedHeaders(headers, tried))) {
            expect(key).toMatch(/^[!-9;-~]+$/);
            expect(['host', 'content-length', 'transfer-encoding', 'range']).not.toContain(key);
            expect(value).toMatch(/^[\t -~]*$/);
          }
        } catch (error) {
          expect(error).toMatchObject({ code: 'STORAGE_REFUSED' });
        }
      }),
    );
  });

  it('are sent in lower case', () => {
    expect(signedHeaders({ 'X-Meta-Serial': 'SN0007' }, tried)).toEqual({ 'x-meta-serial': 'SN0007' });
    expect(signedHeaders(undefined, tried)).toEqual({});
  });
});
