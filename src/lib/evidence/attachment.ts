import { readdir, rename, rm } from 'node:fs/promises';
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
  const reports = files.filter((name) => !name.endsWith(SEALED)).length;
  if (reports >= MAX_FILES) {
    throw new GwError('FILE_UNWRITABLE', `${folder} is full: it holds ${reports} reports.`, {
      remedy: `Move reports of trials that no longer count, such as those of old software versions, to another folder. A verification whose seal (${SEALED}) is moved away no longer counts: its trial must be run again.`,
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

/** Only while a file of this name is beside an attachment do the verifications with it count. */
const SEALED = '.sealed';
const SEAL_TEXT = 'The trial ended as its report says. Without this file its verifications do not count.\n';

/** From here on the verifications with it count. Where this rejects they do not, unless the seal can neither be removed nor renamed. */
export async function sealAttachment(evidenceFile: string, file: string): Promise<void> {
  try {
    await replaceFile(sealOf(evidenceFile, file), SEAL_TEXT, { durable: true });
  } catch (error) {
    // An error may come after its effect.
    await unsealAttachment(evidenceFile, file);
    throw error;
  }
}

/** From here on the verifications with it do not count. Rejects with the error of the operating system. */
export async function unsealAttachment(evidenceFile: string, file: string): Promise<void> {
  const seal = sealOf(evidenceFile, file);
  await rm(seal, { force: true }).catch(async () => {
    await rename(seal, `${seal}.broken`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  });
  await syncFolder(dirname(seal));
}

function sealOf(evidenceFile: string, file: string): string {
  return join(attachmentFolder(evidenceFile), file + SEALED);
}

/** The sealed attachments; none where there is no folder. Rejects with the error of the operating system. */
export async function sealedAttachments(evidenceFile: string): Promise<ReadonlySet<string>> {
  const names = await readdir(attachmentFolder(evidenceFile)).catch((error: NodeJS.ErrnoException) => {
    // A file in its place holds no attachment, either.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return new Set(names.filter((name) => name.endsWith(SEALED)).map((name) => name.slice(0, -SEALED.length)));
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
