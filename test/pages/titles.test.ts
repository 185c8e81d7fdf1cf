import { describe, expect, it } from 'vitest';
import { causeTexts, type PageState, servicePage, stateTexts, surfacePage } from '../../src/lib/pages/index.ts';
import { situationOf } from '../../src/lib/pages/surface/situation.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { driving, failed, ready } from './states.ts';

const kitchen = { de: 'Küche', en: 'Kitchen' };
const [a, b] = [
  { name: 'k1', title: kitchen, xM: 1, yM: 2 },
  { name: 'z204', title: 'غرفة ٢٠٤', xM: 3, yM: -4 },
];
const site: PageState['site'] = {
  ...ready.site,
  title: { de: 'Lobby-Roboter', en: 'Lobby robot' },
  stations: [a, b],
  tours: [{ name: 'lunch', title: { de: 'Mittag', en: 'Lunch' }, stations: ['k1', 'z204'] }],
};
const named: PageState = { ...ready, site };
const tour: PageState = {
  ...driving,
  site,
  run: driving.run && {
    ...driving.run,
    ...{ name: 'lunch', title: { de: 'Mittag', en: 'Lunch' }, stations: ['k1', 'z204'] },
    stationTitles: [kitchen, 'غرفة ٢٠٤'],
  },
};
const viewer = { language: 'de', readOnly: false, signedIn: false } as const;
const isolatedRoom = '\u2068غرفة ٢٠٤\u2069';
const textOf = (html: string) => html.replace(/<script[\s\S]*?<\/script>/g, '').replace(/<[^>]*>/g, '\n');

describe('the pages name places for people', () => {
  it.each([
    ['de', 'Küche', 'Küche anfahren?', 'Lobby-Roboter'],
    ['en', 'Kitchen', 'Drive to Kitchen?', 'Lobby robot'],
  ] as const)('in the list and in the question, in %s, and send the key', (language, label, asks, robot) => {
    const live = { state: named, viewer: { ...viewer, language } };
    const html = surfacePage(live, { kind: 'station', name: 'k1' });
    expect(textOf(html).split('\n')).toEqual(expect.arrayContaining([label, 'غرفة ٢٠٤', asks, robot]));
    expect(textOf(html)).not.toMatch(/\bk1\b|z204|Haus/);
    expect(html).toContain('<input type="hidden" name="station" value="k1"/>');
    expect(html).toContain('href="/?ziel=station%3Ak1"');
  });

  it('with a name from right to left isolated within a sentence', () => {
    const html = surfacePage({ state: named, viewer }, { kind: 'station', name: 'z204' });
    expect(textOf(html)).toContain(`${isolatedRoom} anfahren?`);
  });

  it('in the headline, the run and a failed drive; technicians get the key beside it', () => {
    const { t, f } = textsOf('de', 'UTC');
    expect(t.headline.drives(tour, f)).toBe('Fahrt Tour Mittag');
    expect(t.run(tour.run as NonNullable<PageState['run']>, f)).toContain(`Station 2 von 2 (${isolatedRoom})`);
    const lost = { ...failed, name: 'k1', title: kitchen };
    expect(t.failed(lost, f)).toContain('Fahrt zu Küche gescheitert');
    const state: PageState = { ...named, failed: lost };
    expect(textOf(surfacePage({ state, viewer }, null))).toContain('Fahrt zu Küche gescheitert');
    expect(textOf(servicePage({ state, viewer }))).toContain('Fahrt zu Küche (k1) gescheitert');
    expect(stateTexts(tour).run).toContain(`tour Lunch (lunch) · station 2 of 2 (${isolatedRoom} (z204))`);
  });

  it('in the arrival, the queue and the countdown of deliveries, also of a station of another map', () => {
    const delivery: NonNullable<PageState['delivery']> = {
      arrival: { id: 'd1', station: 'k1', title: kitchen, forMs: 0 },
      queue: [
        { id: 'q1', station: 'else', title: 'غرفة ٣' },
        { id: 'q2', station: 'k1', title: kitchen },
        { id: 'q3', station: 'plain' },
      ],
      countdown: { id: 'c1', kind: 'next', station: 'else', title: 'غرفة ٣', leftMs: 9_000 },
      ...{ isOpen: true, hold: null, waitsFor: null, isAfterRestart: false },
    };
    const state: PageState = { ...named, delivery };
    const { t } = textsOf('de', 'UTC');
    const html = surfacePage({ state, viewer }, { kind: 'next', name: 'else', id: 'q1', arrival: 'd1' });
    const room = '\u2068غرفة ٣\u2069';
    expect(textOf(html).split('\n')).toEqual(
      expect.arrayContaining([
        ...[t.delivery.arrived('Küche'), t.delivery.next(room), 'Küche', 'plain', t.delivery.proceedTo(room)],
        ...[t.delivery.begins.next(room), `${room} anfahren?`],
      ]),
    );
    expect(html).toContain(`aria-label="${t.delivery.removeStation('Küche')}"`);
    expect(html).toContain('<input type="hidden" name="next" value="q1"/>');
    expect(textOf(html)).not.toMatch(/\bk1\b|\belse\b/);
    expect(textOf(servicePage({ state, viewer }))).toContain(t.delivery.begins.next(`${room} (else)`));
    const choice = { kind: 'next', name: 'else', id: 'q1', arrival: 'd1' } as const;
    const renamed = { ...delivery, queue: [{ id: 'q1', station: 'else', title: 'Bar' }] };
    expect(situationOf({ ...state, delivery: renamed }, choice)).not.toBe(situationOf(state, choice));
  });

  it('in the causes of an incident, for commands with the key', () => {
    const cause = {
      code: 'move-failed',
      atMs: 0,
      kind: 'drive',
      name: 'k1',
      title: kitchen,
      failReason: null,
    } as const;
    expect(causeTexts({ causes: [cause], timeZone: 'UTC' } as never)).toEqual(['Drive to Kitchen (k1) failed']);
  });

  it('by the key where there is no title, also of a station that is not of this map any more', () => {
    const { t, f } = textsOf('de', 'UTC');
    expect(t.headline.drives({ ...driving, run: driving.run && { ...driving.run, name: 'gone' } }, f)).toBe(
      'Fahrt Tour gone',
    );
  });

  it('and a question is about the name that it showed', () => {
    const renamed = { ...named, site: { ...site, stations: [{ ...a, title: 'Bar' }, b] } } as PageState;
    for (const choice of [
      { kind: 'station', name: 'k1' },
      { kind: 'tour', name: 'lunch' },
    ] as const) {
      expect(situationOf(renamed, choice)).not.toBe(situationOf(named, choice));
    }
    const newTour = { ...named, site: { ...site, tours: [{ name: 'lunch', title: 'Brunch', stations: ['k1'] }] } };
    expect(situationOf(newTour, { kind: 'tour', name: 'lunch' })).not.toBe(
      situationOf(named, { kind: 'tour', name: 'lunch' }),
    );
  });
});
