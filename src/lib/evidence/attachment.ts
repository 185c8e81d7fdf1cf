import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GwError } from '../error/index.ts';
import { createFile, readBounded, sha256 } from '../lifecycle/index.ts';
import type { EvidenceRecord } from './record.ts';

export type Attachment = NonNullable<EvidenceRecord['attachment']>;

/** Project decisions: what a trial leaves has a fraction of this; a folder with more is not added to. */
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 1_000;

/** The folder that holds what was measured, beside the evidence file: `evidence.trials` for `evidence.jsonl`. */
export function attachmentFolder(evidenceFile: string): string {
  return `${evidenceFile.replace(/\.jsonl$/, '')}.trials`;
}

/** Puts a new file into that folder and onto the disk. Throws FILE_EXISTS, FILE_UNWRITABLE. */
export async function writeAttachment(evidenceFile: string, file: string, text: string): Promise<Attachment> {
  const folder = attachmentFolder(evidenceFile);
  const path = join(folder, file);
  if (dirname(path) !== folder) throw new RangeError(`the name of an attachment has no folder: ${file}`);
  const files = await readdir(folder).catch(() => []);
  if (files.length >= MAX_FILES) {
    throw new GwError('FILE_UNWRITABLE', `${folder} holds ${files.length} files already; nothing is added to it.`, {
      remedy: 'Move those of old software versions away.',
    });
  }
  await createFile(path, text);
  return { file, sha256: sha256(text) };
}

/**
 * Whether the file of a record is there and is what it was: 'as-recorded', 'missing', 'changed', or 'unreadable', which
 * is neither.
 */
export const attachmentStates = ['as-recorded', 'missing', 'changed', 'unreadable'] as const;
export type AttachmentState = (typeof attachmentStates)[number];

export async function checkAttachment(
  evidenceFile: string,
  { file, sha256: known }: Attachment,
): Promise<AttachmentState> {
  try {
    const read = await readBounded(join(attachmentFolder(evidenceFile), file), MAX_BYTES);
    if (read.kind === 'too-large') return 'changed';
    if (read.kind !== 'bytes') return 'unreadable';
    return sha256(read.bytes) === known ? 'as-recorded' : 'changed';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
}
