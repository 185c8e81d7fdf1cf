/**
 * Tests of the built binary as processes, and against third-party programs. The platform fixes the port of the
 * read-only socket, so each run of them has a network of its own.
 */
export const programFiles = ['test/e2e/**/*.test.ts', 'test/peers/**/*.test.ts'];

/** Robot and gateway in one process, on a clock that the test advances. */
export const storyFiles = ['test/story/**/*.test.ts'];

/** One file a topic of them for `npm test`; `npm run test:all` runs the others as well. */
export const quickProgramFiles = [
  ...['checklist', 'cli', 'enrol', 'evidence', 'heartbeat', 'overlays-diff', 'serve', 'tunnel-connect'],
].map((name) => `test/e2e/${name}.test.ts`);

/** Debian packages of the programs that the tests of `npm test` use. */
export const quickPeers = ['iproute2', 'openssl', 'tar'];

/** Unit tests that replace modules: in a process of their own, since the others share loaded modules. */
export const mockingFiles = [
  'test/evidence/seal.test.ts',
  'test/gateway/disk-hung.test.ts',
  'test/motion/hung-disk.test.ts',
  'test/operator/http/new-route.test.ts',
];
