import { defineConfig } from 'vitest/config';
import { mockingFiles as mocking, programFiles, quickProgramFiles, storyFiles } from './test/tiers.ts';

const isAll = process.env.GW_TEST_ALL === 'yes';
/**
 * A test ends when the state that it waits for is there. This limit finds what hangs, and judges nothing else; large inputs
 * and all cases of a property take a slow machine minutes.
 */
const HANG_MS = isAll ? 600_000 : 120_000;
/** For a state that a test looks at again and again, below the limit of the test. */
const POLL_HANG_MS = 100_000;
/** The same for real programs, whose tests are a row of waits, each with a limit of its own. */
const ROW_HANG_MS = 1_800_000;
/** Another seed each day; `GW_SEED` repeats one. */
const seed = process.env.GW_SEED ?? new Date().toISOString().slice(0, 10).replaceAll('-', '');

const common = {
  expect: { poll: { timeout: POLL_HANG_MS, interval: 50 } },
  testTimeout: HANG_MS,
  hookTimeout: HANG_MS,
  setupFiles: ['test/setup.ts'],
  env: { GW_SEED: seed },
};

export default defineConfig({
  test: {
    // Many tests wait for sockets, so more of them than cores run side by side.
    maxWorkers: 3,
    tags: [
      { name: 'large', description: 'large input or long story: only in npm run test:all' },
      { name: 'property', description: 'fewer cases in npm test than in npm run test:all' },
    ],
    ...(isAll ? {} : { tagsFilter: ['!large'] }),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...programFiles, ...storyFiles, ...mocking],
          // A third of the time of the processor is starting processes and loading modules, for files of a few ms.
          isolate: false,
          ...common,
        },
      },
      { extends: true, test: { name: 'unit-mocks', include: mocking, ...common } },
      {
        extends: true,
        test: {
          name: 'stories',
          include: storyFiles,
          // Each gateway opens the port of the read-only socket, which the platform fixes.
          fileParallelism: false,
          isolate: false,
          ...common,
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: isAll ? programFiles : quickProgramFiles,
          fileParallelism: false,
          isolate: false,
          sequence: { groupOrder: 1 },
          ...common,
          testTimeout: ROW_HANG_MS,
          hookTimeout: ROW_HANG_MS,
        },
      },
    ],
  },
});
