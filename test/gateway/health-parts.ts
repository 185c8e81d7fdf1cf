import type { HealthParts } from '../../src/lib/gateway/gateway.ts';
import { standInHealth } from '../operator/stand-ins.ts';

const state = { status: 'running', restarts: 0, lastError: null, remedy: null } as const;
export const service = { name: 'motion', ...state, detail: '' } as const;

/** The parts of a gateway in order. */
export function partsWith(over: Partial<HealthParts> = {}): HealthParts {
  const { status: _status, ...sound } = standInHealth({ services: [service] });
  const troubles = { keepingTrouble: null, poseAlarmTrouble: null, operatorTrouble: null };
  return { ...sound, stop: { saved: true }, ...troubles, cloudIsDown: false, ...over };
}
