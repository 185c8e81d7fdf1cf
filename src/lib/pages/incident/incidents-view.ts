import type { IncidentList } from './incident-model.ts';
import type { Recording } from './replay.ts';

/** What the page holds of the incidents. */
export interface IncidentsView {
  readonly list: IncidentList | 'closed' | 'loading' | 'none';
  /** By its id, while it is being looked at. */
  readonly shown:
    | { readonly state: 'loading'; readonly id: number }
    | { readonly state: 'refused'; readonly id: number; readonly code: string }
    | ({ readonly state: 'shown'; readonly atMs: number; readonly isPlaying: boolean } & Recording)
    | null;
}

export const noIncidents: IncidentsView = { list: 'closed', shown: null };

export interface IncidentActions {
  readonly openIncidents: (isOpen: boolean) => void;
  readonly showIncident: (id: number | null) => void;
  /** To a moment of the one that is shown. */
  readonly seek: (atMs: number) => void;
  readonly play: (isPlaying: boolean) => void;
}
