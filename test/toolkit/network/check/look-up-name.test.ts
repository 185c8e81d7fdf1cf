import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lookUpName, parseAddresses } from '../../../../src/lib/toolkit/network/check/look-up-name.ts';
import { forAll } from '../../kit.ts';

describe('the name server of this machine', () => {
  it('is queried through the C library', async () => {
    const addresses = (await lookUpName('localhost', 'any', 60_000)).map(({ address }) => address);
    expect(addresses.length).toBeGreaterThan(0);
    for (const address of addresses) expect(['127.0.0.1', '::1']).toContain(address);
    expect(await lookUpName('localhost', 'AAAA', 60_000)).toEqual([]);
  });

  it('lists each address several times, and it counts once', () => {
    const text = '127.0.0.1       STREAM localhost\n127.0.0.1       DGRAM  \n::1             STREAM \nnonsense\n\n';
    expect(parseAddresses(text)).toEqual(['127.0.0.1', '::1']);
  });

  it('is parsed from any output without a throw, and yields addresses only', { tags: 'property' }, () => {
    forAll(fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string())), (words) => {
      const addresses = parseAddresses(words.join('\n'));
      expect(addresses.every((address) => isIP(address) !== 0)).toBe(true);
      expect(new Set(addresses).size).toBe(addresses.length);
    });
  });
});
