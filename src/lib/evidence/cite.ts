import type { Known } from './known.ts';
import { type FactId, factById } from './ledger.ts';

/** Mark, basis and source of a fact of the ledger, for a value whose meaning depends on it. */
export function citeFact(id: FactId, unit?: string): Omit<Known<unknown>, 'value'> {
  const { mark, basis, source } = factById(id);
  return { mark, basis, source: `${source} (${id})`, ...(unit !== undefined && { unit }) };
}
