import fc from 'fast-check';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { factsOfOrder } from '../../src/lib/motion/gate.ts';
import { refusalTable } from '../../src/lib/operator/http/refusal.ts';
import type { Lamp, MediaLibraryView, Note } from '../../src/lib/pages/index.ts';
import {
  languageOf,
  mediaPage,
  type PageState,
  readChoice,
  refusedPage,
  servicePage,
  setPosePage,
  signInPage,
  supportEndedPage,
  surfacePage,
  type Viewer,
} from '../../src/lib/pages/index.ts';
import { Media } from '../../src/lib/pages/media/media.tsx';
import { type MediaInteraction, stillMedia } from '../../src/lib/pages/media/media-model.ts';
import {
  doubts,
  failureCauses,
  headlineCodes,
  lampIds,
  lampLevels,
  noteSchema,
  staleReasons,
} from '../../src/lib/pages/model.ts';
import { noPose, type PoseDraft } from '../../src/lib/pages/service/pose-draft.ts';
import { Service } from '../../src/lib/pages/service/service.tsx';
import { noteText, textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { type Interaction, still } from '../../src/lib/pages/ui.ts';
import { isFull } from '../properties.ts';
import { driving, failed, latched, ready } from './states.ts';

const onSite: Viewer = { language: 'de', readOnly: false, signedIn: false };
const remote: Viewer = { ...onSite, readOnly: true };
const technician: Viewer = { ...onSite, signedIn: true };
const surface = (state: PageState, viewer = onSite, choice: string | undefined = undefined) =>
  surfacePage({ state, viewer }, readChoice(choice, state.site));
/** What a person reads: without the state for the script, without tags, and without what is marked as English. */
const shown = (page: string) =>
  page
    .replace(/<script[\s\S]*?<\/script>/g, '')
    .replace(/<head>[\s\S]*?<\/head>/g, '')
    .replace(/<(small|p|a) [^>]*lang="en"[^>]*>[\s\S]*?<\/\1>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');

describe('the operator surface without script', () => {
  it('asks before it drives: a touch is a link, and the question holds the form', () => {
    const before = surface(ready);
    expect(before).toContain('href="/?ziel=station%3AA"');
    expect(before).not.toContain('action="/api/fahrt"');
    const asked = surface(ready, onSite, 'station:A');
    expect(asked).toContain('A anfahren?');
    expect(asked).toMatch(/<form[^>]*method="post" action="\/api\/fahrt"/);
    expect(asked).toContain('<input type="hidden" name="station" value="A"');
    expect(surface(ready, onSite, 'tour:lunch')).toMatch(/<form[^>]*action="\/api\/touren\/lauf"/);
    expect(surface(ready, onSite, 'dock')).toContain('<input type="hidden" name="dock" value="true"');
  });

  it.each(['station:X', 'tour:A', 'nothing', '', 'station', ':A'])('asks nothing for the target %j', (target) => {
    expect(surface(ready, onSite, target)).not.toContain('class="sheet"');
  });

  it('has STOPP in every state on site, never disabled; and no order through the tunnel', () => {
    for (const state of [ready, latched, driving]) {
      const button = /<button[^>]*class="stop-button"[^>]*>/.exec(surface(state))?.[0];
      expect(button).toBeDefined();
      expect(button).not.toContain('disabled');
      const far = surface(state, remote, 'station:A');
      expect(far).not.toMatch(/<form|<button|stop-button/);
      expect(far).toContain('Nur-Lese-Ansicht');
      expect(far).not.toContain('/anmeldung');
    }
  });

  it('offers to end the drive without a stop, and shows where it is', () => {
    const page = surface(driving);
    expect(page).toContain('action="/api/fahrt/ende"');
    expect(page).toContain('Fahrt Tour lunch · Station 2 von 2 (B) · seit 40\u00a0s');
    expect(surface(ready)).not.toContain('/api/fahrt/ende');
    const trial: PageState = { ...driving, run: { ...run(), kind: 'trial', name: null, stations: [] } };
    expect(surface(trial)).not.toContain('/api/fahrt/ende');
  });

  it('pauses a tour by one touch, and continues it by two', () => {
    const pausing = surface(driving);
    expect(pausing).toContain('action="/api/touren/lauf/pause"');
    expect(pausing).not.toContain('Weiter');
    const drive: PageState = { ...driving, run: { ...run(), kind: 'drive', name: 'A', stations: [] } };
    expect(surface(drive)).not.toContain('/api/touren/lauf/pause');
    const headline = { level: 'attention' as const, code: 'paused' as const, notes: [] };
    const paused: PageState = { ...ready, headline, run: { ...run(), state: 'paused' } };
    const page = surface(paused);
    expect(page).toContain('Pause: Tour lunch');
    expect(page).toContain('Pause vor Station 2 von 2 (B), seit 40\u00a0s');
    expect(page).toContain('action="/api/fahrt/ende"');
    expect(page).not.toContain('/api/touren/lauf/pause');
    expect(page).toContain('href="/?ziel=resume%3Alunch"');
    expect(page).not.toContain('/api/touren/lauf/weiter');
    const asked = surface(paused, onSite, 'resume:lunch');
    expect(asked).toMatch(/<form[^>]*action="\/api\/touren\/lauf\/weiter"/);
    expect(asked).toContain('<input type="hidden" name="tour" value="lunch"');
    expect(asked).toMatch(/<button type="submit" class="go confirms">Weiter/);
    // Every other order waits for the end of the paused tour, and the end of the pause for its start.
    for (const [state, choice] of [
      [paused, 'station:A'],
      [paused, 'tour:lunch'],
      [driving, 'resume:lunch'],
      [ready, 'resume:lunch'],
    ] as const) {
      expect(surface(state, onSite, choice)).toMatch(/<button type="submit" class="go confirms" disabled/);
    }
    expect(surface(ready, onSite, 'resume:lunch')).toContain('Diese Tour ist nicht in Pause.');
    expect(surface(paused, remote, 'resume:lunch')).not.toMatch(/<form|ziel=/);
  });

  it('names what keeps the robot, whom staff call, and who may clear a stop', () => {
    const page = surface(latched);
    expect(page).toContain('Techniker: T. Echnik, 030 123');
    expect(page).toContain('Aufheben: Techniker anmelden');
    expect(page).not.toContain('/api/stopp/freigabe');
    expect(surface(latched, technician)).toContain('action="/api/stopp/freigabe"');
    expect(surface(latched, onSite, 'station:A')).toMatch(/<button[^>]*class="go[^"]*"[^>]*disabled/);
  });

  it('says of an unsaved stop that it is not saved', () => {
    expect(surface({ ...latched, stop: { ...latched.stop, saved: false } })).toContain('NICHT GESPEICHERT');
  });

  it('lets only a signed-in person pass alerts, by their numbers', () => {
    const state: PageState = {
      ...ready,
      headline: { level: 'bad', code: 'locked', notes: [] },
      gate: { ...ready.gate, isOpen: false, passable: [{ code: 7005, text: '7005: x' }] },
    };
    expect(surface(state, onSite, 'station:A')).not.toContain('name="although"');
    expect(surface(state, technician, 'station:A')).toMatch(/<input name="although"[^>]*required/);
  });

  it('strikes out what does not hold, with the reason before it', () => {
    const state: PageState = { ...ready, wheels: { ...ready.wheels, stale: 'no-connection' } };
    expect(surface(state)).toMatch(
      /class="doubt">veraltet, keine Verbindung zum Roboter: <\/span><span class="value str/,
    );
    const radians: PageState = { ...ready, heading: { ...ready.heading, doubts: ['radians'] } };
    const page = servicePage({ state: radians, viewer: onSite });
    expect(page).toContain('ungültig, Bogenmaß statt Grad: </span><span class="value struck">90,0°</span>');
    expect(page).toContain('widersprochen: BELEGT sind Grad');
  });
});

describe('texts of others', () => {
  const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u0000\'&</script>';

  it('are never markup, in no place of a page', () => {
    const evilCells = [{ technical: evil }, { at: evil }];
    const state: PageState = {
      ...latched,
      site: {
        ...{
          ...ready.site,
          name: evil,
          contact: { name: evil, phone: evil },
          stations: [{ name: evil, xM: 0, yM: 0 }],
        },
        tours: [{ name: evil, stations: [evil] }],
      },
      headline: {
        ...latched.headline,
        notes: [
          { code: 'alerts', alerts: [evil], more: 1 },
          { code: 'unreadable', topic: evil },
          { code: 'control-mode', mode: evil },
        ],
      },
      stop: { ...latched.stop, reason: evil, by: evil, origin: 'other' },
      identity: { serial: evil, model: evil, software: evil },
      run: { ...run(), name: evil, stations: [evil], at: 0 },
      wheels: { ...ready.wheels, value: { emergencyStopPressed: true, controlMode: evil, wheelsReleased: true } },
      alerts: { ...ready.alerts, value: [{ code: 1, level: evil, message: evil }] },
      map: { ...ready.map, value: { name: evil, uid: evil, mapVersion: 1, overlaysVersion: 1 } },
      neighbours: [
        {
          ...{ serial: evil, presence: 'gone', ageMs: 1, pose: null, isOnThisMap: null },
          ...{ address: evil, conflictWith: evil },
        },
      ],
      support: { since: evil, forMs: 1, leftMs: 1, services: [evil], state: 'connected', open: 1 },
      lamps: [{ id: 'cloud', level: 'bad', state: [{ text: evil }], rows: [{ label: 'ask', cells: evilCells }] }],
    };
    const pages = [
      ...[onSite, technician, remote].flatMap((viewer) => [
        surface(state, viewer, `station:${evil}`),
        servicePage({ state, viewer }),
      ]),
      signInPage({ site: evil, viewer: onSite, isConfigured: true, problem: evil }),
      refusedPage({ site: evil, viewer: onSite, code: evil, technical: evil, tried: evil, from: 'surface' }),
      supportEndedPage({ site: evil, viewer: onSite, hasEnded: true, isRunning: true }),
    ];
    for (const page of pages) {
      expect(page).not.toMatch(/<script>|<img|<[a-z][^>]* on[a-z]+=/i);
      expect(page).not.toMatch(/ style=/);
      for (const [script] of page.matchAll(/<script[^>]*>/g)) {
        expect(script).toMatch(/src="\/assets\/main\.js"|type="application\/json"/);
      }
    }
    const data = /<script id="page-state" type="application\/json">([\s\S]*?)<\/script>/.exec(pages[0] ?? '')?.[1];
    expect(JSON.parse(data ?? '').state).toEqual(JSON.parse(JSON.stringify(state)));
  });
});

const nothing = () => {};
/** The technician page as a browser with script has it. */
const acts =
  'choose confirm stop endRun pauseTour runSeen zoom follow openLog editPose setPose openIncidents showIncident seek play';
const act = Object.fromEntries(acts.split(' ').map((name) => [name, nothing])) as unknown as Interaction['act'];
const alive: Interaction = { ...still, act };
const service = (viewer: Viewer, ui: Partial<Interaction>, state = ready) =>
  renderToString(h(Service, { state, viewer, ui: { ...alive, ...ui }, ...textsOf(viewer.language, state.timeZone) }));
const entries = (['error', 'warn', 'info'] as const).map((level, at) => ({
  ...{ time: ready.time, level, message: 'the link to the chassis is lost', details: 'of: this robot', count: at + 1 },
}));
const hour = {
  ...{ sampleMs: 10_000, ageMs: 0, batteryPercent: [80, 86], poseAgeMs: [100, 200], speedMS: [0, 0.62] },
  ...{ roundTripMs: [4.25, 118.6], connected: [false, true] },
};
const unknown = [null];
const noHour = {
  ...hour,
  ...{ batteryPercent: unknown, poseAgeMs: unknown, speedMS: unknown, roundTripMs: unknown, connected: unknown },
};

describe('the technician page', () => {
  it('names each chart with its newest value, unit and scale, for a screen reader too', () => {
    const page = service(onSite, { lastHour: hour });
    expect(page).toContain('Batterie, letzte Stunde: zuletzt 86\u00a0%; zwischen „80\u00a0%“ und „86\u00a0%“');
    expect(shown(page)).toMatch(/Batterie 86 % 100 % .* 0 % vor 60 min jetzt/);
    expect(page).toContain('Verbindung zum Fahrgestell, letzte Stunde: zuletzt verbunden');
    expect(shown(page)).toMatch(/Geschwindigkeit aus Positionen 0,62 m\/s 1,00 m\/s/);
    expect(shown(page)).toMatch(/Antwortzeit des Fahrgestells 119 ms 200 ms/);
    expect(shown(service(onSite, { lastHour: noHour }))).toMatch(/Alter der neuesten Position nicht bekannt/);
  });

  it('shows no chart while the gateway is silent, and the reason where it has none', () => {
    expect(service(onSite, { lastHour: hour, isSilent: true })).not.toContain('class="trend"');
    expect(service(onSite, { lastHour: 'none' })).toContain('Der Verlauf ist zurzeit nicht abrufbar.');
    expect(servicePage({ state: ready, viewer: onSite })).toContain('Der Verlauf braucht JavaScript.');
  });

  it('shows log and pose to signed-in persons on site alone', () => {
    const log = { state: 'shown', entries } as const;
    const page = service(technician, { log });
    expect(page).toContain('<p lang="en">the link to the chassis is lost</p>');
    expect(shown(page)).toMatch(/Fehler .*Warnung .*2-mal.*Meldung/);
    const stranger = service(onSite, { log });
    expect(stranger).not.toMatch(/the link to the chassis is lost|action="\/api\/pose"/);
    expect(stranger).toContain('Das Protokoll sieht nur, wer angemeldet ist.');
    expect(stranger).toContain('Die Position setzen darf nur, wer angemeldet ist.');
    expect(service(remote, { log })).not.toMatch(/id="log"|id="set-pose"|\/anmeldung/);
  });

  it('sends no pose with a part that was not chosen, and says set only when it is', () => {
    const button = (pose: PoseDraft, state = ready) =>
      /<button type="submit" class="go"[^>]*>/.exec(service(technician, { pose }, state))?.[0];
    const whole = { ...noPose, xM: '1', yM: '2', yawDeg: '0' };
    expect(button(whole)).not.toContain('disabled');
    for (const missing of ['xM', 'yM', 'yawDeg'] as const) {
      expect(button({ ...whole, [missing]: '' })).toContain('disabled');
    }
    expect(button(whole, latched)).toContain('disabled');
    expect(service(technician, { pose: { ...noPose, order: 'set' } })).toContain('Position gesetzt');
    for (const code of ['failed', 'unknown', 'cancelled', 'MOTION_REFUSED', 'x']) {
      const page = service(technician, { pose: { ...whole, order: { code, technical: 'why' } } });
      expect(page).not.toContain('Position gesetzt');
    }
  });

  it('without script offers the pose as a form that does not reload', () => {
    expect(servicePage({ state: ready, viewer: technician })).toContain('href="/service?setzen=position"');
    const form = setPosePage({ site: 'X', viewer: technician, order: 'none' });
    expect(form).toMatch(/<form method="post" action="\/api\/pose">/);
    expect(form).not.toContain('http-equiv="refresh"');
  });
});

/** A value for each code and each of its parameters. */
const notes: readonly Note[] = noteSchema.options.map((option) => {
  const samples: Readonly<Record<string, unknown>> = {
    ...{ moveId: 7, isBeingCancelled: true, topic: '/wheel_state', mode: 'manual', state: 'poor', isCritical: true },
    ...{ percent: 6, alerts: ['7005'], more: 2, conditions: ['battery', 'alerts'], count: 3, map: 'X', measured: 'Y' },
  };
  const shape = option.shape as Readonly<Record<string, { readonly value?: unknown }>>;
  return Object.fromEntries(
    Object.keys(shape).map((key) => [key, key === 'code' ? shape.code?.value : samples[key]]),
  ) as Note;
});

/** A library of every kind of file, and those that cannot be shown. */
const libraries: readonly MediaLibraryView[] = [
  {
    files: ['image/png', 'audio/wav', 'video/mp4', 'text/plain', 'application/pdf', 'application/octet-stream'].map(
      (contentType, at) => ({ name: `${at + 1}.png`, bytes: 1, contentType }),
    ),
    moreFiles: 2,
    maxBytes: 2e8,
    leftBytes: 1,
  },
  { files: [{ name: '1.png', bytes: 1e9, contentType: 'image/png' }], moreFiles: 0, maxBytes: 2e8, leftBytes: null },
  { files: [], moreFiles: 0, maxBytes: 2e8, leftBytes: 0 },
  { files: null, moreFiles: 0, maxBytes: 2e8, leftBytes: null },
];

/** What only a page with script shows. */
const mediaInteractions: readonly Partial<MediaInteraction>[] = [
  { upload: { name: '1.png', share: 0.5 } },
  { upload: { name: '1.png', share: 1 } },
  { unplayable: ['1.png'] },
  { chosen: '1.png', isDeleting: true },
  { problem: 'NOT_SIGNED_IN' },
  ...(['stored', 'replaced', 'deleted', 'cancelled'] as const).map((kind) => ({ done: { kind, name: '1.png' } })),
];

function mediaInteractionPage(ui: Partial<MediaInteraction>, viewer: Viewer): string {
  const { t, f } = textsOf(viewer.language, 'UTC');
  const [library] = libraries;
  if (library === undefined) throw new Error('there is a library');
  return renderToString(h(Media, { site: 'X', library, viewer, ui: { ...stillMedia, ...ui }, t, f }));
}

describe('the catalogues', () => {
  /** Words that only one of the languages has. */
  const english = /\b(the|and|is|are|not(?!-)|with|of|to|this|page|robot|driving|please|stop|no)\b/i;
  const german = /\b(der|die|das|und|ist|sind|nicht|mit|von|zu|diese|Seite|Roboter|Fahrt|bitte|keine?)\b|[äöüß]/i;

  /** Every page in every state that a code can bring about. */
  const viewers = [onSite, technician, remote];
  function pagesOf(language: 'de' | 'en'): string {
    const { t, f } = textsOf(language, 'Europe/Berlin');
    const of = (viewer: Viewer): Viewer => ({ ...viewer, language });
    const lamps: Lamp[] = lampIds.map((id, at) => ({
      id,
      level: lampLevels[at % lampLevels.length] ?? 'bad',
      state: Object.keys(t.words).map((word) => ({ word })),
      rows: Object.keys(t.labels).map((label) => ({ label, cells: [{ spanMs: 1 }] })),
    }));
    const nameless: PageState = { ...ready, site: { ...ready.site, name: 'X' } };
    const states: PageState[] = [
      { ...ready, gate: { ...ready.gate, unverified: Object.values(factsOfOrder).flat() }, lamps },
      ...headlineCodes.map((code) => ({ ...ready, headline: { level: 'bad' as const, code, notes: [...notes] } })),
      ...doubts.map((doubt) => ({ ...ready, heading: { ...ready.heading, doubts: [doubt] } })),
      ...staleReasons.map((stale) => ({ ...latched, pose: { ...ready.pose, stale } })),
      ...(['running', 'succeeded', 'failed', 'stopped'] as const).flatMap((state) =>
        (['tour', 'drive', 'dock', 'trial', 'order'] as const).map((kind) => ({
          ...ready,
          run: { ...run(), kind, state, failReason: 103, although: [7005] },
        })),
      ),
      ...failureCauses.flatMap((cause) =>
        [0.42, null].map((offM) => ({
          ...ready,
          failed: {
            ...failed,
            failure: { cause, offM, offDeg: 14, technical: 'the robot is not there' },
            earlier: offM === null ? 0 : 2,
          },
        })),
      ),
      {
        ...ready,
        support: { since: ready.time, forMs: 1, leftMs: 1, services: ['web'], state: 'connected', open: null },
      },
    ];
    return [
      ...states.flatMap((state, at) =>
        // In `npm test` one of them for each state.
        (isFull ? viewers : [viewers[at % viewers.length] as Viewer]).flatMap((viewer) => [
          surface({ ...state, site: { ...state.site, needsSignIn: true, name: 'X' } }, of(viewer), 'dock'),
          servicePage({ state: { ...state, site: { ...state.site, name: 'X' } }, viewer: of(viewer) }),
        ]),
      ),
      ...[...Object.keys(refusalTable), ...Object.keys(t.refusals), ...Object.keys(t.media.refusals)].flatMap((code) =>
        (['surface', 'media'] as const).map((from) =>
          refusedPage({ site: 'X', viewer: of(onSite), code, technical: '', tried: '127.0.0.1:1', from }).replace(
            code,
            '',
          ),
        ),
      ),
      ...libraries.flatMap((library) =>
        [onSite, technician].map((viewer) => mediaPage({ site: 'X', library, viewer: of(viewer), chosen: '1.png' })),
      ),
      ...mediaInteractions.map((ui) => mediaInteractionPage(ui, of(technician))),
      ...[true, false].map((isConfigured) =>
        signInPage({ site: 'X', viewer: of(technician), isConfigured, problem: null }),
      ),
      ...[true, false].map((isRunning) =>
        supportEndedPage({ site: 'X', viewer: of(onSite), hasEnded: !isRunning, isRunning }),
      ),
      ...notes.map((note) => noteText(note, t, f)),
      ...[onSite, technician, remote].flatMap((viewer) => [
        ...([hour, noHour, 'none', 'loading'] as const).map((lastHour) => service(of(viewer), { lastHour }, nameless)),
        ...(
          [
            { state: 'shown', entries },
            { state: 'shown', entries: [] },
            { state: 'refused', code: 'x' },
          ] as const
        ).map((log) => service(of(viewer), { log }, nameless)),
        ...['set' as const, ...Object.keys(t.service.poseEnds), 'x'].map((end) =>
          service(
            of(viewer),
            { pose: { ...noPose, order: end === 'set' ? end : { code: end, technical: 'the robot is not there' } } },
            nameless,
          ),
        ),
        setPosePage({ site: 'X', viewer: of(viewer), order: { code: 'failed', technical: 'the robot' } }),
      ]),
    ]
      .map(shown)
      .join('\n')
      .replaceAll(/\bT\. Echnik\b|gw [a-z]+( [a-z]+)?|[a-z]+(\.[a-z-]+)+/g, '');
  }

  it('have no word of the other language', { tags: 'property' }, () => {
    const foreign = (text: string, words: RegExp) => [
      ...new Set(text.match(new RegExp(`.{0,20}${words.source}`, 'gi'))),
    ];
    const [de, en] = [pagesOf('de'), pagesOf('en')];
    // Both are found where they belong.
    expect([foreign(de, german).length > 50, foreign(en, english).length > 50]).toEqual([true, true]);
    expect(foreign(de, english)).toEqual([]);
    expect(foreign(en, german)).toEqual([]);
  });

  it('have no empty text, and name every fact that an order relies on', () => {
    for (const language of ['de', 'en'] as const) {
      const { t, f } = textsOf(language, 'UTC');
      for (const note of notes) expect(noteText(note, t, f).length).toBeGreaterThan(10);
      for (const code of headlineCodes)
        expect(t.headline[code]({ ...driving, headline: { ...driving.headline, code } }, f)).not.toBe('');
      for (const id of Object.values(factsOfOrder).flat()) expect(t.facts[id]).toBeDefined();
    }
  });

  it('follow the language of the browser, until a person chooses one', () => {
    expect(languageOf(undefined, 'fr-FR, en;q=0.8, de;q=0.5')).toBe('en');
    expect(languageOf(undefined, 'de-AT,en')).toBe('de');
    expect(languageOf(undefined, undefined)).toBe('de');
    expect(languageOf('en', 'de')).toBe('en');
    expect(languageOf('fr', 'de')).toBe('de');
  });

  it('write a number as the language does', { tags: 'property' }, () => {
    const options = { minimumFractionDigits: 3, maximumFractionDigits: 3, useGrouping: false } as const;
    const german = new Intl.NumberFormat('de-DE', { ...options, signDisplay: 'negative' });
    fc.assert(
      fc.property(fc.integer({ min: -10_000_000, max: 10_000_000 }), (thousandths) => {
        expect(textsOf('de', 'UTC').f.number(thousandths / 1_000, 3)).toBe(german.format(thousandths / 1_000));
      }),
    );
  });

  it('write numbers, spans and times as the language does, in the time zone of the gateway', () => {
    const german = textsOf('de', 'Europe/Berlin').f;
    expect([german.number(-0.004, 2), german.number(1.255, 1)]).toEqual(['0,00', '1,3']);
    expect(german.time(ready.time)).toBe('22.11.2026, 20:12:00');
    expect(textsOf('en', 'Europe/Berlin').f.time(ready.time)).toBe('22 Nov 2026, 20:12:00');
    expect(textsOf('de', 'No/Where').f.time(ready.time)).toBe('22.11.2026, 19:12:00');
    const spans = [0, 400, 9_940, 45_600, 119_000, 720_000, 18_000_000, -5].map((ms) => german.span(ms));
    expect(spans.join('|').replaceAll('\u00a0', ' ')).toBe('0,0 s|0,4 s|9,9 s|45 s|119 s|12 min|5 h|0,0 s');
  });
});

function run() {
  if (driving.run === null) throw new Error('it drives');
  return driving.run;
}
