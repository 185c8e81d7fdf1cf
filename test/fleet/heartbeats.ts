import type { CoarseState, Heartbeat } from '../../src/lib/fleet/datagram.ts';
import type { Log } from '../../src/lib/lifecycle/index.ts';

const nothingKnown: CoarseState = {
  ...{ moving: null, stopped: null, batteryPercent: null, pose: null, map: null, software: '' },
};

export function heartbeatOf(values: Partial<Heartbeat> = {}): Heartbeat {
  const some = { serial: 'R-1', bootCounter: 1, sequence: 0, instance: 'a'.repeat(16), uptimeS: 0 };
  return { ...some, state: nothingKnown, ...values };
}

/** A log that collects its lines, as 'warn message'. */
export function createListLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`);
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
