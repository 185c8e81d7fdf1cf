import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { surfacePage } from '../../src/lib/pages/index.ts';
import { groupsOf, SEARCH_FROM, type Station, searchStations } from '../../src/lib/pages/surface/search.ts';
import { titleProblem } from '../../src/lib/text/index.ts';
import { runs } from '../properties.ts';
import { anyCharacter } from '../text/units.ts';
import { ready } from './states.ts';

const station = (title: Station['title'], at = 0): Station => ({
  name: `s${at}`,
  ...(title !== undefined && { title }),
  ...{ xM: 0, yM: 0 },
});
const hotel = [
  'Zimmer 1204',
  { de: 'Küche', en: 'Kitchen' },
  'Zimmer 2041',
  'Zimmer 204',
  'غرفة ٢٠٥',
  'Straßenbar',
  { de: 'Gepäckraum', en: 'Luggage' },
].map((title, at) => station(title as Station['title'], at));
const found = (query: string) => searchStations(hotel, query).map(({ name }) => name);

describe('the search for a station', () => {
  it.each([
    ['204', ['s3', 's2', 's0']],
    ['zimmer 204', ['s3', 's2', 's0']],
    ['204 zimmer', ['s3', 's2', 's0']],
    ['٢٠٤', ['s3', 's2', 's0']],
    ['205', ['s4']],
    ['kuche', ['s1']],
    ['KÜCHE', ['s1']],
    ['kueche', ['s1']],
    ['kitch', ['s1']],
    ['strasse', ['s5']],
    ['gepaeck', ['s6']],
    ['gepack', ['s6']],
    ['غرفه', []],
    ['999', []],
    ['  ', hotel.map(({ name }) => name)],
  ])('finds by %s, what is it before what has it', (query, names) => {
    expect(found(query)).toEqual(names);
  });

  it('finds a station without title by its key, and one with a title not by its key', () => {
    expect(searchStations([station(undefined, 7), station('Bar', 8)], 's').map(({ name }) => name)).toEqual(['s7']);
  });

  it('finds each station by every word of its title and by any part of a word, and gives none that has it not', {
    tags: 'property',
  }, () => {
    const title = fc
      .oneof(
        fc.string({ unit: fc.constantFrom(...'ÄüßéσΣأ٢204 ﬁkK🛗'), minLength: 1, maxLength: 12 }),
        fc.string({ unit: anyCharacter, minLength: 1, maxLength: 12 }),
      )
      .map((text) => text.trim())
      .filter((text) => titleProblem(text) === null);
    fc.assert(
      fc.property(fc.array(title, { minLength: 1, maxLength: 8 }), fc.nat(), fc.nat(), (titles, which, from) => {
        const stations = titles.map(station);
        const chosen = stations[which % stations.length] as Station;
        const words = String(chosen.title).split(/\s+/);
        const characters = [...new Intl.Segmenter('en').segment(words[from % words.length] ?? '')].map(
          (one) => one.segment,
        );
        const query = characters.slice(from % characters.length).join('');
        expect(searchStations(stations, String(chosen.title))).toContain(chosen);
        expect(searchStations(stations, query)).toContain(chosen);
        expect(new Set(searchStations(stations, query)).size).toBe(searchStations(stations, query).length);
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('puts stations under the headings of their groups, those without one last', () => {
    const [a, b, c] = [
      { ...station('A', 1), group: { de: '2. Stock', en: '2nd floor' } },
      station('B', 2),
      { ...station('C', 3), group: '2. Stock' },
    ];
    expect(groupsOf([b, a, c], 'de')).toEqual([
      { title: '2. Stock', stations: [a, c] },
      { title: null, stations: [b] },
    ]);
    expect(groupsOf([a, c], 'en').map(({ title }) => title)).toEqual(['2nd floor', '2. Stock']);
  });
});

describe('the list of stations', () => {
  const many = (count: number, recent: readonly string[] = []) => ({
    ...ready,
    site: {
      ...ready.site,
      recent: [...recent],
      stations: Array.from({ length: count }, (_, at) => station(`Raum ${at}`, at)),
    },
  });
  const page = (count: number, recent?: readonly string[]) =>
    surfacePage({ state: many(count, recent), viewer: { language: 'de', readOnly: false, signedIn: false } }, null);

  it('has a search, and what was used last, where there are many', () => {
    expect(page(SEARCH_FROM - 1, ['s1'])).not.toMatch(/type="search"|Zuletzt/);
    expect(page(SEARCH_FROM)).toContain('type="search"');
    expect(page(SEARCH_FROM)).not.toContain('Zuletzt');
    const html = page(SEARCH_FROM, ['s5', 's1', 'gone']);
    expect(html.match(/<bdi>[^<]*/g)?.slice(0, 4)).toEqual([
      '<bdi>Raum 5',
      '<bdi>Raum 1',
      '<bdi>Raum 0',
      '<bdi>Raum 1',
    ]);
  });

  it('has the charging station once, beside STOPP, where no list scrolls it away', () => {
    const html = page(200);
    expect(html.match(/ziel=dock/g)).toHaveLength(1);
    expect(html.slice(html.indexOf('<footer>'))).toContain('ziel=dock');
  });
});
