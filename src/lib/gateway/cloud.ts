import type { ChassisLink } from '../chassis/index.ts';
import type { Cloud, CloudOptions } from '../cloud/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Motion } from '../motion/index.ts';
import { directDialer } from '../net/index.ts';
import type { GatewayHealth } from '../operator/index.ts';
import type { Site } from '../site/index.ts';
import { isMoving, releaseHealth } from './cloud-robot.ts';
import { faultsOf, shadowOf, telemetryOf } from './cloud-state/index.ts';
import { createIdentityReader } from './identity.ts';

export interface CloudParts extends Pick<CloudOptions, 'launched' | 'version' | 'restart' | 'onTunnelNotification'> {
  readonly link: ChassisLink;
  readonly motion: Motion;
  readonly health: () => GatewayHealth;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The cloud module with the functions through which it sees and stops this robot; null for a site file without `cloud`.
 * The module is loaded only if used.
 */
export async function openCloud(site: Site, parts: CloudParts): Promise<Cloud | null> {
  const { link, motion, health, version } = parts;
  const { cloud: config } = site;
  if (config === undefined) return null;
  const { createCloud } = await import('../cloud/index.ts');
  const sources = () => ({ snapshot: link.snapshot(), motion: motion.status(), health: health() });
  const cloud: Cloud = createCloud({
    ...parts,
    site: { ...site, cloud: config },
    readIdentity: createIdentityReader(site),
    dialer: directDialer,
    onStop({ reason, by }) {
      void motion.stopRobot(reason ?? 'Stop from the cloud', by === undefined ? 'cloud' : `cloud, ${by}`);
      return motion.untilStopSaved();
    },
    telemetry: () => telemetryOf(sources()),
    faults: () => faultsOf(sources()),
    shadow() {
      const { link: cloudLink, release } = cloud.view();
      return shadowOf({ version, site, ...sources(), link: cloudLink, release });
    },
    isMoving: () => isMoving(link, motion),
    releaseHealth: () =>
      releaseHealth({
        services: health().services,
        cloudName: cloud.name,
        isChassisConnected: link.snapshot().link.kind === 'connected',
        isCloudConnected: cloud.view().status === 'connected',
      }),
  });
  return cloud;
}
