/** A command for a shell: words with special characters are quoted. */
export function commandText(...words: readonly string[]): string {
  return words
    .map((word) => (/^[A-Za-z0-9_./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
