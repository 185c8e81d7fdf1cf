import type { Clock } from '../../lifecycle/index.ts';
import type { ProxyLimits } from '../link/index.ts';

/** What the source mode is given; the tokens come apart from it. */
export interface SourceSettings {
  readonly host: string;
  readonly port: number;
  /** Value of `Sec-WebSocket-Protocol`. */
  readonly subprotocol: string;
  /** Each service with its port on 127.0.0.1; 0: any free one. */
  readonly services: readonly { readonly id: string; readonly port: number }[];
  /** CA certificates (PEM) of the service; null: those of Node and the operating system. */
  readonly caPem: string | null;
}

export interface SourceOptions {
  readonly settings: SourceSettings;
  readonly tokens: SourceTokens;
  readonly clock: Clock;
  /** Ends the session in order: streams are reset and the WebSocket is closed. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: SourceEvent) => void;
  /** Time without a working connection after which it gives up; `DEFAULT_GIVE_UP_MS` when absent. */
  readonly giveUpMs?: number;
  /** Smaller ones for tests; `proxyLimits` when absent. */
  readonly limits?: ProxyLimits;
}

interface SourceTokens {
  readonly access: string;
  /** Makes the access token usable again by this process, for reconnects. */
  readonly client: string;
}

export type SourceEvent =
  /** The WebSocket is open and the services match. */
  | { readonly event: 'connected'; readonly channelId: string | null; readonly services: readonly string[] }
  /** Once: local connections are accepted from now on. */
  | { readonly event: 'listening'; readonly listeners: readonly SourceListener[] }
  /** The WebSocket is lost, or an attempt failed. */
  | { readonly event: 'lost'; readonly detail: string; readonly retryInMs: number }
  | { readonly event: 'opened'; readonly service: string; readonly connection: number; readonly open: number }
  /** Once per service and WebSocket: the other side sent its first bytes. */
  | { readonly event: 'answered'; readonly service: string }
  /** Once per service and WebSocket: a connection has had no answer for `NO_ANSWER_MS`. */
  | { readonly event: 'no-answer'; readonly service: string; readonly forMs: number }
  | {
      readonly event: 'closed';
      readonly service: string;
      readonly connection: number;
      readonly open: number;
      readonly reason: ConnectionEndReason;
      readonly bytesUp: number;
      readonly bytesDown: number;
    };

export interface SourceListener {
  readonly service: string;
  readonly host: string;
  readonly port: number;
}

/** Why a connection through the tunnel ended. */
export type ConnectionEndReason =
  /** The local program closed it, or its sending side: the protocol has no half-close. */
  | 'local'
  /** CONNECTION_RESET of the other side: its connection is closed, or could not be opened. */
  | 'remote'
  /** STREAM_RESET or SESSION_RESET: all connections of the service ended. */
  | 'reset'
  /** The local program did not read, and more than the limit was waiting for it. */
  | 'stalled'
  /** The WebSocket was lost, or the session ended. */
  | 'lost';

/** How a session ended in order; everything else is thrown. */
export interface SourceEnd {
  readonly reason: 'closed-by-service' | 'interrupted';
  /** One sentence for a person. */
  readonly detail: string;
  readonly connections: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** How often the WebSocket was lost and opened again. */
  readonly reconnects: number;
}
