import { describe, expect, it } from 'vitest';
import { causesBetween, type Sight } from '../../src/lib/incident/causes.ts';
import { causeSchema } from '../../src/lib/pages/index.ts';
import { calm, sightWith, stopped } from './incidents.ts';

const between = (before: Sight, after: Sight) =>
  causesBetween(before, after, 250, 0).map((cause) => causeSchema.parse(cause));
const codes = (before: Sight, after: Sight) => between(before, after).map(({ code }) => code);
const run = { kind: 'tour' as const, name: 'lunch', stations: ['A', 'B'], at: 0, failReason: null, although: [] };
const planning = (moveState: string, failReason = 0) => ({
  ...calm.scene.planning,
  value: { moveState, actionType: 'standard', failReason, failReasonText: '', remainingDistanceM: null },
});
const alerts = (...list: { code: number; level: string; message: string }[]) => ({ ...calm.scene.alerts, value: list });
const slip = { code: 3001, level: 'error', message: 'slip' };
const pressed = (is: boolean) => ({
  ...calm.scene.wheels,
  value: { emergencyStopPressed: is, controlMode: 'auto', wheelsReleased: false },
});
const tour = (state: string, more: Partial<Omit<Sight, 'scene'>> = {}, failReason: number | null = null) =>
  sightWith({ run: { ...run, state, failReason } as Sight['scene']['run'] }, more);
const nowhere = { offM: null, offDeg: null };
const stop = (change: object) => sightWith({ ...stopped.scene, stop: { ...stopped.scene.stop, ...change } });
const cut = { kind: 'not-connected', failure: 'cut' } as const;
const alerting = (...list: Parameters<typeof alerts>) => sightWith({ alerts: alerts(...list) });
const unread = (part: 'wheels' | 'alerts') => sightWith({ [part]: { ...calm.scene[part], value: null } });
const onTour = (moveState: string) => sightWith({ run: tour('running').scene.run, planning: planning(moveState) });
const lost = { ...calm.scene.positioning, value: { quality: 'lost', state: 'lost' } };

describe('what makes an incident', () => {
  it.each<[string, Sight, Sight, string[]]>([
    ['a stop', calm, stopped, ['stop']],
    ['a stop that is pressed again', stopped, stop({ repeats: 1 }), ['stop']],
    ['a stop that was cleared and set between two looks', stopped, stop({ since: 'later' }), ['stop']],
    ['a robot that does not stop', stopped, sightWith({ ...stopped.scene, standing: 'drives-on' }), ['does-not-stop']],
    ['a pressed emergency stop', calm, sightWith({ wheels: pressed(true) }), ['emergency-stop']],
    ['a new alert', alerting(), alerting(slip), ['alert']],
    ['a second alert', alerting(slip), alerting(slip, { ...slip, code: 7 }), ['alert']],
    ['a lost link', calm, sightWith({ link: cut }), ['link-lost']],
    ['an outage between two looks', calm, sightWith({}, { linkForMs: 40 }), ['link-lost']],
    ['a lost position', calm, sightWith({ positioning: lost }), ['position-lost']],
    [
      'a pose that was found wrong',
      calm,
      sightWith({ gate: { isOpen: false, notes: [{ code: 'pose-alarm' }] } }),
      ['position-lost'],
    ],
    [
      'a tour that stopped without a person',
      tour('running'),
      tour('stopped', { runFailure: nowhere }),
      ['move-failed'],
    ],
    ['a failed tour', tour('running'), tour('failed', {}, 103), ['move-failed']],
    [
      'a tour that fails at once after another that failed',
      tour('failed', { runForMs: 9_000 }),
      tour('failed', { runForMs: 20 }),
      ['move-failed'],
    ],
    [
      'a failed move that no run ordered',
      sightWith({ planning: planning('moving') }),
      sightWith({ planning: planning('failed', 103) }),
      ['move-failed'],
    ],
  ])('%s', (_, before, after, expected) => expect(codes(before, after)).toEqual(expected));

  it.each<[string, Sight, Sight]>([
    ['a robot at rest', calm, calm],
    ['a stop that still holds', stopped, stopped],
    ['a cleared stop', stopped, calm],
    [
      'an emergency stop that was pressed before it was first reported',
      unread('wheels'),
      sightWith({ wheels: pressed(true) }),
    ],
    ['alerts that were there before they were first reported', unread('alerts'), alerting(slip)],
    ['an alert that goes', alerting(slip), alerting()],
    ['an alert of level none', calm, alerting({ ...slip, level: 'none' })],
    ['a link that comes back', sightWith({ link: cut }), sightWith({}, { linkForMs: 40 })],
    ['a failed tour that stays the last one', tour('failed', { runForMs: 100 }), tour('failed', { runForMs: 350 })],
    [
      'a tour that stopped without a person, and stays the last one',
      tour('stopped', { runFailure: nowhere, runForMs: 100 }),
      tour('stopped', { runFailure: nowhere, runForMs: 350 }),
    ],
    ['a tour that a person ended', tour('running'), tour('stopped')],
    ['the failed move of a tour, which is the tour of the next line', onTour('moving'), onTour('failed')],
  ])('not %s', (_, before, after) => expect(codes(before, after)).toEqual([]));

  it('names who stopped, which alert, and why a move failed', () => {
    expect(between(calm, stopped)).toEqual([{ code: 'stop', atMs: 0, origin: 'surface', by: '192.0.2.9' }]);
    expect(between(calm, alerting(slip))).toEqual([{ code: 'alert', atMs: 0, alertCode: 3001, text: 'slip' }]);
    expect(between(tour('running'), tour('failed', {}, 103))).toEqual([
      { code: 'move-failed', atMs: 0, kind: 'tour', name: 'lunch', failReason: 103, offM: null, offDeg: null },
    ]);
    const long = 'x'.repeat(60_000);
    expect(between(calm, alerting({ ...slip, message: long }))).toMatchObject([{ text: long.slice(0, 200) }]);
    const missed = tour('failed', { runFailure: { offM: 0.42, offDeg: 14 } });
    expect(between(tour('running'), missed)).toMatchObject([{ code: 'move-failed', offM: 0.42, offDeg: 14 }]);
  });
});
