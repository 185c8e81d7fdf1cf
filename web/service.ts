import type { DeliveryList } from '../src/lib/pages/delivery/day-list.ts';
import type { LastHour } from '../src/lib/pages/last-hour.ts';
import type { PageState } from '../src/lib/pages/model.ts';
import { readLog } from '../src/lib/pages/service/log-entries.ts';
import { noPose, orderEnd, poseOf } from '../src/lib/pages/service/pose-draft.ts';
import type { Actions, Interaction } from '../src/lib/pages/ui.ts';
import { incidentActs } from './incidents.ts';
import { send } from './orders.ts';
import { Refused, readJson } from './read.ts';

const POLL_MS = 10_000;
/** 360 samples of three columns are some 10 kB. */
const MAX_HOUR_BYTES = 200_000;
const MAX_LOG_BYTES = 16e6;
const MAX_DAYS_BYTES = 4e6;
/** Longer than the gateway waits for the robot to report the pose and to rest there. */
const SET_POSE_MS = 45_000;

export interface ServiceOptions {
  readonly state: () => PageState;
  readonly ui: () => Interaction;
  readonly show: (change: Partial<Interaction>) => void;
}

/** What the technician page loads beside the states: its charts and its log; and the pose that a person sets. */
export function serviceActs({ state, ui, show }: ServiceOptions) {
  let isLoading = false;
  let opened = 0;
  let openedDays = 0;
  /** Of the map that the draft of the pose is on. */
  let mapUid: string | null = null;

  async function loadHour(): Promise<void> {
    if (isLoading || document.hidden) return;
    isLoading = true;
    try {
      const hour = await readJson('/api/verlauf', MAX_HOUR_BYTES);
      // A page that has lost its gateway meanwhile shows nothing old.
      if (!ui().isSilent) show({ lastHour: hour === 'too-large' ? 'none' : (hour as LastHour) });
    } catch {
      show({ lastHour: 'none' });
    } finally {
      isLoading = false;
    }
  }

  async function openLog(isOpen: boolean): Promise<void> {
    opened += 1;
    const mine = opened;
    show({ log: { state: isOpen ? 'loading' : 'closed' } });
    if (!isOpen) return;
    const log = await loadLog();
    if (mine === opened) show({ log });
  }

  async function openDays(isOpen: boolean): Promise<void> {
    openedDays += 1;
    const mine = openedDays;
    show({ days: isOpen ? { state: 'loading' } : { state: 'closed' } });
    if (!isOpen) return;
    const days = await loadDays();
    if (mine === openedDays) show({ days });
  }

  async function setPose(): Promise<void> {
    const draft = ui().pose;
    const pose = poseOf(draft);
    if (pose === null || draft.order === 'sending') return;
    show({ pose: { ...draft, order: 'sending' } });
    const order = orderEnd(await send('POST', '/api/pose', { ...pose, seen: state().id }, SET_POSE_MS));
    show({ pose: order === 'set' ? { ...noPose, order } : { ...draft, order } });
  }

  setInterval(() => void loadHour(), POLL_MS);
  document.addEventListener('visibilitychange', () => {
    show({ lastHour: 'loading' });
    void loadHour();
  });
  const acts = {
    ...incidentActs({ ui, show }),
    openLog: (isOpen) => void openLog(isOpen),
    openDays: (isOpen) => void openDays(isOpen),
    editPose(change) {
      const { pose } = ui();
      if (pose.order !== 'sending') show({ pose: { ...pose, ...change, order: 'none' } });
    },
    setPose: () => void setPose(),
  } satisfies Partial<Actions>;

  return {
    acts,
    /** After each state, the first one too. */
    onState(): void {
      const { map } = state();
      const { lastHour, log, days, pose, incidents } = ui();
      // A place on one map is another one on the next.
      if (map.value !== null && map.value.uid !== mapUid) {
        if (mapUid !== null && pose.order !== 'sending') show({ pose: noPose });
        mapUid = map.value.uid;
      }
      if (lastHour === 'loading') void loadHour();
      // It may have been opened before this script ran.
      if (log.state === 'closed' && document.querySelector('details#log[open]') !== null) void openLog(true);
      if (days.state === 'closed' && document.querySelector('details#days[open]') !== null) void openDays(true);
      if (incidents.list === 'closed' && document.querySelector('details#incidents[open]') !== null)
        acts.openIncidents(true);
    },
  };
}

async function loadLog(): Promise<Interaction['log']> {
  try {
    const answer = await readJson('/api/protokolle', MAX_LOG_BYTES);
    if (answer === 'too-large') return { state: 'refused', code: 'TOO_LARGE' };
    return { state: 'shown', entries: readLog(answer) };
  } catch (error) {
    return { state: 'refused', code: (error instanceof Refused && error.code) || 'NO_LOG' };
  }
}

async function loadDays(): Promise<Interaction['days']> {
  try {
    const answer = await readJson('/api/lieferungen?seit=7d', MAX_DAYS_BYTES);
    if (answer === 'too-large') return { state: 'refused', code: 'TOO_LARGE' };
    return { state: 'shown', list: answer as DeliveryList };
  } catch (error) {
    return { state: 'refused', code: (error instanceof Refused && error.code) || 'NO_LOG' };
  }
}
