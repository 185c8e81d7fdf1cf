import { z } from 'zod';
import type { DeepReadonly } from '../json/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import type { Dialer } from '../net/index.ts';
import type { Site } from '../site/index.ts';
import { discardedMessageSchema, discardReasons, type ReceivedStop, seenViewSchema } from './gate/model.ts';
import {
  type CandidateIdentity,
  type LinkIdentity,
  type LinkPath,
  linkViewSchema,
  type PathCheck,
} from './link/model.ts';
import { outboxViewSchema } from './outbox/model.ts';
import type { ReleaseAgentOptions } from './release/agent-model.ts';
import { type ReleaseHealth, releaseViewSchema } from './release/model.ts';
import { type CurrentFaults, reportingViewSchema } from './reporting/model.ts';
import { uploadViewSchema } from './storage/model.ts';
import type { TunnelNotificationWire } from './wire.ts';

/** What the cloud module needs of the gateway. It acts on the robot through these functions alone. */
export interface CloudOptions {
  readonly site: Site & { readonly cloud: NonNullable<Site['cloud']> };
  /** The installed identity, read again when its file changes; null: not enrolled. Throws IDENTITY_BROKEN. */
  readonly readIdentity: () => Promise<LinkIdentity | null>;
  /** Absent: the device has never another identity beside the installed one. */
  readonly candidate?: CandidateIdentity | undefined;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly log: Log;
  /** Version of gw that runs. */
  readonly version: string;
  /** The folders of the launcher that started gw; null: gw was not started by it. */
  readonly launched: ReleaseAgentOptions['launched'];
  /** Stops the robot before it returns. Never refused. Resolves when the stop is on the disk, which may be never. */
  readonly onStop: (stop: ReceivedStop) => Promise<void>;
  /**
   * The notification passed the gate; the checks of a session are its receiver's. `isRepeated`: one with this access token
   * was received before.
   */
  readonly onTunnelNotification: (notification: TunnelNotificationWire, isRepeated: boolean) => void;
  /** Values of the robot for the next telemetry message; see docs/cloud.md. */
  readonly telemetry: () => Readonly<Record<string, unknown>>;
  /** The faults at one moment. */
  readonly faults: () => CurrentFaults;
  /** The state for the shadow. */
  readonly shadow: () => Readonly<Record<string, unknown>>;
  /** Whether the robot moves; null: not known. */
  readonly isMoving: () => boolean | null;
  readonly releaseHealth: () => ReleaseHealth;
  /** Ends gw in order, so that its supervisor starts the current version. */
  readonly restart: (reason: string) => void;
}

/** State of the cloud module of a running gateway, as `GET /api/cloud` returns it. */
export const cloudViewSchema = z.strictObject({
  status: z
    .enum(['connected', 'not-connected', 'not-enrolled', 'not-configured', 'not-checked'])
    .describe('connected: the broker has accepted the device and all subscriptions.'),
  detail: z.string(),
  remedy: z.string().nullable(),
  link: linkViewSchema.nullable(),
  outbox: outboxViewSchema.nullable(),
  received: z
    .strictObject({
      releases: z.int(),
      stops: z.int(),
      stopsOfKnownContent: z
        .int()
        .describe('Of these, with the content of an earlier stop: as retained messages not distinguished.'),
      unsavedStops: z
        .int()
        .describe('Executed and not acknowledged, since stop latch or record could not be saved within 3 s.'),
      tunnelNotifications: z.int(),
      answers: z.int(),
      discarded: z.record(z.enum(discardReasons), z.int()),
      lastDiscarded: z.array(discardedMessageSchema).describe('Newest first.'),
    })
    .nullable()
    .describe('Since the start of gw.'),
  seen: seenViewSchema
    .nullable()
    .describe('Whether the accepted stops and notifications are recognised after a restart.'),
  reporting: reportingViewSchema.nullable().describe('Telemetry, faults and shadow of this robot.'),
  release: releaseViewSchema.nullable(),
  uploads: z.array(uploadViewSchema),
});
export type CloudView = DeepReadonly<z.infer<typeof cloudViewSchema>>;

export interface Cloud extends Service {
  view(): CloudView;
  /** Keeps a record for the cloud; resolves when it is in the outbox. Throws OUTBOX_REFUSED, FILE_UNWRITABLE. */
  sendRecord(body: Readonly<Record<string, unknown>>): Promise<void>;
  /** Proves one path to the broker by the link itself; see `CloudLink`. */
  checkPath(path: LinkPath): Promise<PathCheck>;
}
