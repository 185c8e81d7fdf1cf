import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GwError } from '../error/index.ts';
import { createFile, readBounded, sha256 } from '../lifecycle/index.ts';
import type { EvidenceRecord } from './record.ts';

export type Attachment = NonNullable<EvidenceRecord['attachment']>;

/** Project decisions: a trial report has a fraction of this size; a folder with more files takes no new one. */
const MAX_ATTACHMENT_BYTES = 4 * 1024 * 1024;
const MAX_FILES = 1_000;

/** The folder with trial reports, beside the evidence file: `evidence.trials` for `evidence.jsonl`. */
export function attachmentFolder(evidenceFile: string): string {
  return `${evidenceFile.replace(/\.jsonl$/, '')}.trials`;
}

/** Writes a new file into that folder durably. Throws FILE_EXISTS, FILE_UNWRITABLE. */
export async function writeAttachment(evidenceFile: string, file: string, text: string): Promise<Attachment> {
  const folder = attachmentFolder(evidenceFile);
  const path = join(folder, file);
  if (dirname(path) !== folder) throw new RangeError(`the name of an attachment must not contain a folder: ${file}`);
  const files = await readdir(folder).catch(() => []);
  if (files.length >= MAX_FILES) {
    throw new GwError('FILE_UNWRITABLE', `${folder} is full: it holds ${files.length} files.`, {
      remedy: 'Move the files of old software versions to another folder.',
    });
  }
  await createFile(path, text);
  return { file, sha256: sha256(text) };
}

/**
 * State of the attachment of a record; 'unreadable' is neither verified nor changed.
 */
export const attachmentStates = ['as-recorded', 'missing', 'changed', 'unreadable'] as const;
export type AttachmentState = (typeof attachmentStates)[number];

export async function checkAttachment(
  evidenceFile: string,
  { file, sha256: known }: Attachment,
): Promise<AttachmentState> {
  try {
    const read = await readBounded(join(attachmentFolder(evidenceFile), file), MAX_ATTACHMENT_BYTES);
    if (read.kind === 'too-large') return 'changed';
    if (read.kind !== 'bytes') return 'unreadable';
    return sha256(read.bytes) === known ? 'as-recorded' : 'changed';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'missing' : 'unreadable';
  }
}
