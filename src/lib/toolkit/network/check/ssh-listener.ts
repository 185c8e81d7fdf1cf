import { isIP } from 'node:net';
import { isLoopback } from '../../../net/index.ts';
import { isInRange } from '../../../net/probe/index.ts';
import type { Site } from '../../../site/index.ts';

/** Addresses of this machine in the robot segment, and their source; null: unknown. */
export type RobotAddresses = { readonly addresses: readonly string[]; readonly by: string } | null;

/**
 * The addresses of this machine in the robot segment: from the site file, else the local address of a connection to the
 * chassis, since the chassis is in that segment.
 */
export function robotAddresses(
  { network }: Pick<Site, 'network'>,
  own: readonly string[],
  towardsChassis: string | null,
): RobotAddresses {
  const { gateway, robotSegment } = network;
  if (gateway !== undefined && isIP(gateway) !== 0 && !isLoopback(gateway)) {
    return { addresses: [gateway], by: 'network.gateway' };
  }
  if (robotSegment !== undefined) {
    const inside = own.filter((address) => !isLoopback(address) && isInRange(address, robotSegment) === true);
    return inside.length > 0 ? { addresses: inside, by: 'network.robotSegment' } : null;
  }
  if (towardsChassis === null || isLoopback(towardsChassis)) return null;
  return { addresses: [towardsChassis], by: 'the connection to the chassis' };
}

export interface SshPlace {
  readonly verdict: 'ok' | 'wrong' | 'not-checked';
  readonly why: string;
}

const ANY = new Set(['0.0.0.0', '::']);

/**
 * Whether SSH may listen on an address. @source specification, 'Cloud and other network paths': SSH, robot segment only
 */
export function judgeSshAddress(address: string, robot: RobotAddresses): SshPlace {
  if (isLoopback(address)) return { verdict: 'ok', why: 'not reachable from other machines' };
  if (ANY.has(address)) {
    return { verdict: 'wrong', why: 'SSH listens on every interface, including those outside the robot segment' };
  }
  if (robot === null) {
    return { verdict: 'not-checked', why: 'the address in the robot segment is unknown: set network.gateway' };
  }
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (robot.addresses.includes(plain)) {
    return { verdict: 'ok', why: `SSH, for commissioning: the address in the robot segment by ${robot.by}` };
  }
  if (!robot.addresses.some((one) => isIP(one) === isIP(plain))) {
    return {
      verdict: 'not-checked',
      why: `no IPv${isIP(plain)} address of this machine in the robot segment is known`,
    };
  }
  return {
    verdict: 'wrong',
    why: `SSH listens on ${address}; the address in the robot segment is ${robot.addresses.join(', ')}`,
  };
}
