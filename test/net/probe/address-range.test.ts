import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostsOfRange, isInRange } from '../../../src/lib/net/probe/index.ts';

describe('the host addresses of a range', () => {
  it.each([
    ['192.0.2.0/30', ['192.0.2.1', '192.0.2.2']],
    ['192.0.2.9/30', ['192.0.2.9', '192.0.2.10']],
    ['192.0.2.8/31', ['192.0.2.8', '192.0.2.9']],
    ['192.0.2.8/32', ['192.0.2.8']],
    ['255.255.255.252/30', ['255.255.255.253', '255.255.255.254']],
  ])('%s are %j', (range, hosts) => expect(hostsOfRange(range, 254)).toEqual(hosts));

  it.each(['2001:db8::/126', '192.0.2.0/23', '0.0.0.0/0', 'robot.local', '', '192.0.2.0'])(
    'of %s are not counted',
    (range) => expect(hostsOfRange(range, 254)).toBeNull(),
  );

  it('lie in the range, each once, at most as many as asked for', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), fc.integer({ min: 0, max: 300 }), (base, bits, max) => {
        const range = `${base}/${bits}`;
        const hosts = hostsOfRange(range, max);
        if (hosts === null) return;
        expect(hosts.length).toBeLessThanOrEqual(max);
        expect(new Set(hosts).size).toBe(hosts.length);
        for (const host of hosts) expect(isInRange(host, range)).toBe(true);
      }),
    );
  });
});
