import { describe, expect, it } from 'vitest';
import { isInRange, parseConnectionInfo } from '../../../src/lib/net/probe/index.ts';

describe('the output of ss', () => {
  it('contains the path MTU', () => {
    const text =
      'ESTAB 0      0      127.0.0.1:44436 127.0.0.1:35577\n\t bbr wscale:10,10 rto:204 rtt:12.037/0.018 mss:1348 pmtu:1400 rcvmss:536 advmss:1448 minrtt:0.037\n';
    expect(parseConnectionInfo(text)).toEqual({ pathMtuBytes: 1400 });
  });

  it('has no path MTU (null) where ss shows none', () => {
    expect(parseConnectionInfo('')).toEqual({ pathMtuBytes: null });
    expect(parseConnectionInfo('rcvmss:536 advmss:1448 xpmtu:7 pmtu: pmtu:x rtt:1')).toEqual({ pathMtuBytes: null });
  });
});

describe('an address range', () => {
  it('contains its addresses, also in their IPv6 spelling, and no others', () => {
    expect(isInRange('192.0.2.1', '192.0.2.0/28')).toBe(true);
    expect(isInRange('::ffff:192.0.2.1', '192.0.2.0/28')).toBe(true);
    expect(isInRange('192.0.2.16', '192.0.2.0/28')).toBe(false);
    expect(isInRange('2001:db8::7', '2001:db8::/64')).toBe(true);
    expect(isInRange('192.0.2.1', '2001:db8::/64')).toBe(false);
  });

  it('is null for names', () => {
    expect(isInRange('robot.local', '192.0.2.0/28')).toBeNull();
    expect(isInRange('192.0.2.1', 'somewhere')).toBeNull();
  });
});
