import type { Basis, Mark } from '../../evidence/index.ts';
import type { Code, CodeBook } from '../model.ts';

/** A meaning that a rule builds on, with how well it is known and who says so. */
export interface NamedReading {
  readonly number: number;
  readonly meaning: string;
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
}

/**
 * Finds the codes that somebody reads as a certain kind of feature. The numbers come out of the code book and nowhere
 * else, so a reading that was verified or contradicted on this device counts as what it is. The mark is that of the
 * code: where readings differ it is no better than the weakest of them.
 */
export function createReader(codeBook: CodeBook, word: RegExp): (code: Code | null) => NamedReading | null {
  const known = new Map<number, NamedReading | null>();
  return (code) => {
    if (code === null || code.number === null) return null;
    const { field, number } = code;
    const before = known.get(number);
    if (before !== undefined) return before;
    const { readings, mark, basis } = codeBook.meaning(field, number);
    const found = readings.find(
      ({ meaning, here }) => meaning !== null && here?.verdict !== 'contradicted' && word.test(meaning),
    );
    const named = found?.meaning ? { number, meaning: found.meaning, mark, basis, source: found.source } : null;
    known.set(number, named);
    return named;
  };
}
