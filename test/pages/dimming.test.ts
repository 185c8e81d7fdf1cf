import { describe, expect, it } from 'vitest';
import type { PageState } from '../../src/lib/pages/index.ts';
import { needsLight, shiftAt } from '../../src/lib/pages/surface/dimming.ts';
import { still } from '../../src/lib/pages/ui.ts';
import { driving, failed, latched, ready } from './states.ts';

const pressed = { acknowledgedAfterMs: null, saved: 'pending', standingAfterMs: null, unansweredForMs: null } as const;

describe('a dark page', () => {
  it('is for a robot at rest alone, also where a condition is not met', () => {
    expect(needsLight(ready, still)).toBe(false);
    const limited: PageState = { ...ready, headline: { level: 'attention', code: 'limited', notes: [] } };
    expect(needsLight(limited, still)).toBe(false);
  });

  it.each<[string, PageState]>([
    ['a robot that drives', driving],
    ['a robot that moves by its poses alone', { ...ready, standing: 'moves' }],
    ['a robot whose standstill is not known', { ...ready, standing: 'not-known' }],
    ['a latched stop', latched],
    ['a paused tour', { ...driving, standing: 'stands', run: driving.run && { ...driving.run, state: 'paused' } }],
    ['a bad headline', { ...ready, headline: { level: 'bad', code: 'locked', notes: [] } }],
    [
      'a failed drive that was not seen',
      {
        ...ready,
        failed,
      },
    ],
    ['an alert', { ...ready, alerts: { ...ready.alerts, value: [{ code: 1, level: 'warning', message: '' }] } }],
  ])('is never shown for %s', (_what, state) => expect(needsLight(state, still)).toBe(true));

  it('is never shown while a STOPP that was pressed here is open', () => {
    expect(needsLight(ready, { stop: pressed })).toBe(true);
  });
});

describe('the move of the page against burn-in', () => {
  it('goes round within the border that the style keeps free, in whole pixels', () => {
    const places = Array.from({ length: 8 }, (_, step) => shiftAt(step));
    expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(8);
    for (const { x, y } of places) {
      expect(Number.isInteger(x) && Number.isInteger(y)).toBe(true);
      expect(Math.max(Math.abs(x), Math.abs(y))).toBeLessThanOrEqual(4);
    }
  });
});
