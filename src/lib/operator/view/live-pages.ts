import type { ChassisPart } from '../../chassis/index.ts';
import type { Sight } from '../../incident/index.ts';
import type { PageState } from '../../pages/index.ts';
import type { Scope } from '../connections/listener.ts';
import { createLiveEvents, type LiveEvents } from '../events.ts';
import type { OperatorOptions } from '../model.ts';
import type { FailedDrive } from './failed-drive.ts';
import { createPageStates } from './page-state.ts';
import type { Parts } from './parts.ts';
import type { RunView } from './run-view.ts';

/** Of the chassis, what a state of the pages shows beside the pose; what a pose means for it is in `standing` and `unit`. */
const isBesidePose: Readonly<Record<ChassisPart, boolean>> = {
  ...{ link: true, pose: false, planning: true, battery: true, wheels: true, positioning: true },
  ...{ alerts: true, map: true, standing: true, unit: true, complaints: true },
};
const allButPose = (Object.keys(isBesidePose) as ChassisPart[]).filter((part) => isBesidePose[part]);

export interface LivePagesOptions
  extends Pick<OperatorOptions, 'site' | 'link' | 'motion' | 'delivery' | 'clock' | 'health' | 'neighbours'> {
  readonly cloud: () => Parts['cloud'];
  readonly support: () => Parts['support'];
  readonly failedDrive: Pick<FailedDrive, 'subscribe'>;
  readonly runs: Pick<RunView, 'now' | 'failed' | 'recent'>;
  /** Which pages the gateway has, so that an older one in a browser is noticed. */
  readonly build: string;
  /** Of every text that is sent. */
  readonly withoutPaths: <T>(data: T) => T;
}

export interface LivePages {
  readonly events: LiveEvents;
  pageState(): PageState;
  /** How long ago the state of this id was made; null: not by this process, or too long ago to be known. */
  stateAgeMs(id: string): number | null;
  /** What the memory of incidents keeps of the present state. */
  sight(): Sight;
  /** Called with every change of a state beside the pose. */
  follow(listener: () => void): Disposable;
}

/** The state that the pages show, composed of what it is at this moment, and its changes to those who follow it. */
export function createLivePages(options: LivePagesOptions): LivePages {
  const { site, link, motion, clock, failedDrive, runs, build, withoutPaths } = options;
  const states = createPageStates(site, build, clock, runs);
  const addressesOf = (scope: Scope) =>
    events
      .listeners()
      .filter((one) => one.scope === scope)
      .map(({ peer }) => peer);
  const partsNow = (): Parts => ({
    snapshot: link.snapshot(),
    motion: motion.status(),
    delivery: options.delivery?.view() ?? null,
    health: options.health(),
    cloud: options.cloud(),
    support: options.support(),
    neighbours: options.neighbours(),
    viewers: { onSite: addressesOf('full'), remote: addressesOf('read-only') },
  });
  const pageState = () => states.compose(partsNow());
  const follow = (listener: () => void) => {
    const subscriptions = new DisposableStack();
    subscriptions.use(link.subscribe(listener, allButPose));
    subscriptions.use(motion.subscribe(listener));
    if (options.delivery !== undefined) subscriptions.use(options.delivery.subscribe(listener));
    subscriptions.use(failedDrive.subscribe(listener));
    return subscriptions;
  };
  const events = createLiveEvents({
    clock,
    compose: (name) => withoutPaths(name === 'state' ? pageState() : states.pose(link.snapshot())),
    subscribe: {
      state: follow,
      pose: (listener) => link.subscribe(listener, ['pose']),
    },
  });
  return { events, pageState, stateAgeMs: states.ageMs, sight: () => states.sight(partsNow()), follow };
}
