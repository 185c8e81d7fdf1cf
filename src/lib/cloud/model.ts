import type { Clock, Log, Service } from '../lifecycle/index.ts';
import type { Dialer } from '../net/index.ts';
import type { Site } from '../site/index.ts';
import type { DiscardReason, ReceivedStop, SeenView } from './gate/model.ts';
import type { LinkIdentity, LinkPath, LinkView, PathCheck } from './link/model.ts';
import type { OutboxView } from './outbox/model.ts';
import type { ReleaseAgentOptions } from './release/agent-model.ts';
import type { ReleaseHealth, ReleaseView } from './release/model.ts';
import type { CurrentFaults, ReportingView } from './reporting/model.ts';
import type { UploadView } from './storage/model.ts';
import type { TunnelNotificationWire } from './wire.ts';

/** What the cloud module needs of the gateway. It acts on the robot through these functions alone. */
export interface CloudOptions {
  readonly site: Site & { readonly cloud: NonNullable<Site['cloud']> };
  /** The installed identity, read again when its file changes; null: not enrolled. Throws IDENTITY_BROKEN. */
  readonly readIdentity: () => Promise<LinkIdentity | null>;
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

/** A discarded message, without its payload. */
export interface DiscardedMessage {
  readonly reason: DiscardReason;
  readonly topic: string;
  readonly bytes: number;
  /** UTC, for people. */
  readonly at: string;
}

/** State of the cloud module, as `GET /api/cloud` returns it. */
export interface CloudView {
  /** 'connected': the broker has accepted the device and all subscriptions. */
  readonly status: 'connected' | 'not-connected' | 'not-enrolled' | 'not-configured' | 'not-checked';
  /** One sentence for a person. */
  readonly detail: string;
  readonly remedy: string | null;
  readonly link: LinkView | null;
  readonly outbox: OutboxView | null;
  readonly received: {
    readonly releases: number;
    readonly stops: number;
    /** Those of them that had the content of an earlier stop; as retained messages they would not be distinguished. */
    readonly stopsOfKnownContent: number;
    /** Stops that were executed and are not acknowledged, since stop latch or record could not be saved within 3 s. */
    readonly unsavedStops: number;
    readonly tunnelNotifications: number;
    readonly answers: number;
    readonly discarded: Readonly<Record<DiscardReason, number>>;
    /** The last ones, newest first. */
    readonly lastDiscarded: readonly DiscardedMessage[];
  } | null;
  /** Whether the accepted stops and notifications are recognised after a restart. */
  readonly seen: SeenView | null;
  /** Telemetry, faults and shadow of this robot. */
  readonly reporting: ReportingView | null;
  readonly release: ReleaseView | null;
  readonly uploads: readonly UploadView[];
}

export interface Cloud extends Service {
  view(): CloudView;
  /** Keeps a record for the cloud; resolves when it is in the outbox. Throws OUTBOX_REFUSED, FILE_UNWRITABLE. */
  sendRecord(body: Readonly<Record<string, unknown>>): Promise<void>;
  /** Proves one path to the broker by the link itself; see `CloudLink`. */
  checkPath(path: LinkPath): Promise<PathCheck>;
}
