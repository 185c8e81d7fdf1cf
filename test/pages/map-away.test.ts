import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { mapToLoad } from '../../src/lib/pages/map/map-model.ts';
import { MapView } from '../../src/lib/pages/map/map-view.tsx';
import type { PageState } from '../../src/lib/pages/model.ts';
import { textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { type Interaction, still } from '../../src/lib/pages/ui.ts';
import { ready } from './states.ts';

const away: PageState = { ...ready, link: { ...ready.link, kind: 'not-connected' } };
const lastMap: Interaction['map'] = {
  plan: { href: 'blob:plan', widthM: 10, heightM: 8 },
  ...{ origin: { xM: -2, yM: -6 }, features: [], isPartial: false },
};

function mapOf(state: PageState, map: Interaction['map'], language: 'de' | 'en' = 'de', isRecorded = false) {
  const ui = { ...still, map, act: {} } as unknown as Interaction;
  const viewer = { language, readOnly: false, signedIn: false };
  return renderToString(h(MapView, { state, viewer, ui, ...textsOf(language, 'UTC'), isRecorded }));
}

describe('which map a page loads', () => {
  it('is that of the robot, once in each version', () => {
    const first = mapToLoad('', ready);
    expect(first).toEqual(expect.any(String));
    expect(mapToLoad(first ?? '', ready)).toBeNull();
    const value = { name: 'EG', uid: 'u', mapVersion: 1, overlaysVersion: 3 };
    expect(mapToLoad(first ?? '', { ...ready, map: { ...ready.map, value } })).not.toBeNull();
  });

  it('is the last one where the robot is away from the first, and the present one once it is back', () => {
    const last = mapToLoad('', away);
    expect(last).toEqual(expect.any(String));
    expect(mapToLoad(last ?? '', away)).toBeNull();
    expect(mapToLoad(last ?? '', ready)).toBe(mapToLoad('', ready));
  });

  it('is what is in view where the robot leaves', () => {
    expect(mapToLoad(mapToLoad('', ready) ?? '', away)).toBeNull();
  });
});

describe('the map of a robot that is away', () => {
  it.each([
    ['de', 'Letzte Karte, nicht die jetzige Position.'],
    ['en', 'Last map, not the current position.'],
  ] as const)('says so in words, in %s, with floor plan and stations', (language, isLast) => {
    const map = mapOf(away, lastMap, language);
    expect(map).toContain(isLast);
    expect(map).toContain('class="plan"');
    for (const part of ['>A<', '>B<', '>⚡<']) expect(map).toContain(part);
    expect(map).not.toContain('aria-busy');
    expect(map).toContain('class="robot old"');
  });

  it('has its stations and its words without a floor plan, and while it is loaded', () => {
    const none = mapOf(away, 'none');
    expect(none).toContain('>A<');
    expect(none).toContain('Der Roboter ist nicht erreichbar.');
    expect(none).toContain('Die Karte ist nicht verfügbar.');
    expect(none).not.toContain('Letzte Karte');
    const loading = mapOf(away, 'loading');
    expect(loading).toContain('>A<');
    expect(loading).toContain('Der Roboter ist nicht erreichbar.');
  });

  it.each([
    ['de', 'Keine Karte: Seit dem Start der Steuerung war der Roboter noch nicht erreichbar.'],
    ['en', 'No map: the robot has not been reached since the start of the gateway.'],
  ] as const)(
    'that was not reached since the start of the gateway says so, in %s, and has its stations',
    (language, words) => {
      const never: PageState = { ...away, map: { ...away.map, value: null } };
      for (const map of ['none', 'loading'] as const) {
        const html = mapOf(never, map, language);
        expect(html).toContain(words);
        expect(html).toContain('>A<');
      }
      expect(mapOf(away, 'none', language)).not.toContain(words);
    },
  );

  it('says nothing of it while the robot is connected, or in a recording', () => {
    expect(mapOf(ready, lastMap)).not.toContain('Letzte Karte');
    expect(mapOf(away, lastMap, 'de', true)).not.toContain('Letzte Karte');
  });
});
