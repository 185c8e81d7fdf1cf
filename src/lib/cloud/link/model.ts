import { z } from 'zod';
import type { DeepReadonly, StateFiles } from '../../json/index.ts';
import type { Clock, Log } from '../../lifecycle/index.ts';
import type { Dialer, Lookup } from '../../net/index.ts';
import { pathOutcomeSchema } from '../../net/path/index.ts';
import type { Site } from '../../site/index.ts';
import type { InboundMessage } from '../gate/model.ts';
import type { Publisher } from '../outbox/model.ts';
import type { LinkTiming } from './timing.ts';

const paths = ['direct', 'fallback'] as const;
/** The two ports of the broker: without ALPN (8883), and with it (443). */
export type LinkPath = (typeof paths)[number];

const utc = z.string().describe('UTC of the gateway, for people.');
const ask = z.string().nullable().describe("What to ask the customer's IT; null: nothing.");

/** One failed attempt to connect, in the words of `gw network check`. */
const failedAttemptSchema = z.strictObject({
  path: z.enum(paths),
  host: z.string(),
  port: z.int(),
  step: z.enum(['name', 'tcp', 'tls', 'alpn', 'mqtt', 'subscribe']).describe('The step that failed.'),
  outcome: pathOutcomeSchema,
  at: utc,
  tookMs: z.number(),
});
export type FailedAttempt = DeepReadonly<z.infer<typeof failedAttemptSchema>>;

/** The result of a check of one path by the link itself. */
export const pathCheckSchema = z.strictObject({
  path: z.enum(paths),
  step: failedAttemptSchema.shape.step
    .nullable()
    .describe('The step that failed; null: none did, or it was not checked.'),
  outcome: pathOutcomeSchema,
});
export type PathCheck = DeepReadonly<z.infer<typeof pathCheckSchema>>;

/**
 * 'stop-not-saved': a stop was executed and is not acknowledged. 'no-puback': the broker does not acknowledge messages.
 * 'renewal-failed': the certificate before the renewal is in use. 'identity-broken': the installed identity cannot be
 * used. 'qos-0': messages to some topics can be lost. 'host-difference', 'region-difference': the broker may be another
 * one than expected. 'broker-ca-ending': the CA that verifies the broker ends within 30 days, or has ended.
 */
export const linkTroubleKinds = [
  'stop-not-saved',
  'no-puback',
  'renewal-failed',
  'identity-broken',
  'qos-0',
  'host-difference',
  'region-difference',
  'broker-ca-ending',
] as const;

/** Something wrong with the link that does not end the connection. */
const linkTroubleSchema = z.strictObject({
  kind: z.enum(linkTroubleKinds),
  detail: z.string().describe('A clause for a person.'),
  remedy: z.string().nullable(),
  ask,
});
export type LinkTrouble = DeepReadonly<z.infer<typeof linkTroubleSchema>>;

const deviceCertificateSchema = z.strictObject({ fingerprintSha256: z.string(), notAfter: z.string() });

export const linkViewSchema = z.strictObject({
  status: z
    .enum(['connected', 'connecting', 'not-checked'])
    .describe('not-checked: the first attempt has no result yet.'),
  detail: z.string().describe('The broker, the path and the troubles, or the last failure.'),
  remedy: z.string().nullable(),
  ask,
  connection: z
    .strictObject({
      path: z.enum(paths).describe('direct: cloud.mqtt.port. fallback: the other port, with ALPN.'),
      host: z.string(),
      port: z.int(),
      alpn: z.string().nullable().describe('ALPN protocol that the broker selected; null: none.'),
      tls: z.string().describe('Protocol version of TLS, `TLSv1.3`.'),
      sessionPresent: z.boolean().describe('Whether the broker had kept the session.'),
      filters: z.array(z.string()).describe('Topic filters that the broker has acknowledged on this connection.'),
      withQos0: z
        .array(z.string())
        .describe('Those that it granted with QoS 0: a message sent there while the gateway is not connected is lost.'),
      since: utc,
      forMs: z.number(),
      lastPacketAgoMs: z
        .number()
        .describe('Since the last packet of the broker; with a keep-alive of 30 s at most 45 s.'),
      certificate: deviceCertificateSchema.describe('The certificate in use.'),
    })
    .nullable()
    .describe('null while not connected.'),
  failures: z
    .strictObject({ direct: failedAttemptSchema.nullable(), fallback: failedAttemptSchema.nullable() })
    .describe('The last failure of each path since the last connection on it; null: none.'),
  connects: z.int().describe('How often a connection was established since the start of gw.'),
  losses: z.int().describe('How often one was lost.'),
  retryInMs: z.number().nullable().describe('Until the next attempt; null while connected or connecting.'),
  directRetryInMs: z
    .number()
    .nullable()
    .describe('While the fallback is in use: until the direct path is tried again; otherwise null.'),
  hostDifference: z
    .strictObject({ site: z.string(), enrolment: z.string() })
    .nullable()
    .describe(
      'Hosts of the broker by the site file and by the enrolment when they differ; null: they do not, or one is missing.',
    ),
  regionDifference: z
    .strictObject({ host: z.string(), region: z.string(), expected: z.string() })
    .nullable()
    .describe(
      'The region in the host name of the broker when it is not cloud.region; null: it is, or the name has none.',
    ),
  identity: z
    .enum(['enrolled', 'none', 'broken', 'not-checked'])
    .describe('none: not enrolled. broken: the identity cannot be used.'),
  installed: deviceCertificateSchema
    .nullable()
    .describe(
      'The installed certificate at the last look at it, every 5 s while connected; another than that in use: a renewal is under way, or failed. null: none, or it cannot be used.',
    ),
  renewalFailure: failedAttemptSchema
    .nullable()
    .describe('Why the installed certificate is not the one in use; null: it is, or there is no connection.'),
  troubles: z.array(linkTroubleSchema).describe('What is wrong with the link beside a missing connection.'),
});
export type LinkView = DeepReadonly<z.infer<typeof linkViewSchema>>;

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
 * An identity beside the installed one, which the broker has to prove: it counts as proved by a connection with it whose
 * subscriptions are acknowledged. Until then the installed one is used wherever it works.
 */
export interface CandidateIdentity {
  /** The one to try now beside this installed one; null: there is none, or not now. */
  due(installed: LinkIdentity): LinkIdentity | null;
  /**
   * It was tried. A null failure: it is the one in use. `isUnreachable`: the broker was not reached, gave no
   * answer, or was not available, so it has not judged.
   * `wasConnected`: the installed one was in use meanwhile; otherwise it had been rejected, or
   * its broker, another one, was not reached.
   */
  tried(
    candidate: LinkIdentity,
    result: { readonly failure: FailedAttempt | null; readonly isUnreachable: boolean; readonly wasConnected: boolean },
  ): void;
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
  /** Absent: there is never another one. */
  readonly candidate?: CandidateIdentity | undefined;
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
