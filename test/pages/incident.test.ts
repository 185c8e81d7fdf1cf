import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { incidentEvents } from '../../src/lib/pages/incident/incident-events.ts';
import { Incidents } from '../../src/lib/pages/incident/incidents.tsx';
import type { IncidentsView } from '../../src/lib/pages/incident/incidents-view.ts';
import { replayState } from '../../src/lib/pages/incident/replay.ts';
import { type Cause, causeSchema, type IncidentBody, pageStateSchema, type Scene } from '../../src/lib/pages/index.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { still } from '../../src/lib/pages/ui.ts';
import type { Viewer } from '../../src/lib/pages/viewer.ts';
import { calm, sampleBody, sampleHead, sightWith, stopped } from '../incident/incidents.ts';
import { ready } from './states.ts';

const at = (atMs: number, { scene }: typeof calm): Scene => ({ atMs, ...scene });
const run = { kind: 'tour' as const, name: 'lunch', stations: ['A', 'B'], at: 0, failReason: null, although: [] };
const moving = sightWith({
  headline: { level: 'good', code: 'drives', notes: [] },
  run: { ...run, state: 'running' },
  standing: 'moves',
});
const slip = { code: 3001, level: 'error', message: 'slip' };

const lost = { level: 'bad' as const, code: 'not-connected' as const, notes: [{ code: 'not-connected' as const }] };
/** On the way to its second station. */
const onTour = (scene: Partial<typeof calm.scene>, state: 'running' | 'stopped' = 'running') =>
  sightWith({ ...scene, run: { ...run, at: 1, state } });

/** A tour, a second station, an alert, a stop and its end. */
const scenes: readonly Scene[] = [
  at(-60_000, calm),
  at(-20_000, moving),
  at(-10_000, onTour(moving.scene)),
  at(-5_000, onTour({ ...moving.scene, alerts: { ...calm.scene.alerts, value: [slip] } })),
  at(0, onTour({ ...stopped.scene, standing: 'moves' })),
  at(2_000, onTour(stopped.scene, 'stopped')),
  at(6_000, onTour(calm.scene, 'stopped')),
  at(7_000, sightWith({ ...calm.scene, link: { kind: 'not-connected', failure: 'cut' }, headline: lost })),
  at(8_000, calm),
];
const causes: Cause[] = [
  { code: 'alert', atMs: -5_000, alertCode: 3001, text: 'slip' },
  { code: 'stop', atMs: 0, origin: 'surface', by: '192.0.2.9' },
  { code: 'link-lost', atMs: 7_000, failure: 'cut' },
];
const recording = { head: { ...sampleHead, causes }, body: { ...sampleBody, scenes: [...scenes] } };
const lines = (language: 'de' | 'en', { head, body } = recording) => {
  const { t, f } = textsOf(language, 'UTC');
  return incidentEvents({ head, body }, t, f).map(({ atMs, kind, text }) => [atMs, kind, text]);
};

describe('what happened in an incident', () => {
  it('is a list in words, oldest first, with its causes marked', () => {
    expect(lines('en')).toEqual([
      [-60_000, 'event', 'Ready'],
      [-20_000, 'event', 'Driving tour lunch'],
      [-20_000, 'event', 'The robot moves'],
      [-10_000, 'event', 'On to station 2 of 2 (B)'],
      [-5_000, 'cause', 'Alert 3001: slip'],
      [0, 'cause', 'STOP on the operator surface (192.0.2.9)'],
      [0, 'event', 'Motion gate: locked'],
      [0, 'event', 'Alert 3001 no longer reported'],
      [2_000, 'event', 'Drive tour lunch · station 2 of 2 (B) cancelled'],
      [2_000, 'event', 'The robot stands'],
      [6_000, 'event', 'Stop cleared'],
      [6_000, 'event', 'Motion gate: open'],
      [7_000, 'cause', 'Link lost: The connection was cut.'],
      [8_000, 'event', 'Connected again'],
    ]);
    expect(lines('de').map(([, , text]) => text)).toContain('STOPP auf der Bedienseite (192.0.2.9)');
  });

  it('says what the robot reports of its drive as its word', () => {
    const planning = (moveState: string, failReason: number) => ({
      ...calm.scene.planning,
      value: { moveState, actionType: 'x', failReason, failReasonText: '', remainingDistanceM: null },
    });
    const scenes = [
      at(-1, sightWith({ planning: planning('moving', 0) })),
      at(0, sightWith({ planning: planning('failed', 103) })),
    ];
    const body = { ...sampleBody, scenes };
    const text = 'The robot reports its drive: failed (reason 103: invalid heading of the target)';
    expect(lines('en', { head: sampleHead, body }).at(-1)).toEqual([0, 'event', text]);
  });

  it('is nothing but its causes for an incident without a scene', () => {
    const body = { ...sampleBody, scenes: [] };
    expect(lines('en', { head: sampleHead, body })).toEqual([[0, 'cause', 'STOP on the operator surface (192.0.2.9)']]);
    expect(replayState({ head: sampleHead, body }, 0)).toBe(null);
  });
});

describe('the replay', () => {
  const poses: IncidentBody['poses'] = [
    { atMs: -1_000, xM: 1, yM: 0, yawDeg: 90, map: 0 },
    { atMs: -900, xM: 2, yM: 0, yawDeg: 91, map: 0 },
  ];
  const of = (atMs: number) => replayState({ ...recording, body: { ...recording.body, poses } }, atMs);

  it('is a state of the pages, with the pose and the scene of that moment', () => {
    const state = of(-950);
    expect(pageStateSchema.parse(state)).toEqual(state);
    expect(state).toMatchObject({
      time: '2026-01-31T11:59:59.050Z',
      headline: { code: 'drives' },
      pose: { value: { xM: 1 }, ageMs: 50, stale: null },
      heading: { value: 90 },
    });
    expect(of(-900)?.pose.value?.xM).toBe(2);
  });

  it('shows no pose before the first, and an old one as old', () => {
    expect(of(-30_000)?.pose).toMatchObject({ value: null, stale: null });
    expect(of(1_500)?.pose).toMatchObject({ value: { xM: 2 }, stale: 'too-old' });
    expect(of(7_500)?.pose.stale).toBe('no-connection');
  });

  const attic = { name: 'attic', uid: 'u-2', mapVersion: 1, overlaysVersion: 1 };
  const moved = sightWith({ map: { ...calm.scene.map, value: attic } });
  const twoMaps: IncidentBody = {
    ...sampleBody,
    maps: [
      { uid: 'u-1', version: 1, title: 'hall' },
      { uid: 'u-2', version: 1, title: 'attic' },
    ],
    stations: [
      { name: 'A', xM: 1, yM: 2, map: 0 },
      { name: 'U', xM: 1, yM: 2, map: 1 },
      { name: 'X', xM: 1, yM: 2, map: null },
    ],
    dock: { xM: 0, yM: 0, yawDeg: 0, map: 0 },
    poses,
    scenes: [at(-60_000, calm), at(-500, moved)],
  };
  const pictureOf = (body: IncidentBody, atMs: number) => {
    const state = replayState({ head: sampleHead, body }, atMs);
    const names = state?.site.stations.map(({ name }) => name);
    return [state?.map.value?.name ?? null, state?.pose.value?.xM ?? null, names, state?.site.dock !== null];
  };

  it('shows a pose and places on their own map alone', () => {
    expect(pictureOf(twoMaps, -600)).toEqual(['hall', 2, ['A'], true]);
    // The robot has reported no pose there yet.
    expect(pictureOf(twoMaps, -400)).toEqual(['attic', null, ['U'], false]);
    const there = { ...twoMaps, poses: [...poses, { atMs: -300, xM: 9, yM: 0, yawDeg: 0, map: 1 }] };
    expect(pictureOf(there, -200)).toEqual(['attic', 9, ['U'], false]);
    expect(pageStateSchema.parse(replayState({ head: sampleHead, body: there }, -200))).toBeTruthy();
  });

  it.each([
    ['of before, whose poses name none', { ...sampleBody, maps: undefined }],
    ['whose pose was observed while it was not known', sampleBody],
  ])('does not know the map of an incident %s', (_what, body) => {
    const { maps: _maps, ...old } = body;
    const pose = { atMs: -1_000, xM: 1, yM: 0, yawDeg: 90 };
    const own = body.maps === undefined ? old : body;
    const at = body.maps === undefined ? pose : { ...pose, map: null };
    expect(pictureOf({ ...own, poses: [at] }, -900)).toEqual([null, 1, [], false]);
  });

  it('keeps the doubt about a heading', () => {
    const doubtful = sightWith({ headline: { level: 'bad', code: 'locked', notes: [{ code: 'unit-radians' }] } });
    const state = replayState({ head: sampleHead, body: { ...sampleBody, scenes: [at(-60_000, doubtful)] } }, 0);
    expect(state?.heading.doubts).toEqual(['radians']);
  });
});

const nothing = () => {};
const technician: Viewer = { language: 'de', readOnly: false, signedIn: true };
const list = { incidents: [recording.head], recording: null, unreadable: 0, folderProblem: null, notKept: null };
const shownIncident = { state: 'shown', ...recording, atMs: 0, isPlaying: false } as const;

function section(incidents: IncidentsView, viewer: Viewer = technician): string {
  const act = new Proxy({}, { get: () => nothing }) as never;
  const ui = { ...still, act, incidents };
  return renderToString(h(Incidents, { state: ready, viewer, ui, ...textsOf(viewer.language, 'UTC') }));
}

describe('the section of the technician page', () => {
  it('lets only a signed-in person open an incident', () => {
    expect(section({ list, shown: null })).toContain('Vorfall 3 ansehen');
    const stranger = { ...technician, signedIn: false };
    for (const viewer of [stranger, { ...stranger, readOnly: true }]) {
      const page = section({ list, shown: null }, viewer);
      expect(page).toContain('STOPP auf der Bedienseite');
      expect(page).not.toMatch(/<button|href="\/api/);
    }
  });

  it('says that a recording is not the present, offers no order on its map, and marks another map', () => {
    const page = section({ list, shown: shownIncident });
    expect(page).toContain('nicht der jetzige Stand');
    expect(page).not.toMatch(/class="go"|<form/);
    expect(page).toContain('Auf einer anderen Karte als der jetzigen.');
    // Unknown here and there is not the same.
    const { maps: _maps, ...old } = recording.body;
    const unknown = section({
      list,
      shown: { ...shownIncident, body: { ...old, poses: [{ atMs: 0, xM: 1, yM: 0, yawDeg: 0 }] } },
    });
    expect(unknown).toContain('Auf welcher Karte das war, ist nicht bekannt.');
  });

  it('says what is missing', () => {
    const cut = { ...recording.head, isComplete: false };
    const of = (change: object) => section({ list: { ...list, ...change }, shown: null });
    expect(of({ incidents: [cut] })).toContain('Das Gateway endete vorher');
    expect(of({ incidents: [cut], recording: 3 })).toContain('wird gerade aufgezeichnet');
    const lacking = of({ unreadable: 2, notKept: { count: 1, reason: 'full' } });
    expect(lacking).toMatch(/Nicht gespeichert .* ein Vorfall.*Nicht lesbar: 2 Dateien/);
    const body = { ...recording.body, leftOut: { poses: 0, scenes: 1, log: 0 } };
    expect(section({ list, shown: { ...shownIncident, body } })).toContain('Das Älteste fehlt');
    const unread = of({ incidents: [], folderProblem: 'EACCES' });
    expect(unread).toContain('Frühere Vorfälle sind nicht lesbar.');
    expect(unread).not.toContain('Es ist kein Vorfall aufgezeichnet');
    expect(of({ incidents: [] })).toContain('Es ist kein Vorfall aufgezeichnet');
    expect(of({})).not.toContain('Es ist kein Vorfall aufgezeichnet');
    expect(section({ list: 'none', shown: null })).toContain('zurzeit nicht abrufbar');
    expect(section({ list, shown: { state: 'refused', id: 3, code: 'NO_ANSWER' } })).toContain('role="alert"');
  });

  it('shows texts of others as text', () => {
    const evil = '<img src=x onerror=alert(1)>';
    const head = { ...recording.head, causes: [{ code: 'alert' as const, atMs: 0, alertCode: 1, text: evil }] };
    const log = [{ atMs: 0, level: 'warn' as const, message: evil, fields: { [evil]: evil }, count: 1 }];
    const body = { ...recording.body, log };
    const page = section({ list: { ...list, incidents: [head] }, shown: { ...shownIncident, head, body } });
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;img');
  });

  it('has no word of the other language, whatever the cause', () => {
    const all: Cause[] = causeSchema.options.map((option) => {
      const samples: Readonly<Record<string, unknown>> = {
        ...{ atMs: 0, origin: 'cloud', by: null, alertCode: 7, text: '', failure: 'silent', kind: 'dock', name: null },
        failReason: 103,
      };
      const shape = option.shape as Readonly<Record<string, { readonly value?: unknown }>>;
      return Object.fromEntries(
        Object.keys(shape).map((key) => [key, key === 'code' ? shape.code?.value : samples[key]]),
      ) as Cause;
    });
    const head = { ...recording.head, causes: all, isComplete: false, moreCauses: 2 };
    const more = { recording: null, unreadable: 1, folderProblem: 'x', notKept: { count: 2, reason: '' } };
    const shown = { ...shownIncident, head, body: { ...recording.body, log: [] } };
    const whole = { list: { incidents: [head], ...more }, shown };
    const text = (language: 'de' | 'en') =>
      [whole, { list: { ...list, incidents: [] }, shown: null }, { list: 'none' as const, shown: null }]
        .map((view) => section(view, { ...technician, language }))
        .join(' ')
        .replace(/<[^>]*>/g, ' ');
    expect(text('de')).not.toMatch(/\b(the|and|is|are|with|of|robot|stop|incident|alert|link|lost)\b/i);
    expect(text('en')).not.toMatch(/\b(der|die|das|und|ist|nicht|mit|von|Roboter|Vorfall|Fahrt)\b|[äöüß]/i);
  });
});
