import type { Known } from './known.ts';
import { type FactId, factById } from './ledger.ts';

/** A value that is read by a fact of the ledger has the mark, the basis and the source of that fact. */
export function citeFact(id: FactId, unit?: string): Omit<Known<unknown>, 'value'> {
  const { mark, basis, source } = factById(id);
  return { mark, basis, source: `${source} (${id})`, ...(unit !== undefined && { unit }) };
}
