import type { TunnelNotificationWire } from '../cloud/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { READ_ONLY_PORT, type Site } from '../site/index.ts';
import type { EndReason, RefusalReason, SessionRecord } from './records/schema.ts';

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

/** State of remote support, as `GET /api/wartung/sitzung` returns it. */
export interface SupportView {
  readonly status: 'not-configured' | 'waiting' | 'running' | 'not-checked';
  /** One sentence for a person. */
  readonly detail: string;
  readonly remedy: string | null;
  readonly running: RunningSession | null;
  /** Whether the records can be written. */
  readonly records: {
    readonly status: 'ok' | 'failing' | 'not-checked';
    readonly detail: string;
    readonly notSentYet: number | null;
  };
  /** The last refusal since the start of gw; null: none. */
  readonly lastRefused: { readonly reason: RefusalReason; readonly at: string; readonly detail: string } | null;
  /** The last session that ended since the start of gw; null: none. */
  readonly lastEnded: {
    readonly session: string;
    readonly reason: EndReason;
    readonly at: string;
    readonly detail: string;
  } | null;
}

export interface RunningSession {
  readonly session: string;
  readonly services: readonly string[];
  /** UTC, for people. */
  readonly since: string;
  readonly forMs: number;
  /** Until the own clock ends it. */
  readonly leftMs: number;
  /**
   * 'connecting': the proxy has no connection to the service at the moment. 'not-checked': the proxy has not reported for
   * 5 s, so it may be frozen and its tunnel lost.
   */
  readonly state: 'connecting' | 'connected' | 'not-checked';
  /** Since the last report of the proxy; before the first one since its start. */
  readonly reportAgeMs: number;
  /** Open TCP connections at the last report of the proxy; null: none yet. */
  readonly open: number | null;
  /** TCP connections since the start of the session at the last report of the proxy; null: none yet. */
  readonly connections: number | null;
}

/** One session or refusal of the records, as `GET /api/wartung/sitzungen` returns it. */
export type SessionEntry =
  | {
      readonly kind: 'session';
      readonly session: string;
      readonly at: string;
      readonly region: string;
      readonly services: readonly string[];
      readonly maxS: number;
      /** null: it runs, or its end could not be recorded yet. */
      readonly end: {
        readonly at: string;
        readonly reason: EndReason;
        readonly detail: string;
        readonly durationS: number | null;
        /** TCP connections to the read-only socket; null: not known. */
        readonly connections: number | null;
      } | null;
    }
  | {
      readonly kind: 'refused';
      readonly at: string;
      readonly reason: RefusalReason;
      readonly detail: string;
      readonly region: string;
      readonly services: readonly string[];
    };

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
