import { join } from 'node:path';
import { z } from 'zod';
import { GwError } from '../../error/index.ts';
import { type StateFiles, stateFiles } from '../../json/index.ts';
import { type ReplacedPart, replacedParts } from './replace.result.ts';

export const REPLACEMENT_FORMAT = 'gw/replacement/1';

const text = z.string().min(1).max(500);
const time = z.iso.datetime();

/** What the world no longer shows of a replacement. What can be looked at is not in it. */
const replacementFileSchema = z.strictObject({
  format: z.literal(REPLACEMENT_FORMAT),
  part: z.enum(replacedParts),
  /** Serial numbers; of a gateway, ids of the machines. */
  from: text,
  to: text.nullable(),
  begunAt: time,
  /** Of the site file at the beginning. */
  old: z.strictObject({ mac: text.nullable(), host: text }).nullable(),
  /** The backup of the maps of the old chassis. */
  archive: z.strictObject({ path: text, sha256: z.string().regex(/^[0-9a-f]{64}$/) }).nullable(),
  /** Ids of the runs whose records were there at the beginning: a clock that was wrong then does not make them newer. */
  records: z.array(text).max(1000),
  /** The newest word of a step in a frame is the last one. */
  words: z.array(z.strictObject({ step: text, by: text, at: time, frame: text })).max(1000),
});
export type ReplacementFile = z.infer<typeof replacementFileSchema>;

export interface OpenedReplacement {
  readonly path: string;
  readonly current: () => ReplacementFile;
  /**
   * Saved before anything relies on it. `edit` gets what is in the file now: another run may have written since, while this
   * one asked a person. Throws FILE_UNWRITABLE, FILE_UNREADABLE, and REPLACEMENT_OTHER where another one was begun.
   */
  change(edit: (now: ReplacementFile) => Partial<Pick<ReplacementFile, 'archive' | 'words'>>): Promise<void>;
}

export const replacementPath = (stateDir: string, part: ReplacedPart) => join(stateDir, `replacement-${part}.json`);

/**
 * The replacement of this part that is under way, or the one that `begin` begins. Throws FILE_UNREADABLE for a damaged file
 * and one of a newer gw, which stay as they are, and what `begin` throws.
 */
export async function openReplacement(
  stateDir: string,
  part: ReplacedPart,
  /** Throws USAGE, REPLACEMENT_OTHER. */
  begin: (found: ReplacementFile | null, path: string) => ReplacementFile | Promise<ReplacementFile>,
  files: StateFiles = stateFiles,
): Promise<OpenedReplacement> {
  const path = replacementPath(stateDir, part);
  const remedy = `Read it with the gw that has written it. If it is damaged, move it away and begin again: the backup of the maps stays where it is (--backup FILE).`;
  const found = await files.read(path, replacementFileSchema, remedy);
  if (found !== null && found.part !== part) {
    throw new GwError('FILE_UNREADABLE', `${path} is of the replacement of a ${found.part}.`, { remedy });
  }
  let now = await begin(found, path);
  if (now !== found) await files.write(path, now);
  return {
    path,
    current: () => now,
    async change(edit) {
      const there = (await files.read(path, replacementFileSchema, remedy)) ?? now;
      if (there.begunAt !== now.begunAt || there.to !== now.to) {
        throw otherReplacement(there, path, `this run is of the one that was begun at ${now.begunAt}`);
      }
      const next = { ...there, ...edit(there) };
      await files.write(path, next);
      now = next;
    },
  };
}

/** Of other parts: it is not taken over. */
export function otherReplacement({ part, from, to, begunAt }: ReplacementFile, path: string, meant: string): GwError {
  const of = `the replacement of the ${part} ${from}${to === null ? '' : ` by ${to}`}, begun at ${begunAt}`;
  return new GwError('REPLACEMENT_OTHER', `${path} is of ${of}; ${meant}.`, {
    remedy: `If that one is finished or given up, move it away: mv ${path} ${path}.${from}`,
  });
}
