import type { Clock } from '../../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../../net/index.ts';
import { readSecret } from '../../site/index.ts';
import type { Toolkit } from '../toolkit.ts';

/** Connection parameters of the chassis, from the site file. */
export interface ChassisAccess {
  readonly endpoint: Endpoint;
  readonly dialer: Dialer;
  readonly expectedSerial: string;
  readonly secret: string | undefined;
  readonly clock: Clock;
}

/** Throws SECRET_UNREADABLE when the site file names a secret for the chassis that cannot be read. */
export async function chassisAccess({ site, dialer, clock }: Toolkit): Promise<ChassisAccess> {
  const { host, port, serial, secretFile } = site.chassis;
  return {
    endpoint: { host, port },
    dialer,
    expectedSerial: serial,
    secret: secretFile === undefined ? undefined : await readSecret(secretFile, 'chassis.secretFile'),
    clock,
  };
}
