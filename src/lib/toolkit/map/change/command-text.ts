/** A command as a person can paste it into a shell: words with anything unusual in them stand in quotes. */
export function commandText(...words: readonly string[]): string {
  return words
    .map((word) => (/^[A-Za-z0-9_./:@%+,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`))
    .join(' ');
}
