import { GwError } from '../../error/index.ts';
import type { Site } from '../../site/index.ts';

/** The `fleet` section of the site file. Throws SITE_FILE_INVALID without one. */
export function fleetOf({ path, fleet }: Site): NonNullable<Site['fleet']> {
  if (fleet !== undefined) return fleet;
  throw new GwError('SITE_FILE_INVALID', `No \`fleet:\` section in ${path}.`, {
    remedy:
      'Add `fleet:` with the line `keyFile: secrets/heartbeat`; `gw heartbeat key new` makes the key. To listen without a key: gw heartbeat sniff --no-key',
  });
}
