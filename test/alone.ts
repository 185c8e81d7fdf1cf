/** Real processes on the ports that the platform fixes on a machine, or held against a time: one file at a time. */
export const aloneFiles = [
  'test/e2e/**/*.test.ts',
  ...['cable', 'pages', 'ssh-commands'].map((name) => `test/peers/${name}.test.ts`),
];
