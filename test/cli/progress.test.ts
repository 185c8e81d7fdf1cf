import { expect, it } from 'vitest';
import { canRedraw } from '../../src/cli/progress.ts';

it('lines are overwritten only at a terminal that has a width', () => {
  expect(canRedraw({ isTTY: true, columns: 80 })).toBe(true);
  expect(canRedraw({ isTTY: true, columns: 0 })).toBe(false);
  expect(canRedraw({ columns: 80 })).toBe(false);
});
