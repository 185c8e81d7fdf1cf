/** Real processes on the fixed ports of the platform, or with measured times: one file at a time. */
export const aloneFiles = [
  'test/e2e/**/*.test.ts',
  ...['cable', 'pages', 'pages-bad-input', 'pages-media', 'ssh-commands'].map((name) => `test/peers/${name}.test.ts`),
];

/** Unit tests that replace modules: in a process of their own, since the others share loaded modules. */
export const mockingFiles = [
  'test/gateway/disk-hung.test.ts',
  'test/motion/hung-disk.test.ts',
  'test/operator/http/new-route.test.ts',
];
