import type { KeepingTrouble, StopLatch } from '../motion/index.ts';
import type { GatewayHealth } from '../operator/index.ts';

/** The health of each part of the gateway. */
export interface HealthParts extends Omit<GatewayHealth, 'status'> {
  readonly stop: Pick<StopLatch, 'saved'>;
  /** Result of the last write to the folder of the stop latch; takes precedence over the disk check. */
  readonly keepingTrouble: KeepingTrouble | null;
  /** Whether the cloud is configured and enrolled, and not connected for too long, or a stop from it is not saved. */
  readonly cloudIsDown: boolean;
  /** What does not work in the operator server. */
  readonly operatorTrouble: string | null;
}

/**
 * The health of the whole gateway: 'ok' only if every part that movement or a stop needs works, the stop from the cloud
 * included.
 */
export function gatewayHealth({
  stop,
  keepingTrouble,
  cloudIsDown,
  operatorTrouble,
  ...parts
}: HealthParts): GatewayHealth {
  const unkept = keepingTrouble && {
    status: 'unusable' as const,
    detail: keepingTrouble.reason,
    remedy: keepingTrouble.remedy,
  };
  const disk = { ...parts.disk, state: { ...parts.disk.state, ...unkept } };
  const isSound =
    parts.evidence.status === 'as-read' &&
    parts.services.every((service) => service.status === 'running') &&
    operatorTrouble === null &&
    !cloudIsDown &&
    parts.support.records !== 'failing' &&
    parts.fleet.status !== 'conflict' &&
    stop.saved !== false &&
    Object.values(disk).every(({ status }) => status === 'ok');
  return { ...parts, disk, status: isSound ? 'ok' : 'degraded' };
}
