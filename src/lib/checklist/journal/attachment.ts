import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError, systemReason } from '../../error/index.ts';
import { createFile, readBounded, sha256, syncFolder } from '../../lifecycle/index.ts';
import { isPng } from '../../png/index.ts';
import { ATTACHMENT_NAME, type Attachment, type AttachmentKind, attachmentTypes } from '../record.result.ts';

/** Project decision: phone photos are smaller. */
export const ATTACHMENT_MAX_BYTES = 20 * 1024 * 1024;
/** Keeps the number in a name at three digits. */
const MAX_ATTACHMENTS = 999;

/** Image type by magic bytes; undefined for any other. */
function pictureKind(bytes: Uint8Array): AttachmentKind | undefined {
  const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
  if (text(0, 3) === '\xff\xd8\xff') return 'jpg';
  if (isPng(bytes)) return 'png';
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return 'webp';
  const heif = ['heic', 'heix', 'hevc', 'heim', 'heis', 'mif1', 'msf1'];
  return text(4, 8) === 'ftyp' && heif.includes(text(8, 12)) ? 'heic' : undefined;
}

/** Reads a photo named by a person. Throws ATTACHMENT_INVALID. */
export async function readPhoto(path: string): Promise<{ readonly bytes: Uint8Array; readonly kind: AttachmentKind }> {
  const refuse = (why: string, cause?: unknown) =>
    new GwError('ATTACHMENT_INVALID', `${path} cannot be attached: ${why}.`, { cause });
  const read = await readBounded(path, ATTACHMENT_MAX_BYTES).catch((cause: NodeJS.ErrnoException) => {
    const { code } = cause;
    throw refuse(code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${systemReason({ code })})`, cause);
  });
  if (read.kind === 'too-large') throw refuse(`it is larger than ${ATTACHMENT_MAX_BYTES / 1024 / 1024} MiB`);
  if (read.kind !== 'bytes') throw refuse('it is not a regular file');
  const { bytes } = read;
  const kind = pictureKind(bytes);
  if (!kind) throw refuse(`not a supported image (${Object.keys(attachmentTypes).join(', ')})`);
  return { bytes, kind };
}

/**
 * Copies a photo into a folder under a generated name, `003-dock-contacts.jpg`, so that the given path is not disclosed.
 * Written whole and synced, or not at all. Throws ATTACHMENT_INVALID, FILE_UNWRITABLE, and the error of the operating
 * system about the folder.
 */
export async function keepPhoto(path: string, stepId: string, folder: string): Promise<Attachment> {
  const { bytes, kind } = await readPhoto(path);
  const existing = (await readdir(folder)).filter((name) => ATTACHMENT_NAME.test(name));
  const number = Math.max(0, ...existing.map((name) => Number(name.slice(0, 3)))) + 1;
  if (number > MAX_ATTACHMENTS) {
    throw new GwError(
      'ATTACHMENT_INVALID',
      `${path} cannot be attached: the limit of ${MAX_ATTACHMENTS} attachments is reached.`,
    );
  }
  const name = `${String(number).padStart(3, '0')}-${stepId}.${kind}`;
  await createFile(join(folder, name), bytes);
  await syncFolder(folder);
  return { name, sha256: sha256(bytes), bytes: bytes.byteLength, mediaType: attachmentTypes[kind] };
}
