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

/** An address in one spelling: an IPv4-mapped IPv6 address as the IPv4 address, no zone; other text as it is. */
export function plainAddress(address: string): string {
  const text = address.replace(/%.*$/, '');
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : address;
}

/** The host addresses of an IPv4 range, in order, without those of network and broadcast; null: IPv6, or more than `max`. */
export function hostsOfRange(range: string, max: number): string[] | null {
  if (!ipaddr.isValidCIDR(range)) return null;
  const [base, bits] = ipaddr.parseCIDR(range);
  if (base.kind() !== 'ipv4' || bits < 1) return null;
  const size = 2 ** (32 - bits);
  const edges = size > 2 ? 1 : 0;
  if (size - 2 * edges > max) return null;
  const first = Buffer.from(ipaddr.IPv4.networkAddressFromCIDR(range).toByteArray()).readUInt32BE();
  return Array.from({ length: size - 2 * edges }, (_, at) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(first + edges + at);
    return bytes.join('.');
  });
}
