import type { EvidenceRecord } from '../../src/lib/evidence/index.ts';

/** The device of `recordOf`. */
export const here = { serial: 'SN0001', software: '2.12.3' };

/** A record of a fact on that device. */
export function recordOf(
  fact: string,
  value: EvidenceRecord['value'] = true,
  more: Partial<EvidenceRecord> = {},
): EvidenceRecord {
  return { fact, value, ...here, how: 'measured', who: 'technician', when: '2026-01-31T12:00:00Z', ...more };
}
