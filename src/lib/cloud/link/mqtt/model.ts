import type { TlsFailure } from '../../../net/path/index.ts';

/** Why a session ended. */
export type SessionEnd =
  /** By the broker or the network, with so many messages without PUBACK. */
  | { readonly kind: 'closed'; readonly failure: TlsFailure; readonly unacknowledged: number }
  /** No answer to PINGREQ. */
  | { readonly kind: 'keepalive' }
  /** `strayAcks`: PUBACKs whose packet identifiers belong to no message. */
  | { readonly kind: 'no-puback'; readonly waitedMs: number; readonly strayAcks: number }
  /** The bytes received are not what MQTT allows, or gw accepts. */
  | { readonly kind: 'protocol'; readonly what: string }
  /** By gw: stop, renewal, return to the direct path. */
  | { readonly kind: 'own' };

export type SubscribeResult =
  | { readonly kind: 'subscribed'; readonly withQos0: readonly string[] }
  | { readonly kind: 'rejected'; readonly filter: string; readonly code: number }
  | { readonly kind: 'no-suback'; readonly tookMs: number }
  | { readonly kind: 'closed' };

/** An accepted MQTT session over one connection. */
export interface MqttSession {
  readonly sessionPresent: boolean;
  /** Aborted with the end. */
  readonly ended: AbortSignal;
  /** Why it ended; null while it has not. */
  end(): SessionEnd | null;
  /** When the last packet was received, by the monotonic clock. */
  lastPacketMs(): number;
  /** In order, at most eight filters a packet; stops at the first rejection. */
  subscribe(filters: readonly string[]): Promise<SubscribeResult>;
  /** Returns whether the broker has acknowledged it. */
  unsubscribe(filters: readonly string[]): Promise<boolean>;
  publish(topic: string, payload: Uint8Array): Promise<void>;
  /** Sends DISCONNECT, so that the last will is not published, and closes. */
  disconnect(): Promise<void>;
  /** Closes without DISCONNECT. */
  destroy(): void;
}
