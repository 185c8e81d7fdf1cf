import { isRecord } from '../../json/index.ts';
import type { StopWire } from '../wire.ts';
import { displayText, field, matching } from './fields.ts';

const STOP_ID = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_REASON_CHARACTERS = 200;
const MAX_BY_CHARACTERS = 120;

/**
 * A stop; null for anything that is not one. The id alone makes it a stop: every other field is dropped or shortened
 * where it is unusable, because a missed stop is dangerous and a needless one is not.
 */
export function readStop(value: unknown): StopWire | null {
  if (!isRecord(value)) return null;
  const id = matching(field(value, 'id'), STOP_ID);
  if (id === null) return null;
  const reason = displayText(field(value, 'reason'), MAX_REASON_CHARACTERS);
  const by = displayText(field(value, 'by'), MAX_BY_CHARACTERS);
  return { id, ...(reason && { reason }), ...(by && { by }) };
}
