import { defineConfig } from 'vitest/config';

const peers = ['test/e2e/**/*.test.ts', 'test/peers/**/*.test.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: peers } },
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
