import { z } from 'zod';

/** Why a notification was refused. Project decision, except the checks that the specification names. */
export const refusalReasons = [
  /** The site file has no `cloud.tunnel`. */
  'not-configured',
  'not-destination',
  'other-region',
  /** None, or more than three. */
  'services-count',
  'service-repeated',
  'service-not-in-list',
  /** A notification with this token was received before. */
  'seen-before',
  /** The start could not be recorded: without a record there is no session. */
  'not-recorded',
  'shutting-down',
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** Why a session ended. Project decision, except the ends that the specification names. */
export const endReasons = [
  /** The service closed the tunnel: by its own clock, or by a person in the cloud. */
  'closed-by-cloud',
  'own-clock',
  'network-lost',
  /** By a person on site. */
  'ended-on-site',
  /** By a second valid notification. */
  'replaced',
  'shutdown',
  /** The service refused the token (4xx): spent, unknown, or of a closed tunnel. */
  'token-refused',
  /** The service names other services than the notification, or the CA file cannot be used. */
  'configuration',
  'proxy-failed',
  /** Closed at the next start of gw, which had ended without closing it. */
  'unclean-shutdown',
] as const;
export type EndReason = (typeof endReasons)[number];

export const RECORD_FORMAT = 'gw/support-session/1';

const digits = (count: number) => z.string().regex(new RegExp(`^[0-9a-f]{${count}}$`));
const count = z.int().min(0).nullable();
const texts = z.array(z.string()).readonly();

const base = {
  format: z.literal(RECORD_FORMAT),
  /** Counts from 1 over all files, without a gap. */
  seq: z.int().min(1),
  /** UTC by the clock of the gateway, for people: it may have been wrong. */
  at: z.iso.datetime(),
  serial: z.string(),
};
/** `prev` is the `hash` of the line before (64 zeros in the first). */
const links = { prev: digits(64), hash: digits(64) };
/** First 32 hex digits of the SHA-256 of the access token. */
const tokenHash = digits(32);

/**
 * One line of the records, with no field that the format does not have, in the order in which gw writes them: `hash` is
 * the SHA-256 of the bytes of the line up to `,"hash":`, and the last key.
 */
export const recordSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    ...base,
    kind: z.literal('start'),
    session: z.string(),
    region: z.string(),
    services: texts,
    tokenHash,
    /** Seconds after which the gateway ends it. */
    maxS: z.number().min(0),
    /** Id of the session that it replaced. */
    replaces: z.string().nullable(),
    ...links,
  }),
  z.strictObject({
    ...base,
    kind: z.literal('end'),
    session: z.string(),
    reason: z.enum(endReasons),
    /** One sentence for a person. */
    detail: z.string(),
    /** By the monotonic clock of the gateway; null: not known, since gw ended before the session did. */
    durationS: z.number().min(0).nullable(),
    /** TCP connections to the read-only socket; null: not known. */
    connections: count,
    bytesIn: count,
    bytesOut: count,
    /** Value of the header `channel-id` of the service; null: none. */
    channelId: z.string().nullable(),
    ...links,
  }),
  z.strictObject({
    ...base,
    kind: z.literal('refused'),
    reason: z.enum(refusalReasons),
    detail: z.string(),
    clientMode: z.string(),
    region: z.string(),
    services: texts,
    tokenHash,
    ...links,
  }),
]);
export type SessionRecord = Readonly<z.infer<typeof recordSchema>>;

type BodyOf<T> = T extends unknown ? Omit<T, keyof typeof base | keyof typeof links> : never;
/** What a record says. */
export type RecordBody = BodyOf<SessionRecord>;
