import type { DaysView } from './delivery/day-list.ts';
import { type IncidentActions, type IncidentsView, noIncidents } from './incident/incidents-view.ts';
import type { LastHour } from './last-hour.ts';
import type { MapModel } from './map/map-model.ts';
import type { PageState } from './model.ts';
import type { LogView } from './service/log-entries.ts';
import { noPose, type PoseDraft, type PoseFields } from './service/pose-draft.ts';
import type { Format } from './texts/format.ts';
import type { Texts } from './texts/texts.ts';
import type { Choice, Viewer } from './viewer.ts';

/** What became of a STOP that was pressed on this page; times since it was pressed, by the clock of the browser. */
export interface StopProgress {
  readonly acknowledgedAfterMs: number | null;
  readonly saved: boolean | 'pending';
  /** When the poses of the robot showed that it stands. */
  readonly standingAfterMs: number | null;
  /** How long the gateway has not answered; null: it has, or the first attempt has time yet. */
  readonly unansweredForMs: number | null;
}

/** Whether a stop that was pressed on this page has no answer yet: nothing is ordered meanwhile. */
export function isStopOpen(stop: StopProgress | null): boolean {
  return stop !== null && stop.acknowledgedAfterMs === null;
}

/** What only a page with script has. */
export interface Interaction {
  readonly choice: Choice | null;
  readonly order: { readonly state: 'sending' } | { readonly state: 'refused'; readonly code: string } | null;
  /** The question has been there for so long that a press is meant for it. */
  readonly isArmed: boolean;
  /** Why the last question closed by itself, while that is news. */
  readonly closed: 'late' | 'changed' | null;
  /** What is searched for among the stations. */
  readonly query: string;
  readonly isPadOpen: boolean;
  /** The pin of the map that the keyboard is at, as `choiceText`; null: the first. */
  readonly atPin: string | null;
  readonly stop: StopProgress | null;
  /** No state has arrived for a while: no value on the page holds now. */
  readonly isSilent: boolean;
  readonly map: MapModel | 'loading' | 'none' | 'too-large';
  readonly isFollowing: boolean;
  /** For the technician. */
  readonly lastHour: LastHour | 'loading' | 'none';
  readonly log: LogView;
  readonly days: DaysView;
  /** Code of the refusal of what was last asked of deliveries beside the question; null: not refused. */
  readonly deliveryRefused: string | null;
  readonly pose: PoseDraft;
  readonly incidents: IncidentsView;
  /** null: rendered by the server. */
  readonly act: Actions | null;
}

export interface Actions extends IncidentActions {
  readonly choose: (choice: Choice | null) => void;
  readonly confirm: (choice: Choice, although: string | null) => void;
  readonly search: (query: string) => void;
  readonly openPad: (isOpen: boolean) => void;
  readonly goToPin: (pin: string) => void;
  readonly stop: () => void;
  readonly endRun: () => void;
  readonly pauseTour: () => void;
  readonly enqueue: (station: string) => void;
  readonly removeQueued: (id: string) => void;
  /** What the arrival brought is taken, and nothing comes next. */
  readonly arrivalOver: (id: string) => void;
  readonly endCountdown: (id: string) => void;
  /** Drives may begin by themselves again. */
  readonly release: () => void;
  /** A person has seen how this run failed. */
  readonly runSeen: (id: string) => void;
  readonly zoom: (factor: number) => void;
  readonly follow: () => void;
  readonly openLog: (isOpen: boolean) => void;
  readonly openDays: (isOpen: boolean) => void;
  readonly editPose: (change: Partial<PoseFields>) => void;
  readonly setPose: () => void;
}

/** A page as the server renders it. */
export const still: Interaction = {
  choice: null,
  order: null,
  isArmed: false,
  closed: null,
  query: '',
  isPadOpen: false,
  atPin: null,
  stop: null,
  isSilent: false,
  map: 'loading',
  isFollowing: false,
  lastHour: 'loading',
  log: { state: 'closed' },
  days: { state: 'closed' },
  deliveryRefused: null,
  pose: noPose,
  incidents: noIncidents,
  act: null,
};

/** What every component gets. */
export interface Props {
  readonly state: PageState;
  readonly viewer: Viewer;
  readonly ui: Interaction;
  readonly t: Texts;
  readonly f: Format;
}

/** Whether this may be ordered in this state, as far as the page can see; the gate decides. */
export function mayGo(props: Props, choice: Choice): boolean {
  const { state, ui, viewer } = props;
  return (
    !ui.isSilent &&
    ui.stop === null &&
    !viewer.readOnly &&
    isFreeFor(choice, props) &&
    state.gate.isOpen &&
    !state.stop.latched &&
    state.link.kind === 'connected' &&
    (!state.site.needsSignIn || viewer.signedIn)
  );
}

/** Whether no other run keeps the robot: a paused tour is in the way of all but its own continuation. */
export function isFreeFor(choice: Choice, { state: { run } }: Props): boolean {
  if (choice.kind === 'resume') return run?.state === 'paused' && run.name === choice.name;
  return run === null || (run.state !== 'running' && run.state !== 'paused');
}
