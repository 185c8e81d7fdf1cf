import ipaddr from 'ipaddr.js';

/**
 * Whether an address lies in a range such as `192.0.2.0/28`; an IPv4 address in its IPv6 spelling counts as the IPv4
 * address. Null when one of the two is neither, as a host name is.
 */
export function isInRange(address: string, range: string): boolean | null {
  if (!ipaddr.isValid(address) || !ipaddr.isValidCIDR(range)) return null;
  const [base, bits] = ipaddr.parseCIDR(range);
  const one = ipaddr.process(address);
  return one.kind() === base.kind() && one.match(base, bits);
}
