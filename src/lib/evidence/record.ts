import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { GwError } from '../error/index.ts';

/**
 * One line of a site's evidence file (JSON Lines): a technician verified a fact on this very device. It counts
 * for the serial and the software version that it names and for no other.
 */
export const evidenceRecordSchema = z.strictObject({
  /** Id of a fact in the ledger. */
  fact: z.string().min(1),
  /** What was measured, as measured: a number, a word, a short structure. */
  value: z.json(),
  /** Serial number of the chassis. */
  serial: z.string().min(1),
  /** Software version of the chassis at that time. */
  software: z.string().min(1),
  /** How it was measured, in words. */
  how: z.string().min(1),
  who: z.string().min(1),
  /** UTC, for people; no decision reads it. */
  when: z.iso.datetime(),
});
export type EvidenceRecord = z.infer<typeof evidenceRecordSchema>;

/** Reads JSON Lines. Throws EVIDENCE_FILE_INVALID with every bad line; a missing file is an empty one. */
export async function loadEvidenceFile(path: string): Promise<EvidenceRecord[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new GwError('EVIDENCE_FILE_INVALID', `The evidence file ${path} cannot be read.`, { cause: error });
  }
  return parseEvidenceFile(text, path);
}

export function parseEvidenceFile(text: string, path: string): EvidenceRecord[] {
  const records: EvidenceRecord[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = parseLine(line);
    if (typeof parsed === 'string') problems.push(`${path}:${index + 1}: ${parsed}`);
    else records.push(parsed);
  }
  if (problems.length > 0) {
    throw new GwError('EVIDENCE_FILE_INVALID', problems.slice(0, 20).join('\n'), { details: { problems } });
  }
  return records;
}

function parseLine(line: string): EvidenceRecord | string {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return 'not a JSON object on one line';
  }
  const result = evidenceRecordSchema.safeParse(json);
  if (result.success) return result.data;
  return result.error.issues.map((issue) => `${issue.path.join('.') || 'record'}: ${issue.message}`).join('; ');
}
