import { BlockList, isIP } from 'node:net';
import { writtenHost } from './called-services.ts';

/** Addresses of the machine itself; IPv4 also in its IPv4-mapped form. */
const own = new BlockList();
own.addSubnet('127.0.0.0', 8, 'ipv4');
// The kernel connects the unspecified addresses to the machine itself.
own.addAddress('0.0.0.0', 'ipv4');
own.addAddress('::', 'ipv6');
own.addAddress('::1', 'ipv6');
// IPv4-compatible form, deprecated and still parsed.
own.addSubnet('::7f00:0', 104, 'ipv6');

/** @source RFC 6761, 6.3, and the names that Debian and Fedora write into /etc/hosts */
const ownNames =
  /^(?:(?:.+\.)?localhost|localhost\.localdomain|localhost[46](?:\.localdomain[46])?|ip6-(?:localhost|loopback))$/;

/** Whether a host name or address, in any spelling, is this machine. Makes no DNS query. */
export function isThisMachine(host: string): boolean {
  const name = writtenHost(host);
  const family = isIP(name);
  return family === 0 ? ownNames.test(name) : own.check(name, family === 4 ? 'ipv4' : 'ipv6');
}
