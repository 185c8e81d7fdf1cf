import type { Note, PageState } from '../model.ts';
import { noteText } from '../texts/catalogue.ts';
import type { Format } from '../texts/format.ts';
import type { Texts } from '../texts/texts.ts';
import { causeText } from './cause-text.ts';
import type { Cause, Scene } from './incident-model.ts';
import { type Recording, replayState } from './replay.ts';

/** One line of what happened, in the words of a language. */
export interface IncidentEvent {
  readonly atMs: number;
  /** 'cause': it made this an incident. */
  readonly kind: 'cause' | 'event';
  readonly text: string;
}

/** What happened in an incident, oldest first: how it began, what changed, and its causes. */
export function incidentEvents(recording: Recording, t: Texts, f: Format): readonly IncidentEvent[] {
  const { head, body } = recording;
  const causes = head.causes.map((cause) => ({
    atMs: cause.atMs,
    kind: 'cause' as const,
    text: causeText(cause, t, f),
  }));
  const [first] = body.scenes;
  const began =
    first === undefined
      ? []
      : [{ atMs: first.atMs, kind: 'event' as const, text: headlineText(recording, first, t, f) }];
  const changes = body.scenes.slice(1).flatMap((scene, index) => {
    const before = body.scenes[index] as Scene;
    const own = head.causes.filter(({ atMs }) => Math.abs(atMs - scene.atMs) <= SAME_MS).map(({ code }) => code);
    return changesBetween(recording, before, scene, new Set(own), t, f).map((text) => ({
      atMs: scene.atMs,
      kind: 'event' as const,
      text,
    }));
  });
  return [...began, ...changes, ...causes].sort((a, b) => a.atMs - b.atMs || rank(a) - rank(b));
}

/** A cause and the scene that shows it are of one look. */
const SAME_MS = 1;
const rank = ({ kind }: IncidentEvent) => (kind === 'cause' ? 0 : 1);

function headlineText(recording: Recording, { atMs, headline }: Scene, t: Texts, f: Format): string {
  const state = replayState(recording, atMs) as PageState;
  const notes = headline.notes.map((note) => noteText(note, t, f));
  return [t.headline[headline.code](state, f), ...notes].join('. ').replaceAll('..', '.');
}

/** Lamps whose change says something beyond the other lines. */
const links: readonly Scene['lamps'][number]['id'][] = ['cloud', 'heartbeat', 'support', 'disk', 'gateway'];
/** Notes with lines of their own. */
const elsewhere: ReadonlySet<Note['code']> = new Set([
  ...(['alerts', 'stop-latched', 'not-connected', 'emergency-stop'] as const),
  ...(['standing-not-known', 'still-moves', 'moves', 'does-not-stop', 'standing-awaited', 'gate-closed'] as const),
]);

function changesBetween(
  recording: Recording,
  old: Scene,
  now: Scene,
  own: ReadonlySet<Cause['code']>,
  t: Texts,
  f: Format,
): string[] {
  const { incident, ui } = t;
  const differs = <T>(read: (scene: Scene) => T): boolean => read(old) !== read(now);
  const state = replayState(recording, now.atMs) as PageState;
  const pressed = ({ wheels }: Scene) => wheels.value?.emergencyStopPressed;
  const quality = ({ positioning }: Scene) => positioning.value?.quality;
  const move = ({ planning }: Scene) => planning.value?.moveState;
  const lines: (string | false)[] = [
    differs(({ stop }) => stop.latched) && !now.stop.latched && incident.stopCleared,
    differs(({ link }) => link.kind) && now.link.kind === 'connected' && incident.linkBack,
    differs(({ link }) => link.kind) &&
      now.link.kind !== 'connected' &&
      !own.has('link-lost') &&
      t.headline[now.link.kind](state, f),
    differs(pressed) && pressed(now) === false && pressed(old) !== undefined && ui.emergencyStopReleased,
    ...runLines(old.run, state, own, t, f),
    differs(move) && move(now) !== undefined && incident.reported(moveText(now, t)),
    differs(quality) && !own.has('position-lost') && incident.pair(ui.positioning, ui.quality(quality(now) ?? '')),
    differs(({ standing }) => standing) && !own.has('does-not-stop') && incident.standing[now.standing],
    differs(({ gate }) => gate.isOpen) && incident.pair(t.lamps.gate, now.gate.isOpen ? t.words.open : t.words.locked),
    ...goneAlerts(old, now).map((code) => incident.alertGone(code)),
    ...now.headline.notes
      .filter(({ code }) => !elsewhere.has(code) && !old.headline.notes.some((note) => note.code === code))
      .map((note) => noteText(note, t, f)),
    ...links
      .filter((id) => levelOf(old, id) !== levelOf(now, id))
      .map((id) => incident.pair(t.lamps[id], t.levels[levelOf(now, id)])),
  ];
  return lines.filter((line) => line !== false);
}

function runLines(
  before: Scene['run'],
  state: PageState,
  own: ReadonlySet<Cause['code']>,
  t: Texts,
  f: Format,
): string[] {
  const { run } = state;
  if (run === null) return [];
  const isSame = before !== null && before.kind === run.kind && before.name === run.name && before.state === run.state;
  if (isSame && before.at === run.at) return [];
  if (run.state === 'paused') return [t.headline.paused(state, f)];
  if (run.state !== 'running') return run.state === 'failed' && own.has('move-failed') ? [] : [t.run(run, f)];
  if (isSame) {
    const station = f.named(run.stations[run.at] ?? '', run.stationTitles?.[run.at]);
    return [t.incident.station(run.at + 1, run.stations.length, station)];
  }
  return [run.kind === 'trial' || run.kind === 'order' ? t.run(run, f) : t.headline.drives(state, f)];
}

function moveText({ planning }: Scene, t: Texts): string {
  const { moveState = '', failReason = 0 } = planning.value ?? {};
  return `${t.ui.moveState(moveState)}${moveState === 'failed' && failReason !== 0 ? ` (${t.failReason(failReason)})` : ''}`;
}

function goneAlerts(old: Scene, now: Scene): number[] {
  const active = now.alerts.value ?? [];
  if (now.alerts.stale !== null) return [];
  return (old.alerts.value ?? [])
    .map(({ code }) => code)
    .filter((code) => !active.some((alert) => alert.code === code));
}

const levelOf = ({ lamps }: Scene, id: Scene['lamps'][number]['id']) =>
  lamps.find((lamp) => lamp.id === id)?.level ?? 'unknown';
