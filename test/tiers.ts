/**
 * Tests of the built binary as processes, and against third-party programs. The platform fixes the port of the
 * read-only socket, so each run of them has a network of its own.
 */
export const programFiles = ['test/e2e/**/*.test.ts', 'test/peers/**/*.test.ts'];

/** Robot and gateway in one process, on a clock that the test advances. */
export const storyFiles = ['test/story/**/*.test.ts'];

/** Programs that only `npm run test:all` runs. */
export const longFiles = ['test/peers/**/*.test.ts'];

/** Unit tests that replace modules: in a process of their own, since the others share loaded modules. */
export const mockingFiles = [
  'test/gateway/disk-hung.test.ts',
  'test/motion/hung-disk.test.ts',
  'test/operator/http/new-route.test.ts',
];
