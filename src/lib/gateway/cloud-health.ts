import type { CloudView } from '../cloud/index.ts';
import type { Clock } from '../lifecycle/index.ts';

/**
 * How long the cloud of an enrolled device may be not connected before the health is degraded. Project decision: a
 * broker restarts and a mobile link changes cells within a minute; after it, the loss lasts, and a stop from the cloud
 * does not reach the robot.
 */
const CLOUD_DOWN_DEGRADES_MS = 60_000;
/** The state is sampled, so that its duration does not depend on when the health is read. */
const SAMPLE_MS = 5_000;

/** The part of the cloud in the health of the gateway. */
export interface CloudHealth extends Disposable {
  view(): Pick<CloudView, 'status' | 'detail'>;
  /** Configured, enrolled, and not connected for at least a minute; or a stop from there is not saved. */
  isDown(): boolean;
}

export function watchCloud(cloud: () => CloudView, clock: Pick<Clock, 'monotonicMs' | 'every'>): CloudHealth {
  let downSinceMs: number | null = null;
  function sample(): CloudView {
    const view = cloud();
    if (needsConnection(view)) downSinceMs ??= clock.monotonicMs();
    else downSinceMs = null;
    return view;
  }
  sample();
  const sampling = clock.every(SAMPLE_MS, sample);
  return {
    view() {
      const { status, detail } = sample();
      return { status, detail };
    },
    isDown() {
      const { received } = sample();
      if (received !== null && received.unsavedStops > 0) return true;
      return downSinceMs !== null && clock.monotonicMs() - downSinceMs >= CLOUD_DOWN_DEGRADES_MS;
    },
    [Symbol.dispose]: () => sampling[Symbol.dispose](),
  };
}

/** A robot may be without a cloud, and is without one until it is enrolled. */
function needsConnection({ status }: CloudView): boolean {
  return status === 'not-connected' || status === 'not-checked';
}

/** A gateway without a cloud link. */
export const noCloud: CloudView = {
  status: 'not-configured',
  detail: 'The site file has no cloud.',
  remedy: null,
  link: null,
  outbox: null,
  received: null,
  seen: null,
  reporting: null,
  release: null,
  uploads: [],
};
