import { GwError } from '../../error/index.ts';
import type { Site } from '../../site/index.ts';

/** How the site file sets the heartbeat up. Throws SITE_FILE_INVALID when it does not. */
export function fleetOf({ path, fleet }: Site): NonNullable<Site['fleet']> {
  if (fleet !== undefined) return fleet;
  throw new GwError('SITE_FILE_INVALID', `${path} sets up no heartbeat.`, {
    remedy:
      'Add `fleet:` with the line `keyFile: secrets/heartbeat`; `gw heartbeat key new` makes the key. To listen without one: gw heartbeat sniff --no-key.',
  });
}
