import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GwError } from '../error/index.ts';
import { createFile, readBounded, replaceFile, sha256, syncFolder } from '../lifecycle/index.ts';
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

/** Replaces it: the trial ended otherwise than it says. Throws FILE_UNWRITABLE. */
export async function replaceAttachment(evidenceFile: string, file: string, text: string): Promise<Attachment> {
  await replaceFile(join(attachmentFolder(evidenceFile), file), text, { durable: true });
  return { file, sha256: sha256(text) };
}

/** A file of this name beside an attachment says that the records with it verify nothing yet. */
const OPEN = '.open';
const OPEN_TEXT = 'The trial had not ended when its records were written, or an alarm came: they verify nothing.\n';

/** From here on no record with this attachment verifies anything, also after a crash. Throws FILE_UNWRITABLE. */
export async function openAttachment(evidenceFile: string, file: string): Promise<void> {
  await replaceFile(join(attachmentFolder(evidenceFile), file + OPEN), OPEN_TEXT, { durable: true });
}

/** From here on the records with it count. Rejects with the error of the operating system. */
export async function sealAttachment(evidenceFile: string, file: string): Promise<void> {
  const folder = attachmentFolder(evidenceFile);
  await rm(join(folder, file + OPEN), { force: true });
  await syncFolder(folder);
}

/** The attachments whose records verify nothing. Rejects with the error of the operating system. */
export async function openAttachments(evidenceFile: string): Promise<ReadonlySet<string>> {
  const names = await readdir(attachmentFolder(evidenceFile)).catch((error: NodeJS.ErrnoException) => {
    // A file in its place holds no attachment, either.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return new Set(names.filter((name) => name.endsWith(OPEN)).map((name) => name.slice(0, -OPEN.length)));
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
