import type { PartialMessage } from '../wire/codec.ts';
import type { TunnelMessage } from '../wire.ts';

/** The WebSocket, as an engine sees it. */
export interface TunnelWire {
  /** One message, in a WebSocket message of its own. */
  send(message: PartialMessage): void;
  /** Bytes that are not sent yet, with their overhead. */
  unsentBytes(): number;
  /** Stops and continues reading. */
  setHeld(isHeld: boolean): void;
}

/** What the WebSocket must be closed for. */
export type EngineEnd = { readonly kind: 'configuration' | 'protocol'; readonly detail: string };

/** One side of the tunnel on one WebSocket. */
export interface Engine {
  /** Handles one message. Not null: the WebSocket must be closed. */
  receive(message: TunnelMessage): EngineEnd | null;
  /** Whether SERVICE_IDS was received. */
  isReady(): boolean;
  /** Something was sent: connections may go on. */
  sent(): void;
  /** Resets every open stream, and closes all local connections at once; resolves when they are closed. */
  shutDown(): Promise<void>;
  /** The WebSocket is lost: ends all local connections; resolves when the next WebSocket may begin. */
  destroy(): Promise<void>;
}
