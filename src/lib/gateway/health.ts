import type { KeepingTrouble, StopLatch } from '../motion/index.ts';
import type { GatewayHealth } from '../operator/index.ts';

/** What the parts of the gateway say of themselves. */
export interface HealthParts extends Omit<GatewayHealth, 'status'> {
  readonly stop: Pick<StopLatch, 'saved'>;
  /** What is known of the folder of the stop latch by writing to it: counts before what was seen by looking. */
  readonly keepingTrouble: KeepingTrouble | null;
  /** What the operator server lacks; its detail says the same. */
  readonly operatorTrouble: string | null;
}

/** The health of the whole gateway: 'ok' only where every part is sound that movement or STOP needs. */
export function gatewayHealth({ stop, keepingTrouble, operatorTrouble, ...parts }: HealthParts): GatewayHealth {
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
    stop.saved !== false &&
    Object.values(disk).every(({ status }) => status === 'ok');
  return { ...parts, disk, status: isSound ? 'ok' : 'degraded' };
}
