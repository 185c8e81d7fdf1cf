import type { ChassisLink } from '../chassis/index.ts';
import type { CloudOptions } from '../cloud/index.ts';
import type { Motion } from '../motion/index.ts';
import type { GatewayHealth } from '../operator/index.ts';
import { robotMoves } from './robot-moves.ts';

/** Whether the robot moves by its poses or its own report, or by an activity of gw; null: not known. */
export function isMoving(link: Pick<ChassisLink, 'snapshot'>, motion: Pick<Motion, 'status'>): boolean | null {
  const { tour, drive, trial, unownedMove } = motion.status();
  if (tour?.state === 'running' || drive?.state === 'running' || trial !== null || unownedMove !== null) return true;
  return robotMoves(link.snapshot());
}

/** What a new version must have to be confirmed: every service but the cloud's, the chassis link, and the cloud link. */
export function releaseHealth(parts: {
  readonly services: GatewayHealth['services'];
  /** Name of the cloud service, which is judged by its connection. */
  readonly cloudName: string;
  readonly isChassisConnected: boolean;
  readonly isCloudConnected: boolean;
}): ReturnType<CloudOptions['releaseHealth']> {
  const missing = [
    ...parts.services
      .filter(({ name, status }) => name !== parts.cloudName && status !== 'running')
      .map(({ name, status }) => `${name} is ${status}`),
    ...(parts.isChassisConnected ? [] : ['the chassis is not connected']),
    ...(parts.isCloudConnected ? [] : ['the cloud is not connected']),
  ];
  return missing.length === 0
    ? { isHealthy: true, missing: null }
    : { isHealthy: false, missing: `${missing.join(', ')}.` };
}
