import type { StateFiles } from '../../json/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Dialer, Lookup } from '../../net/index.ts';
import type { PathOutcome } from '../../net/path/index.ts';
import type { Site } from '../../site/index.ts';
import type { InboundMessage } from '../gate/model.ts';
import type { Publisher } from '../outbox/model.ts';
import type { LinkTiming } from './timing.ts';

/** The two ports of the broker: without ALPN (8883), and with it (443). */
export type LinkPath = 'direct' | 'fallback';

/** One failed attempt to connect, in the words of `gw network check`. */
export interface FailedAttempt {
  readonly path: LinkPath;
  readonly host: string;
  readonly port: number;
  /** The step that failed. */
  readonly step: 'name' | 'tcp' | 'tls' | 'alpn' | 'mqtt' | 'subscribe';
  readonly outcome: PathOutcome;
  /** UTC, for people. */
  readonly at: string;
  readonly tookMs: number;
}

/** The result of a check of one path by the link itself. */
export interface PathCheck {
  readonly path: LinkPath;
  /** The step that failed; null: none did, or it was not checked. */
  readonly step: FailedAttempt['step'] | null;
  readonly outcome: PathOutcome;
}

/** Something wrong with the link that does not end the connection. */
export interface LinkTrouble {
  readonly kind: (typeof linkTroubleKinds)[number];
  /** A clause for a person. */
  readonly detail: string;
  readonly remedy: string | null;
  /** What to ask the customer's IT; null when there is nothing to ask. */
  readonly ask: string | null;
}

/**
 * 'stop-not-saved': a stop was executed and is not acknowledged. 'no-puback': the broker does not acknowledge messages.
 * 'renewal-failed': the certificate before the renewal is in use. 'identity-broken': the installed identity cannot be
 * used. 'qos-0': messages to some topics can be lost. 'host-difference', 'region-difference': the broker may be another
 * one than expected.
 */
export const linkTroubleKinds = [
  'stop-not-saved',
  'no-puback',
  'renewal-failed',
  'identity-broken',
  'qos-0',
  'host-difference',
  'region-difference',
] as const;

export interface LinkView {
  /** 'not-checked': the first attempt has no result yet. */
  readonly status: 'connected' | 'connecting' | 'not-checked';
  /** One sentence for a person: the broker, the path and the troubles, or the last failure. */
  readonly detail: string;
  readonly remedy: string | null;
  /** What to ask the customer's IT; null when there is nothing to ask. */
  readonly ask: string | null;
  /** Null while not connected. */
  readonly connection: {
    readonly path: LinkPath;
    readonly host: string;
    readonly port: number;
    /** ALPN protocol that the broker selected; null: none. */
    readonly alpn: string | null;
    /** Protocol version of TLS, `TLSv1.3`. */
    readonly tls: string;
    /** Whether the broker had kept the session. */
    readonly sessionPresent: boolean;
    /** Topic filters that the broker has acknowledged on this connection. */
    readonly filters: readonly string[];
    /** Those that it granted with QoS 0: a message sent there while the gateway is not connected is lost. */
    readonly withQos0: readonly string[];
    /** UTC, for people. */
    readonly since: string;
    readonly forMs: number;
    /** Time since the last packet of the broker; with a keep-alive of 30 s at most 45 s. */
    readonly lastPacketAgoMs: number;
    /** Fingerprint of the certificate in use, and its end. */
    readonly certificate: { readonly fingerprintSha256: string; readonly notAfter: string };
  } | null;
  /** The last failure of each path since the last connection on it; null: none. */
  readonly failures: Readonly<Record<LinkPath, FailedAttempt | null>>;
  /** How often a connection was established and lost since the start of gw. */
  readonly connects: number;
  readonly losses: number;
  /** Wait until the next attempt; null while connected or connecting. */
  readonly retryInMs: number | null;
  /** While the fallback is in use: wait until the direct path is tried again; otherwise null. */
  readonly directRetryInMs: number | null;
  /** Hosts of the broker by the site file and by the enrolment when they differ; null: they do not, or one is missing. */
  readonly hostDifference: { readonly site: string; readonly enrolment: string } | null;
  /** The region in the host name of the broker when it is not `cloud.region`; null: it is, or the name has none. */
  readonly regionDifference: { readonly host: string; readonly region: string; readonly expected: string } | null;
  /** 'none': not enrolled. 'broken': the identity cannot be used. */
  readonly identity: 'enrolled' | 'none' | 'broken' | 'not-checked';
  /** Why the present certificate of this device is not the one in use; null: it is, or there is no connection. */
  readonly renewalFailure: FailedAttempt | null;
  /** Everything wrong with it beside a missing connection. */
  readonly troubles: readonly LinkTrouble[];
}

/** An established connection whose subscriptions are acknowledged. */
export interface Connection extends Publisher {
  readonly path: LinkPath;
  /** Aborted when the connection ends. */
  readonly ended: AbortSignal;
}

/** Certificate, key and CA of the device with what else the enrolment gave. */
export interface LinkIdentity {
  readonly serial: string;
  /** Host of the broker by the enrolment. */
  readonly endpoint: string;
  readonly region: string;
  readonly keyPem: string;
  readonly certificatePem: string;
  readonly caPem: string;
  readonly fingerprintSha256: string;
  readonly notAfter: string;
}

/**
 * The connection to the broker. One client identifier is used by one connection at a time, except that with a new
 * certificate the next connection is tried before the old one is given up.
 */
export interface CloudLink {
  /** Connects and reconnects until the signal is aborted, then disconnects. */
  run(signal: AbortSignal): Promise<void>;
  view(): LinkView;
  /** The present connection; null without one. */
  connection(): Connection | null;
  /**
   * Proves a path by a connection on it: the present one, or a new one, before which the present one is not given up. A
   * second client could not check it, because it would displace this one.
   */
  checkPath(path: LinkPath): Promise<PathCheck>;
  /** Called with each new connection, and with null when it has ended. */
  subscribe(listener: (connection: Connection | null) => void): Disposable;
}

/** What the link needs; `cloud` is that of the site file, with absolute paths. */
export interface CloudLinkOptions {
  readonly cloud: Pick<NonNullable<Site['cloud']>, 'mqtt' | 'region'>;
  /** The installed identity; null: not enrolled. Called every few seconds. Throws a GwError when it cannot be used. */
  readonly readIdentity: () => Promise<LinkIdentity | null>;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly log: Log;
  /** Folder for what worked last. */
  readonly stateDir: string;
  /** Topic filters, the most important first. */
  readonly filters: readonly string[];
  readonly will: { readonly topic: string; readonly payload: Uint8Array };
  /** Resolves names; the machine's resolver by default. */
  readonly lookup?: Lookup;
  readonly timing?: LinkTiming;
  /** The files of `stateDir` by default. */
  readonly files?: StateFiles;
  /**
   * Called for each received message, in order; the message is acknowledged to the broker after it returns, or when its
   * promise resolves. One that never does leaves the message to the broker, which sends it again on the next connection.
   */
  readonly onMessage: (message: InboundMessage) => Promise<void> | undefined;
  /** Called before anything is received in a session that the broker has made anew. */
  readonly onNewSession?: () => void;
  /** What is wrong with the received messages. */
  readonly troubles?: () => readonly LinkTrouble[];
}
