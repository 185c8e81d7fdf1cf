import type { ChassisLink } from '../chassis/index.ts';
import type { DeepReadonly } from '../json/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import type { DriveRun, DriveTarget, Motion } from '../motion/index.ts';
import type { DeliveryShown } from '../pages/index.ts';
import type { Site } from '../site/index.ts';

export type DeliveryView = DeepReadonly<DeliveryShown>;
export type HoldCause = NonNullable<DeliveryView['hold']>['cause'];
type CountdownKind = NonNullable<DeliveryView['countdown']>['kind'];

/** A movement that may begin by itself. */
export interface Plan {
  readonly kind: CountdownKind;
  readonly target: DriveTarget;
  /** Of the queue; null: of none. */
  readonly entryId: string | null;
}

/** What a person saw when continuing: the ids of the arrival that waits and of the next station; null: none. */
interface SeenNext {
  readonly arrival: string | null;
  readonly next: string | null;
}

export interface Delivery extends Service {
  /** null: the site file sets up no deliveries. */
  view(): DeliveryView | null;
  /**
   * A person says that the arrival is over; the next station of the queue begins, if there is one. 'outdated': not what the
   * person saw, and nothing was ordered. Throws MOTION_STOPPED, and as `startDrive` of motion: then all stays as it was.
   */
  proceed(seen: SeenNext, by: DriveRun['by']): Promise<DriveRun | 'outdated' | null>;
  /** Puts a station at the end of the queue. Throws MOTION_STOPPED, STATION_UNKNOWN, QUEUE_CLOSED, QUEUE_FULL. */
  enqueue(station: string): DeliveryView['queue'][number];
  /** false: it is not in the queue. */
  remove(id: string): boolean;
  /** A page shows the countdown of this id to a person now. */
  shown(id: string): void;
  /**
   * Ends a movement that begins by itself, before or after its start, and holds every further one. With an `id` only that of
   * this countdown. Never refused. false: there was none; they are held all the same.
   */
  endCountdown(by: string, id?: string): Promise<boolean>;
  /** A person says that movements may begin by themselves again. Throws MOTION_STOPPED, MOTION_REFUSED while a cause lasts. */
  release(): void;
  /** Called after every change. */
  subscribe(listener: () => void): Disposable;
}

export interface DeliveryOptions {
  readonly site: Pick<Site, 'delivery' | 'chassis' | 'stations' | 'dock' | 'maps'>;
  readonly link: Pick<ChassisLink, 'snapshot' | 'subscribe'>;
  readonly motion: Pick<Motion, 'status' | 'runs' | 'startDrive' | 'endDrive' | 'refusalOfUnattended' | 'subscribe'>;
  readonly clock: Clock;
  readonly log: Log;
}
