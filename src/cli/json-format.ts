/** Whether argv contains `--format json`, which is equivalent to `--json`, even if it cannot be parsed. */
export function isJsonFormat(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.includes('--format=json') || words.some((word, at) => word === '--format' && words[at + 1] === 'json');
}
