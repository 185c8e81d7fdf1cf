/** `npm run test:all`: every case of each property, large inputs and long stories. */
export const isFull = process.env.GW_TEST_ALL === 'yes';

/** In `npm test` one case in so many, and no fewer than this. */
const ONE_IN = 10;
const MIN_CASES = 8;

/**
 * Cases of a property: all of them in `npm run test:all`, a tenth in `npm test`, whose seed is another one each day
 * (`GW_SEED` repeats it). An expensive property says with `atLeast` how few are enough.
 */
export function runs(all: number, atLeast = MIN_CASES): number {
  return isFull ? all : Math.min(all, Math.max(atLeast, Math.ceil(all / ONE_IN)));
}
