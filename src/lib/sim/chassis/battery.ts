import type { Faults } from '../faults.ts';

/** What the battery does now. */
export type BatteryLoad = 'charging' | 'idle' | 'driving';

const START = 0.86;
/** Fraction of the charge per second: a day of idling, 1.5 hours of driving, two hours of charging. */
const ratesPerS: Readonly<Record<BatteryLoad, number>> = { idle: -1e-5, driving: -2e-4, charging: 1.4e-4 };
/** Negative while charging (vendor facts). */
const currentsA: Readonly<Record<BatteryLoad, number>> = { idle: 0.9, driving: 3.6, charging: -4.8 };
/** What faults report as the charge. */
const reported = { low: 0.06, unsure: 0.41, nearlyEmpty: 0.01 } as const;

/** The battery of the robot. */
export function createBattery(faults: Pick<Faults, 'is'>) {
  let charge: number = START;

  function percentage(): number {
    if (faults.is('battery-unsure')) return reported.unsure;
    if (faults.is('battery-low')) return reported.low;
    return faults.is('battery-to-100') ? reported.nearlyEmpty : charge;
  }

  return {
    /** The reported charge, 0 to 1. */
    percentage,
    step(dt: number, load: BatteryLoad): void {
      charge = Math.max(0.02, Math.min(1, charge + ratesPerS[load] * dt));
    },
    report(load: BatteryLoad) {
      const charging = load === 'charging';
      const full = faults.is('battery-unsure') || (charging && percentage() >= 0.999);
      return {
        percentage: percentage(),
        status: full ? 'full' : charging ? 'charging' : 'discharging',
        currentA: full ? 0 : currentsA[load],
        voltageV: 22 + 4 * percentage(),
      };
    },
  };
}
