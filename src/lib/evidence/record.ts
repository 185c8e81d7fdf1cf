import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { unreadable } from './unreadable.ts';

const word = z
  .string()
  .max(1_000)
  .refine(
    (text) => text.trim() !== '' && !/\p{Cc}/u.test(text),
    'expected text without line breaks and control characters',
  );

/**
 * One line of a site's evidence file (JSON Lines): a fact verified on this device. It counts only for
 * its serial number and software version.
 */
export const evidenceRecordSchema = z.strictObject({
  /** Id of a fact in the ledger. */
  fact: word,
  /** The measured value: a number, a string, a short structure. `false`: the fact does not hold here. */
  value: z.json(),
  /** Serial number of the chassis. */
  serial: word,
  /** Software version of the chassis at that time. */
  software: word,
  /** How it was measured, as text. */
  how: word,
  who: word,
  /** UTC, for people; no decision reads it. */
  when: z.iso.datetime(),
  /** The chassis reported that it is a simulator: the record never counts for a real robot. */
  simulated: z.literal(true).optional(),
  /** The report file in the folder of trials beside the evidence file. */
  attachment: z
    .strictObject({
      file: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/, 'expected the name of a file, without a folder'),
      sha256: z.string().regex(/^[0-9a-f]{64}$/, 'expected a SHA-256 in lower-case hexadecimal digits'),
      /** A verification of a trial: it counts only while the seal of the trial is beside the report. */
      needsSeal: z.literal(true).optional(),
    })
    .optional(),
});
export type EvidenceRecord = z.infer<typeof evidenceRecordSchema>;

/** A measured value is a number, a string or a short structure; deeper nesting is corrupt or malicious. */
const MAX_LEVELS = 10;
const MAX_LINES_SHOWN = 20;

/** The records of a file's content. Throws EVIDENCE_FILE_INVALID and nothing else. */
export function parseEvidenceFile(content: string | Uint8Array, path: string): EvidenceRecord[] {
  const text = typeof content === 'string' ? content : decode(content, path);
  const records: EvidenceRecord[] = [];
  const problems: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const parsed = parseLine(line);
    if (typeof parsed === 'string') problems.push(`${path}:${index + 1}: ${parsed}`);
    else records.push(parsed);
  }
  if (problems.length > 0) {
    const shown = problems.slice(0, MAX_LINES_SHOWN);
    if (problems.length > shown.length) shown.push(`… and ${problems.length - shown.length} more lines`);
    throw new GwError('EVIDENCE_FILE_INVALID', shown.join('\n'), { details: { problems } });
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
  if (isDeeperThan(json, MAX_LEVELS)) return `nested deeper than ${MAX_LEVELS} levels`;
  // Zod drops this key silently.
  if (typeof json === 'object' && json !== null && Object.hasOwn(json, '__proto__')) return "unknown key '__proto__'";
  const result = evidenceRecordSchema.safeParse(json);
  if (result.success) return result.data;
  return result.error.issues.map((issue) => `${issue.path.join('.') || 'record'}: ${issue.message}`).join('; ');
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(path, 'it is not text in UTF-8', error);
  }
}
