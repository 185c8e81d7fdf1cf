import type { LastHour } from './last-hour.ts';
import type { MapModel } from './map/map-model.ts';
import type { PageState } from './model.ts';
import type { LogView } from './service/log-entries.ts';
import { noPose, type PoseDraft, type PoseFields } from './service/pose-draft.ts';
import type { Texts } from './texts/catalogue.ts';
import type { Format } from './texts/format.ts';

export type Language = 'de' | 'en';

/** Who looks at a page, and by which socket. */
export interface Viewer {
  readonly language: Language;
  readonly readOnly: boolean;
  readonly signedIn: boolean;
}

/** What a person has chosen and not confirmed yet. */
export type Choice =
  | { readonly kind: 'station'; readonly name: string }
  | { readonly kind: 'tour'; readonly name: string }
  | { readonly kind: 'dock' };

/** What became of a STOP that was pressed on this page; times since it was pressed, by the clock of the browser. */
export interface StopProgress {
  readonly acknowledgedAfterMs: number | null;
  readonly saved: boolean | 'pending';
  /** When the poses of the robot showed that it stands. */
  readonly standingAfterMs: number | null;
  /** The gateway did not answer. */
  readonly isUnanswered: boolean;
}

/** What only a page with script has. */
export interface Interaction {
  readonly choice: Choice | null;
  readonly order: { readonly state: 'sending' } | { readonly state: 'refused'; readonly code: string } | null;
  readonly stop: StopProgress | null;
  /** No state has arrived for a while: no value on the page holds now. */
  readonly isSilent: boolean;
  readonly map: MapModel | 'loading' | 'none' | 'too-large';
  readonly isFollowing: boolean;
  /** For the technician. */
  readonly lastHour: LastHour | 'loading' | 'none';
  readonly log: LogView;
  readonly pose: PoseDraft;
  /** null: rendered by the server. */
  readonly act: Actions | null;
}

export interface Actions {
  readonly choose: (choice: Choice | null) => void;
  readonly confirm: (choice: Choice, although: string | null) => void;
  readonly stop: () => void;
  readonly endRun: () => void;
  readonly zoom: (factor: number) => void;
  readonly follow: () => void;
  readonly openLog: (isOpen: boolean) => void;
  readonly editPose: (change: Partial<PoseFields>) => void;
  readonly setPose: () => void;
}

/** A page as the server renders it. */
export const still: Interaction = {
  choice: null,
  order: null,
  stop: null,
  isSilent: false,
  map: 'loading',
  isFollowing: false,
  lastHour: 'loading',
  log: { state: 'closed' },
  pose: noPose,
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

/** `?ziel=` of the operator surface, for pages without script. */
export function choiceText(choice: Choice): string {
  return choice.kind === 'dock' ? 'dock' : `${choice.kind}:${choice.name}`;
}

/** null for a text that names no place or tour of this site. */
export function readChoice(text: string | undefined, { stations, tours, dock }: PageState['site']): Choice | null {
  if (text === undefined) return null;
  if (text === 'dock') return dock === null ? null : { kind: 'dock' };
  const at = text.indexOf(':');
  const [kind, name] = [text.slice(0, at), text.slice(at + 1)];
  if (kind === 'station' && stations.some((one) => one.name === name)) return { kind, name };
  if (kind === 'tour' && tours.some((one) => one.name === name)) return { kind, name };
  return null;
}

/** Whether a new drive may be ordered in this state, as far as the page can see; the gate decides. */
export function mayGo({ state, ui, viewer }: Props): boolean {
  const isFree = state.run === null || state.run.state !== 'running';
  return (
    !ui.isSilent &&
    !viewer.readOnly &&
    isFree &&
    state.gate.isOpen &&
    !state.stop.latched &&
    state.link.kind === 'connected' &&
    (!state.site.needsSignIn || viewer.signedIn)
  );
}
