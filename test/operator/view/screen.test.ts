import { describe, expect, it } from 'vitest';
import { screenView } from '../../../src/lib/operator/view/screen.ts';
import { siteSchema } from '../../../src/lib/site/index.ts';

const at = (time: string) => {
  const [hours, minutes] = time.split(':').map(Number);
  return new Date(2026, 10, 22, hours, minutes);
};
const site = (operator: object) => siteSchema.safeParse({ name: 'x', chassis: { host: 'r', serial: 'S' }, operator });
const shown = (screen: object | undefined, time = '12:00') => {
  const file = site(screen === undefined ? {} : { screen }).data;
  if (file === undefined) throw new Error('an invalid site file');
  return screenView(file.operator, at(time));
};

describe('the screen of the tablet', () => {
  it('neither dims nor moves without the section of the site file, or with an empty one', () => {
    expect(shown(undefined)).toEqual({ dimAfterMs: null, shifts: false });
    expect(shown({})).toEqual({ dimAfterMs: null, shifts: false });
  });

  it('dims after the given time, at night after a minute, whichever is shorter', () => {
    expect(shown({ dimAfterMinutes: 10, shift: true })).toEqual({ dimAfterMs: 600_000, shifts: true });
    const night = { from: '22:00', to: '06:00' };
    expect(shown({ dimAfterMinutes: 10, night }, '23:00').dimAfterMs).toBe(60_000);
    expect(shown({ dimAfterMinutes: 10, night }, '12:00').dimAfterMs).toBe(600_000);
    expect(shown({ dimAfterMinutes: 1, night }, '23:00').dimAfterMs).toBe(60_000);
  });

  it.each([
    ['22:00', '06:00', ['22:00', '23:59', '00:00', '05:59'], ['06:00', '12:00', '21:59']],
    ['01:00', '05:30', ['01:00', '05:29'], ['00:59', '05:30', '23:00']],
  ])('has a night from %s to %s, by the time of the gateway', (from, to, nights, days) => {
    const night = { from, to };
    for (const time of nights) expect(shown({ night }, time).dimAfterMs, time).toBe(60_000);
    for (const time of days) expect(shown({ night }, time).dimAfterMs, time).toBeNull();
  });

  it.each([
    { night: { from: '22:00' } },
    { night: { from: '22:00', to: '22:00' } },
    { night: { from: '24:00', to: '06:00' } },
    { night: { from: '9:00', to: '06:00' } },
    { dimAfterMinutes: 0 },
    { dimAfterMinutes: 1.5 },
    { dims: true },
  ])('is not %j', (screen) => expect(site({ screen }).success).toBe(false));
});
