import { isRecord } from '../../json/index.ts';
import { readStateFile, writeStateFile } from '../state-file.ts';
import type { PresentFault } from './model.ts';

const FORMAT = 'gw/cloud-faults/1';
const marks = ['BELEGT', 'HINWEIS', 'VORSICHT', 'OFFEN'] as const;

/** A fault whose message was or may have been accepted by the outbox. */
export interface KeptFault extends PresentFault {
  readonly faultId: string;
  /** 'raising' and 'clearing' are written before the message is given to the outbox. */
  readonly phase: 'raising' | 'raised' | 'clearing';
  readonly occurrences: number;
  /** When it was first seen to be gone since it was present last, UTC; null: it was not. */
  readonly goneAt: string | null;
}

/** Throws FILE_UNREADABLE. */
export async function readFaultFile(path: string): Promise<readonly KeptFault[]> {
  return (await readStateFile(path, parse)) ?? [];
}

/** Throws FILE_UNWRITABLE. */
export async function writeFaultFile(path: string, faults: readonly KeptFault[]): Promise<void> {
  const kept = faults.map(({ key, text, number, mark, faultId, phase, occurrences, goneAt }) => {
    return { key, text, number, mark, faultId, phase, occurrences, goneAt };
  });
  await writeStateFile(path, { format: FORMAT, faults: kept });
}

function parse(value: unknown): readonly KeptFault[] | null {
  if (!isRecord(value) || value.format !== FORMAT || !Array.isArray(value.faults)) return null;
  const faults = value.faults.filter(isKept);
  return faults.length === value.faults.length ? faults : null;
}

function isKept(value: unknown): value is KeptFault {
  if (!isRecord(value)) return false;
  const { key, text, number, mark, faultId, phase, occurrences, goneAt } = value;
  return (
    [key, text, faultId].every((each) => typeof each === 'string') &&
    (number === null || typeof number === 'number') &&
    marks.some((each) => each === mark) &&
    ['raising', 'raised', 'clearing'].some((each) => each === phase) &&
    Number.isSafeInteger(occurrences) &&
    (goneAt === null || typeof goneAt === 'string')
  );
}
