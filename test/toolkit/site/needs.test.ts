import { expect, it } from 'vitest';
import { parseSite } from '../../../src/lib/site/index.ts';
import { needs } from '../../../src/lib/toolkit/site/needs.ts';

it('the maps that an old site file lacks come with the one command that adds them', () => {
  const old = {
    name: 'test',
    chassis: { host: '127.0.0.1', serial: 'SN0001' },
    stations: { A: { xM: 1, yM: 2 } },
    tours: { lunch: { stations: ['A'] } },
    dock: { xM: 0, yM: 0, yawDeg: 0 },
  };
  const site = parseSite(JSON.stringify(old), 'site.yaml');
  for (const need of [needs.maps, needs.mapOfDock, needs.mapsOfTour('lunch')]) {
    expect(need(site)).toMatchObject([
      { key: 'maps', remedy: expect.stringContaining('`gw site map --measured-on-it`') },
    ]);
  }
});

it('a tablet without an address needs the segment in which it is looked for', () => {
  const keysOf = (more: object) =>
    needs
      .tablet(
        parseSite(JSON.stringify({ name: 'test', chassis: { host: '127.0.0.1', serial: 'SN' }, ...more }), 'site.yaml'),
      )
      .map(({ key }) => key);
  const network = { robotSegment: '192.0.2.0/28' };
  expect(keysOf({})).toEqual(['tablet']);
  expect(keysOf({ tablet: { serial: 'T' } })).toEqual(['network.robotSegment']);
  expect(keysOf({ tablet: { serial: 'T' }, network })).toEqual([]);
  expect(keysOf({ tablet: { host: '192.0.2.4' } })).toEqual([]);
});
