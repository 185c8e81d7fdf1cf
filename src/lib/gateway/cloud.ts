import type { ChassisLink } from '../chassis/index.ts';
import type { Cloud, CloudOptions } from '../cloud/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import type { Motion } from '../motion/index.ts';
import { directDialer } from '../net/index.ts';
import type { GatewayHealth } from '../operator/index.ts';
import type { Site } from '../site/index.ts';
import { faultsOf, shadowOf, telemetryOf } from './cloud-state/index.ts';
import { createIdentityReader } from './identity.ts';

export interface CloudParts extends Pick<CloudOptions, 'launched' | 'version' | 'restart'> {
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
  const { link, motion, health, log, version } = parts;
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
    },
    onTunnelNotification({ services }) {
      log.warn({ audit: true, services }, 'tunnel notification refused: this version has no remote-support tunnel');
    },
    telemetry: () => telemetryOf(sources()),
    faults: () => faultsOf(sources()).present,
    uncheckedFaults: () => faultsOf(sources()).unchecked,
    shadow() {
      const { link: cloudLink, release } = cloud.view();
      return shadowOf({ version, site, ...sources(), link: cloudLink, release });
    },
    isMoving: () => isMoving(link, motion),
    releaseHealth() {
      const missing = [
        ...health()
          .services.filter(({ name, status }) => name !== cloud.name && status !== 'running')
          .map(({ name, status }) => `${name} is ${status}`),
        ...(link.snapshot().link.kind === 'connected' ? [] : ['the chassis is not connected']),
        ...(cloud.view().status === 'connected' ? [] : ['the cloud is not connected']),
      ];
      return { isHealthy: missing.length === 0, missing: missing.length === 0 ? null : `${missing.join(', ')}.` };
    },
  });
  return cloud;
}

/** Whether the robot moves by its own report, or by an activity of gw; null: not known. */
function isMoving(link: ChassisLink, motion: Motion): boolean | null {
  const { tour, drive, trial, unownedMove } = motion.status();
  if (tour?.state === 'running' || drive?.state === 'running' || trial !== null || unownedMove !== null) return true;
  const { link: state, values } = link.snapshot();
  const { planning } = values;
  if (state.kind !== 'connected' || planning.status !== 'received' || planning.stale) return null;
  return planning.value.moveState === 'moving';
}
