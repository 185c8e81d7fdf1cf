import { type FactId, factById } from '../../../evidence/index.ts';
import type { CitedFact } from '../restore.result.ts';

/** Facts in the form of a result. */
export function citeFacts(ids: readonly FactId[]): CitedFact[] {
  return ids.map((id) => {
    const { mark, basis, statement, source } = factById(id);
    return { id, mark, basis, statement, source };
  });
}
