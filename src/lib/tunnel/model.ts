import type { TunnelNotificationWire } from '../cloud/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { READ_ONLY_PORT, type Site } from '../site/index.ts';
import type { SessionRecord } from './records/schema.ts';
import type { SessionEntry, SupportView } from './view.ts';

/** Where everything ends that comes through a tunnel. A constant, so that no setting and no message can name another. */
export const TUNNEL_TARGET = { host: '127.0.0.1', port: READ_ONLY_PORT } as const;

/** Services in one request. @source specification, 'States and transitions' */
export const MAX_SERVICES = 3;

/** Folder of the records in the state folder. */
export const RECORDS_FOLDER = 'support';

/** How the proxy ended, with its exit code. */
export const proxyExits = {
  /** The service closed the tunnel in order. */
  closed: 0,
  /** Services differ, or an invalid setting. */
  configuration: 2,
  /** No connection within the time for it. */
  'network-lost': 3,
  /** The service refused the token. */
  refused: 4,
  'own-clock': 5,
  internal: 70,
  /** The gateway ended it, or has ended. */
  terminated: 130,
} as const;
export type ProxyExit = keyof typeof proxyExits;

/** Interval at which the proxy reports its counts, also unchanged ones: a proxy that is frozen or hangs reports nothing. */
export const PROXY_REPORT_MS = 1_000;

/** What the proxy is given on its command line; the tokens come in its environment. */
export interface ProxySettings {
  readonly host: string;
  readonly port: number;
  /** Value of `Sec-WebSocket-Protocol`. */
  readonly subprotocol: string;
  readonly services: readonly string[];
  /** Absolute path of a PEM file; null: the CA certificates of Node and the operating system. */
  readonly caFile: string | null;
  /** The proxy ends itself after so many seconds. */
  readonly maxS: number;
}

/** Names of the environment variables of the proxy. Nothing else of the gateway's environment reaches it but PATH. */
export const TOKEN_VARIABLE = 'GW_TUNNEL_TOKEN';
export const CLIENT_TOKEN_VARIABLE = 'GW_TUNNEL_CLIENT_TOKEN';

/** What the tunnel module needs of the gateway. */
export interface SupportOptions {
  readonly site: Site;
  readonly clock: Clock;
  readonly log: Log;
  /** Words that start gw: the absolute path of Node.js and of bin/run.js. */
  readonly program: readonly string[];
  /** Keeps a record for the cloud; resolves when it is in the outbox, rejects when it is not. */
  readonly sendRecord: (body: { readonly kind: 'support-session'; readonly record: SessionRecord }) => Promise<void>;
}

/** Remote support of one robot. */
export interface Support extends Service {
  /**
   * A notification that passed the gate of the cloud; a repeated one is refused. Never throws and does not wait.
   */
  offer(notification: TunnelNotificationWire, isRepeated: boolean): void;
  /** Ends the running session; resolves when its proxy is gone, without a limit. False: none runs. */
  endOnSite(by: string): Promise<boolean>;
  view(): SupportView;
  /** Newest first. Throws FILE_UNREADABLE. */
  sessions(limit: number): Promise<readonly SessionEntry[]>;
}
