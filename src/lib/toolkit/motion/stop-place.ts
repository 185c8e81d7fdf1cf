import { asGwError } from '../../error/index.ts';
import { systemClock } from '../../lifecycle/index.ts';
import { directDialer, type Ssh } from '../../net/index.ts';
import { chassisAccess } from '../chassis/access.ts';
import type { StopPlace } from './stop.ts';

/** @source specification, 'Operator server' */
const DEFAULT_PORT = 5173;

export interface StopPlaceOptions {
  readonly sitePath: string;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/**
 * Target of a stop, from the site file if there is one: a missing or invalid file must not prevent a stop. `trouble`:
 * why it was not used.
 */
export async function openStopPlace(
  { sitePath, host, port }: StopPlaceOptions,
  ssh?: Ssh,
): Promise<{ readonly place: StopPlace; readonly trouble: string | null }> {
  const ways = { clock: systemClock, dialer: ssh?.dialer ?? directDialer, ssh, host };
  try {
    const { loadSite } = await import('../../site/index.ts');
    const site = await loadSite(sitePath);
    const { operator, stateDir } = site;
    const chassis = await chassisAccess({ site, ...ways }).catch(() => null);
    return {
      place: { ...ways, port: port ?? operator.port, stateDir, chassis, robot: site.chassis.serial },
      trouble: null,
    };
  } catch (error) {
    return {
      place: { ...ways, port: port ?? DEFAULT_PORT, stateDir: null, chassis: null, robot: null },
      trouble: asGwError(error).message,
    };
  }
}
