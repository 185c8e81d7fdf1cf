import { defineConfig } from 'vitest/config';
import { aloneFiles as alone, mockingFiles as mocking } from './test/alone.ts';

/** Real programs on ports of their own, or in network namespaces: side by side, since most of them wait. */
const peers = ['test/peers/**/*.test.ts'];
/** A test that waits for something ends as soon as it is there; only a failed one takes so long. */
const unit = { testTimeout: 30_000, expect: { poll: { timeout: 10_000 } } };
const longTimeouts = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // Most tests wait for sockets and timers, so more of them than cores run side by side.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...alone, ...peers, ...mocking],
          // A third of the time of the processor is starting processes and loading modules, for files of a few ms.
          isolate: false,
          ...unit,
        },
      },
      { test: { name: 'unit-mocks', include: mocking, ...unit } },
      { test: { name: 'peers', include: peers, exclude: alone, sequence: { groupOrder: 1 }, ...longTimeouts } },
      {
        test: { name: 'e2e', include: alone, fileParallelism: false, sequence: { groupOrder: 2 }, ...longTimeouts },
      },
      {
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['test/types/**/*.test-d.ts'],
            tsconfig: './test/types/tsconfig.json',
          },
        },
      },
    ],
  },
});
