import type { Basis, Mark } from '../../evidence/index.ts';
import type { Code, CodeBook } from '../model.ts';

/** A meaning that a rule relies on, with mark and source. */
export interface NamedReading {
  readonly number: number;
  readonly meaning: string;
  readonly mark: Mark;
  readonly basis: Basis;
  readonly source: string;
}

/**
 * Finds the codes with a reading that matches `word`. The readings come from the code book only, so those verified or
 * contradicted on this device are respected. The mark is that of the code: where readings differ, the weakest.
 */
export function createReader(codeBook: CodeBook, word: RegExp): (code: Code | null) => NamedReading | null {
  const cache = new Map<number, NamedReading | null>();
  return (code) => {
    if (code === null || code.number === null) return null;
    const { field, number } = code;
    const cached = cache.get(number);
    if (cached !== undefined) return cached;
    const { readings, mark, basis } = codeBook.meaning(field, number);
    const found = readings.find(
      ({ meaning, here }) => meaning !== null && here?.verdict !== 'contradicted' && word.test(meaning),
    );
    const named = found?.meaning ? { number, meaning: found.meaning, mark, basis, source: found.source } : null;
    cache.set(number, named);
    return named;
  };
}
