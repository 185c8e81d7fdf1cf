import { type Clock, orAfter } from '../lifecycle/index.ts';
import type { Connection } from './link/model.ts';

/** How long the last message of an orderly end may take. */
const FAREWELL_MS = 300;

/**
 * Whether this robot is online, for the cloud. Not through the outbox: presence is about now. The broker publishes the
 * last will when a connection ends without an orderly end.
 */
export interface Presence {
  readonly will: { readonly topic: string; readonly payload: Uint8Array };
  /** For a new connection. */
  sayOnline(connection: Connection): void;
  /** For an orderly end, after which the broker does not publish the last will. Never rejects. */
  sayOffline(connection: Connection | null): Promise<void>;
}

export function createPresence(options: {
  readonly topic: string;
  readonly serial: string;
  readonly clock: Clock;
}): Presence {
  const { topic, serial, clock } = options;
  const payload = (state: { readonly online: boolean; readonly reason: string | null }) =>
    new TextEncoder().encode(JSON.stringify({ serial, ...state }));

  return {
    will: { topic, payload: payload({ online: false, reason: 'connection lost' }) },
    sayOnline(connection) {
      connection.publish(topic, payload({ online: true, reason: null })).catch(() => {});
    },
    async sayOffline(connection) {
      if (connection === null) return;
      const farewell = connection.publish(topic, payload({ online: false, reason: 'stopped' }));
      await orAfter(clock, FAREWELL_MS, farewell);
    },
  };
}
