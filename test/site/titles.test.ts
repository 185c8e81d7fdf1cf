import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSite } from '../../src/lib/site/index.ts';

const base = { name: 'test', chassis: { host: '127.0.0.1', serial: 'SN0001' } };
const at = { xM: 1, yM: 2 };
const problemsOf = (file: object) => {
  try {
    parseSite(JSON.stringify({ ...base, ...file }), 'site.yaml');
    return [];
  } catch (error) {
    return (error as { details: { problems: { path: string; expected: string }[] } }).details.problems;
  }
};
const stations = (...titles: readonly unknown[]) => ({
  stations: Object.fromEntries(
    titles.map((title, nth) => [`s${nth}`, { ...at, ...(title !== undefined && { title }) }]),
  ),
});

describe('names for people in a site file', () => {
  it('are one text or one for each language, of any script, for robot, floor, station, group and tour', () => {
    const file = {
      title: { de: 'Lobby-Roboter', en: 'Lobby robot' },
      maps: { eg: { uid: 'u', version: 1, title: { de: 'Erdgeschoss', en: 'Ground floor' } } },
      stations: {
        k: { ...at, title: { de: 'Küche', en: 'Kitchen' }, group: 'مطبخ' },
        z: { ...at, title: 'غرفة ٢٠٤' },
      },
      tours: { t: { title: 'Frühstück', stations: ['k', 'z'] } },
    };
    expect(problemsOf(file)).toEqual([]);
  });

  it.each([
    ['a control character', 'a\u0007b', /without control/],
    ['a control of direction', 'Zimmer \u202e402', /without control, format/],
    ['61 characters', 'x'.repeat(61), /at most 60 characters/],
    ['one language alone', { de: 'Küche' }, /./],
    ['a third language', { de: 'Küche', en: 'Kitchen', fr: 'Cuisine' }, /one of de, en/],
    ['a number', 204, /put it in quotes/],
  ])('are refused with %s', (_what, title, says) => {
    const [problem, ...more] = problemsOf(stations(title));
    expect([problem?.path.startsWith('stations.s0.title'), more]).toEqual([true, []]);
    expect(problem?.expected).toMatch(says);
  });

  it.each([
    ['the same', 'Zimmer 204', 'Zimmer 204'],
    ['case', 'Zimmer 204', 'ZIMMER 204'],
    ['another Unicode form', 'K\u00fcche', 'Ku\u0308che'],
    ['a wide space', 'Zimmer 204', 'Zimmer\u3000204'],
    ['digits of another script', 'Zimmer 204', 'Zimmer ٢٠٤'],
    ['the German name of the other', 'Lager', { de: 'LAGER', en: 'Store' }],
    ['a name of the other language', { de: 'Gift', en: 'Poison' }, { de: 'Geschenk', en: 'Gift' }],
    ['the key of the other, which has another title', 'Bar', 'S0'],
    ['the key of the other, which has no title', undefined, 'S0'],
  ])('are not those of two stations: %s', (_what, one, other) => {
    expect(problemsOf(stations(one, other))).toMatchObject([
      { path: 'stations.s1.title', expected: expect.stringContaining('cannot distinguish it from stations.s0') },
    ]);
  });

  it('are not two keys that differ by case alone, since both are shown', () => {
    expect(problemsOf({ stations: { a: at, A: at } })).toMatchObject([{ path: 'stations.A' }]);
  });

  it('are not those of two tours, and may be those of a station and a tour', () => {
    const tours = { t: { title: 'Bar', stations: ['s0'] }, u: { title: 'BAR', stations: ['s0'] } };
    expect(problemsOf({ ...stations('Bar'), tours })).toMatchObject([{ path: 'tours.u.title' }]);
    expect(problemsOf({ ...stations('Bar'), tours: { t: tours.t } })).toEqual([]);
  });

  it('may be the key of the same entry, and the same in both languages', () => {
    expect(problemsOf(stations({ de: 'S0', en: 'S0' }, undefined))).toEqual([]);
  });

  it('are refused as often as one is doubled, whatever else the file has', { tags: 'property' }, () => {
    const title = fc.constantFrom('Zimmer 204', 'ZIMMER 204', 'Küche', 'Ku\u0308che', 'Bar', 'غرفة');
    fc.assert(
      fc.property(fc.array(title, { maxLength: 6 }), (titles) => {
        const distinct = new Set(titles.map((text) => text.normalize('NFC').toLowerCase()));
        expect(problemsOf(stations(...titles)).length).toBe(titles.length - distinct.size);
      }),
    );
  });
});
