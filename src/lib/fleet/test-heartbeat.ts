import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { Clock } from '../lifecycle/index.ts';
import { HEARTBEAT_PORT } from '../site/index.ts';
import { broadcastSources } from './beacon.ts';
import { encodeHeartbeat } from './datagram.ts';
import type { HeartbeatKey } from './keys.ts';
import { closeSocket } from './socket.ts';
import { at, BROADCAST_ADDRESS, PERIOD_MS } from './wire.ts';

export interface TestHeartbeatOptions {
  readonly key: HeartbeatKey;
  readonly broadcast: boolean;
  readonly unicast: readonly string[];
  /** How many, one every 2 s. */
  readonly times: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** One destination of test heartbeats. */
export interface TestDestination {
  readonly to: string;
  /** Address of the outgoing interface of a broadcast; null for unicast. */
  readonly from: string | null;
  readonly sent: number;
  /** The last error of the operating system; null: none. */
  readonly failure: string | null;
}

const nothingKnown = { moving: null, stopped: null, batteryPercent: null, pose: null, software: '' } as const;

/**
 * Sends heartbeats that are marked as a test, so that no receiver lists their sender as a robot. Sent does not mean received.
 * Ends early when the signal is aborted.
 */
export async function sendTestHeartbeats(
  options: TestHeartbeatOptions,
): Promise<{ readonly serial: string; readonly ways: readonly TestDestination[] }> {
  const { key, broadcast, unicast, times, clock, signal } = options;
  const instance = randomBytes(at.uptimeS - at.instance).toString('hex');
  const serial = `TEST-${instance.slice(0, 4)}`;
  const targets = [
    ...(broadcast ? broadcastSources().map((from) => ({ to: BROADCAST_ADDRESS, from })) : []),
    ...unicast.map((to) => ({ to, from: null })),
  ];
  const ways = targets.map((target): { -readonly [K in keyof TestDestination]: TestDestination[K] } => ({
    ...target,
    sent: 0,
    failure: null,
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
      const failure = await send(bytes, way);
      if (failure === null) way.sent += 1;
      else way.failure = failure;
    }
  }
  return { serial, ways };
}

/** The error of the operating system; null: accepted. */
async function send(bytes: Buffer, { to, from }: Pick<TestDestination, 'to' | 'from'>): Promise<string | null> {
  const socket = createSocket('udp4');
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ address: from ?? '0.0.0.0', port: 0, exclusive: true }, () => {
        if (from !== null) socket.setBroadcast(true);
        socket.send(bytes, HEARTBEAT_PORT, to, (error) => (error === null ? resolve() : reject(error)));
      });
    });
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    await closeSocket(socket);
  }
}
