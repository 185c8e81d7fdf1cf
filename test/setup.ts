// Before each test file: what the properties of this run have in common, and what the file costs where that is asked.
import { appendFileSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { runs } from './properties.ts';

fc.configureGlobal({ seed: Number(process.env.GW_SEED), numRuns: runs(100) });

/** A line for each file: processor seconds, with those of its processes that have ended, and its path. */
const costs = process.env.GW_TEST_COSTS;
if (costs !== undefined) {
  const before = processorS();
  afterAll(() => {
    const { testPath = '' } = expect.getState();
    appendFileSync(costs, `${(processorS() - before).toFixed(2)} ${relative(process.cwd(), testPath)}\n`);
  });
}

/** Of this process and of its children that have ended: fields 14 to 17 of proc_pid_stat(5), in hundredths of a second. */
function processorS(): number {
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const ticks = fields.split(' ').slice(11, 15).map(Number);
  return ticks.reduce((sum, one) => sum + one, 0) / 100;
}
