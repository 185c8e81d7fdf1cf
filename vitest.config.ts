import { defineConfig } from 'vitest/config';

const peers = ['test/e2e/**/*.test.ts', 'test/peers/**/*.test.ts'];

export default defineConfig({
  test: {
    // Most tests wait for sockets and timers, so more of them than cores run side by side.
    maxWorkers: 3,
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: peers, testTimeout: 30_000 } },
      {
        // Real processes on the ports that the platform fixes: one file at a time.
        test: { name: 'e2e', include: peers, fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000 },
      },
      {
        test: {
          name: 'types',
          include: [],
          typecheck: { enabled: true, only: true, include: ['test/types/**/*.test-d.ts'], tsconfig: './tsconfig.json' },
        },
      },
    ],
  },
});
