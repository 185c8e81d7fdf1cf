import { expect, it } from 'vitest';
import { stateTexts } from '../../src/lib/pages/index.ts';
import { ready } from './states.ts';

it('the state of a part reads as a list, and what belongs to a word stands with it', () => {
  const { lamp } = stateTexts(ready);
  const said = (...state: Parameters<typeof lamp>[0]['state']) =>
    lamp({ id: 'cloud', level: 'good', state, rows: [] }).state;
  expect(said({ word: 'connected' }, { text: 'direct' }, { word: 'since' }, { spanMs: 31_000 })).toBe(
    'connected, direct since 31 s',
  );
  expect(said({ word: 'connected' }, { word: 'since' }, { spanMs: 31_000 })).toBe('connected since 31 s');
  expect(said({ word: 'ok' }, { number: 2, digits: 0, unit: '' }, { word: 'kept' })).toBe('in order, 2 kept');
  expect(said()).toBe('in order');
});

it('tells a technician what is missing, and not to call one', () => {
  const headline = { ...ready.headline, notes: [{ code: 'facts' as const, count: 3 }] };
  const { notes } = stateTexts({ ...ready, headline });
  expect(notes).toEqual(['Facts that orders rely on are not verified on this robot.']);
});

it('says in words why the battery is not a current value', () => {
  const battery = (change: Partial<typeof ready.battery>) =>
    stateTexts({ ...ready, battery: { ...ready.battery, stale: null, doubts: [], ...change } }).batteryDoubt;
  expect(battery({})).toBeNull();
  expect(battery({ doubts: ['battery-scale'] })).toBe('not decided whether the robot counts to 1 or to 100');
  expect(battery({ stale: 'too-old', doubts: ['battery-scale'] })).toBe('outdated');
});
