import { randomBytes } from 'node:crypto';
import type { Clock } from '../lifecycle/index.ts';
import { encodeHeartbeat } from './datagram.ts';
import type { HeartbeatKey } from './keys.ts';
import { destinations, sendDatagram } from './socket.ts';
import { at, PERIOD_MS } from './wire.ts';

export interface TestHeartbeatOptions {
  readonly key: HeartbeatKey;
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  /** How many, one every 2 s. */
  readonly times: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const nothingKnown = {
  moving: null,
  stopped: null,
  batteryPercent: null,
  pose: null,
  map: null,
  software: '',
} as const;

/**
 * Sends heartbeats that are marked as a test, so that no receiver lists their sender as a robot. Sent does not mean received.
 * Ends early when the signal is aborted.
 */
export async function sendTestHeartbeats(options: TestHeartbeatOptions) {
  const { key, broadcast, unicast, times, clock, signal } = options;
  const instance = randomBytes(at.uptimeS - at.instance).toString('hex');
  const serial = `TEST-${instance.slice(0, 4)}`;
  const ways = destinations({ broadcast, unicast }).map((target) => ({
    ...target,
    sent: 0,
    /** The last error of the operating system. */
    failure: null as string | null,
  }));
  if (ways.length === 0) return { serial, ways };
  for (let sequence = 0; sequence < times; sequence += 1) {
    if (sequence > 0) {
      const isOver = await clock.sleep(PERIOD_MS, signal).then(
        () => false,
        () => true,
      );
      if (isOver) break;
    }
    const uptimeS = (sequence * PERIOD_MS) / 1000;
    const bytes = encodeHeartbeat(
      { serial, bootCounter: 0, sequence, instance, uptimeS, state: nothingKnown },
      key,
      'test',
    );
    for (const way of ways) {
      try {
        await sendDatagram(bytes, way);
        way.sent += 1;
      } catch (error) {
        way.failure = (error as NodeJS.ErrnoException).code ?? String(error);
      }
    }
  }
  return { serial, ways };
}
