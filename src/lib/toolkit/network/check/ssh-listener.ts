import { isIP } from 'node:net';
import { isLoopback } from '../../../net/index.ts';
import { isInRange } from '../../../net/probe/index.ts';
import type { Site } from '../../../site/index.ts';

/** Addresses of this machine in the robot segment, and how they are known; null: not known. */
export type RobotAddresses = { readonly addresses: readonly string[]; readonly by: string } | null;

/**
 * Which addresses of this machine are in the robot segment: what the site file says, or else the one that a connection
 * to the chassis left from, since the chassis is in that segment.
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
  if (isLoopback(address)) return { verdict: 'ok', why: 'no other machine reaches it' };
  if (ANY.has(address)) {
    return { verdict: 'wrong', why: 'SSH answers on every interface, also on those outside the robot segment' };
  }
  if (robot === null) {
    return { verdict: 'not-checked', why: 'which address is in the robot segment is not known: set network.gateway' };
  }
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (robot.addresses.includes(plain)) {
    return { verdict: 'ok', why: `SSH, for commissioning: the address in the robot segment by ${robot.by}` };
  }
  if (!robot.addresses.some((one) => isIP(one) === isIP(plain))) {
    return { verdict: 'not-checked', why: `no IPv${isIP(plain)} address of the robot segment is known` };
  }
  return {
    verdict: 'wrong',
    why: `SSH answers on ${address}, and the robot segment has ${robot.addresses.join(', ')}`,
  };
}
