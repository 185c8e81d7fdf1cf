import ipaddr from 'ipaddr.js';

/**
 * Whether an address lies in a range such as `192.0.2.0/28`; an IPv4-mapped IPv6 address counts as the IPv4
 * address. Null when one of them is not an address, such as a host name.
 */
export function isInRange(address: string, range: string): boolean | null {
  if (!ipaddr.isValid(address) || !ipaddr.isValidCIDR(range)) return null;
  const [base, bits] = ipaddr.parseCIDR(range);
  const one = ipaddr.process(address);
  return one.kind() === base.kind() && one.match(base, bits);
}
