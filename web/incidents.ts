import type { IncidentBody, IncidentHead, IncidentList } from '../src/lib/pages/incident/incident-model.ts';
import type { IncidentActions, IncidentsView } from '../src/lib/pages/incident/incidents-view.ts';
import type { Interaction } from '../src/lib/pages/ui.ts';
import { Refused, readJson, readText } from './read.ts';

const RELOAD_MS = 10_000;
const MAX_LIST_BYTES = 2e6;
const MAX_FILE_BYTES = 4e6;
const STEP_MS = 100;

export interface IncidentsOptions {
  readonly ui: () => Interaction;
  readonly show: (change: Partial<Interaction>) => void;
}

/** Loads the incidents while their section is open, and plays one. */
export function incidentActs({ ui, show }: IncidentsOptions): IncidentActions {
  let opened = 0;
  let player: ReturnType<typeof setInterval> | undefined;

  function change(to: Partial<IncidentsView>): void {
    show({ incidents: { ...ui().incidents, ...to } });
  }

  async function loadList(): Promise<void> {
    try {
      const list = await readJson('/api/vorfaelle', MAX_LIST_BYTES);
      if (ui().incidents.list !== 'closed') change({ list: list === 'too-large' ? 'none' : (list as IncidentList) });
    } catch {
      if (ui().incidents.list !== 'closed') change({ list: 'none' });
    }
  }

  function seek(atMs: number): void {
    const { shown } = ui().incidents;
    if (shown?.state === 'shown') change({ shown: { ...shown, atMs } });
  }

  function play(isPlaying: boolean): void {
    clearInterval(player);
    const { shown } = ui().incidents;
    if (shown?.state !== 'shown') return;
    const { fromMs, toMs } = shown.head;
    // At its end it begins anew.
    const beginMs = isPlaying && shown.atMs >= toMs ? fromMs : shown.atMs;
    change({ shown: { ...shown, isPlaying, atMs: beginMs } });
    if (!isPlaying) return;
    const beganAt = performance.now();
    player = setInterval(() => {
      const { shown: now } = ui().incidents;
      if (now?.state !== 'shown') return clearInterval(player);
      const atMs = Math.min(toMs, beginMs + performance.now() - beganAt);
      if (atMs >= toMs) clearInterval(player);
      change({ shown: { ...now, atMs, isPlaying: atMs < toMs } });
    }, STEP_MS);
  }

  async function showIncident(id: number | null): Promise<void> {
    clearInterval(player);
    opened += 1;
    const mine = opened;
    change({ shown: id === null ? null : { state: 'loading', id } });
    if (id === null) return;
    const shown = await load(id);
    if (mine === opened) change({ shown });
  }

  setInterval(() => {
    if (ui().incidents.list !== 'closed' && !document.hidden) void loadList();
  }, RELOAD_MS);
  return {
    openIncidents(isOpen) {
      if (!isOpen) void showIncident(null);
      change({ list: isOpen ? 'loading' : 'closed' });
      if (isOpen) void loadList();
    },
    showIncident: (id) => void showIncident(id),
    // A moment that a person chooses ends the playing.
    seek(atMs) {
      play(false);
      seek(atMs);
    },
    play,
  };
}

/** A file of three lines: head, body, and a sum that the gateway has verified. */
async function load(id: number): Promise<IncidentsView['shown']> {
  try {
    const text = await readText(`/api/vorfaelle/${id}`, MAX_FILE_BYTES);
    if (text === 'too-large') return { state: 'refused', id, code: 'TOO_LARGE' };
    const [first = '', second = ''] = text.split('\n', 2);
    const head = JSON.parse(first) as IncidentHead;
    const body = JSON.parse(second) as IncidentBody;
    return { state: 'shown', head, body, atMs: 0, isPlaying: false };
  } catch (error) {
    return { state: 'refused', id, code: (error instanceof Refused && error.code) || 'NO_ANSWER' };
  }
}
