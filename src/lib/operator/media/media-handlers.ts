import type { Multipart, MultipartFile } from '@fastify/multipart';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type MediaLibraryView, mediaPage } from '../../pages/index.ts';
import type { Answer } from '../answers/answers.ts';
import { peerAddress } from '../connections/address.ts';
import { isClientAbort } from '../connections/client-abort.ts';
import { isForm, param, sendJson, sendRefusal, sendShared, wantsPage } from '../http/answer.ts';
import { HTML_TYPE, JSON_TYPE } from '../http/content-types.ts';
import { type Refusal, refusalOf, refuse } from '../http/refusal.ts';
import { createSharedReading } from '../http/shared-reading.ts';
import type { Parts } from '../parts.ts';
import { asked } from '../view/asked.ts';
import { MAX_MEDIA_BYTES, type MediaLibrary, type StoreOutcome } from './media.ts';
import { sendMedia } from './send-media.ts';

/** What the page shows of a folder that cannot be read. */
const unreadableLibrary: MediaLibraryView = { files: null, moreFiles: 0, maxBytes: MAX_MEDIA_BYTES, leftBytes: null };

/** How long a reading of the folder counts, unless the library itself changes it. Project decision. */
const READING_MS = 1_000;

export function mediaHandlers({ site, library, outflow, log, clock }: Parts) {
  const reading = createSharedReading(() => read(library), READING_MS, clock);

  async function removeNamed(request: FastifyRequest): Promise<string | null> {
    const name = param(request, 'name');
    if (!(await library.remove(name).finally(reading.forget))) return null;
    log.info({ audit: true, address: peerAddress(request), name }, 'media file deleted');
    return name;
  }

  return {
    async page(request: FastifyRequest, reply: FastifyReply) {
      const { query, viewer } = asked(request, reply);
      const found = await reading.get().catch((error: unknown) => {
        log.warn({ error: refusalOf(error).body.error.message }, 'media library not readable');
        return { library: unreadableLibrary, pages: new Map<string, Buffer>() };
      });
      return () => {
        const { library, pages } = found;
        const asks = library.files?.some(({ name }) => name === query.loeschen) ? query.loeschen : undefined;
        const key = JSON.stringify([viewer, asks]);
        let body = pages.get(key);
        if (body === undefined) {
          const page = mediaPage({ site: site.title ?? site.name, viewer, library, chosen: asks ?? null });
          body = Buffer.from(request.server.withoutPaths(page));
          // The questions about a thousand files would be a thousand pages.
          if (asks === undefined) pages.set(key, body);
        }
        return sendShared(request, reply.code(library.files === null ? 500 : 200), outflow, {
          contentType: HTML_TYPE,
          body,
        });
      };
    },
    async list(request: FastifyRequest, reply: FastifyReply) {
      const { json } = await reading.get();
      return () => sendShared(request, reply, outflow, { contentType: JSON_TYPE, body: json });
    },
    async download(request: FastifyRequest, reply: FastifyReply) {
      const range = request.method === 'HEAD' ? undefined : request.headers.range;
      const file = await library.open(param(request, 'name'), range);
      return file ? sendMedia(request, reply, outflow, file) : () => sendRefusal(request, reply, fileNotFound);
    },
    async upload(request: FastifyRequest, reply: FastifyReply) {
      if (!request.isMultipart()) {
        return () => sendRefusal(request, reply, notAnUpload);
      }
      const refuseUpload = (refusal: Refusal) => {
        // The rest of a refused body is not awaited.
        reply.header('connection', 'close');
        return () => sendRefusal(request, reply, refusal);
      };
      const parts = request.parts();
      try {
        const part = await fileOf(parts);
        const { file } = part;
        const outcome = await library
          .store(part.filename, file, () => restOf(parts, file.bytesRead, Number(request.headers['content-length'])))
          .finally(reading.forget)
          .catch((error: unknown) => {
            throw error === file.errored ? malformedUpload(error) : error;
          });
        if (outcome.kind !== 'stored') {
          part.file.destroy();
          return refuseUpload(uploadRefusals[outcome.kind]);
        }
        log.info(
          { audit: true, address: peerAddress(request), name: outcome.item.name, bytes: outcome.item.bytes },
          'media file stored',
        );
        if (wantsPage(request)) return () => reply.redirect('/medien', 303);
        const { item, replaced } = outcome;
        return () => sendJson(reply.code(201), { file: item, replaced } satisfies Answer<'stored'>);
      } catch (error) {
        if (!(error instanceof UploadFault)) throw error;
        if (isClientAbort(error.cause, request)) throw error.cause;
        return refuseUpload(refuse('BAD_REQUEST', { message: error.message, remedy: UPLOAD_REMEDY }));
      }
    },
    async remove(request: FastifyRequest, reply: FastifyReply) {
      const deleted = await removeNamed(request);
      if (deleted === null) return () => sendRefusal(request, reply, fileNotFound);
      return () => sendJson(reply, { deleted } satisfies Answer<'deleted'>);
    },
    async removeForm(request: FastifyRequest, reply: FastifyReply) {
      const deleted = await removeNamed(request);
      if (deleted === null) return () => sendRefusal(request, reply, fileNotFound);
      return () =>
        isForm(request) ? reply.redirect('/medien', 303) : sendJson(reply, { deleted } satisfies Answer<'deleted'>);
    },
  };
}

/** What all readers share: the list with how much it still takes, its JSON, and the pages made of it. */
async function read(library: MediaLibrary) {
  const { files, more } = await library.list();
  const view = { files, moreFiles: more, maxBytes: MAX_MEDIA_BYTES, leftBytes: await library.leftBytes() };
  const json = Buffer.from(JSON.stringify(view satisfies Answer<'media'>));
  return { library: view, json, pages: new Map<string, Buffer>() };
}

const fileNotFound = refuse('NOT_FOUND', { message: 'File not found.' });

const uploadRefusals: Readonly<Record<Exclude<StoreOutcome['kind'], 'stored'>, Refusal>> = {
  'bad-name': refuse('BAD_REQUEST', {
    message: 'Invalid file name.',
    remedy: 'Use letters, digits, spaces and . _ - ( ), at most 120 characters, without a folder.',
  }),
  'too-large': refuse('TOO_LARGE', { message: 'The file exceeds 200 MB.', remedy: 'Upload a smaller file.' }),
  quota: refuse('NO_SPACE', {
    message: 'The media library is full.',
    remedy: 'Delete media that are no longer needed, or raise disk.mediaMb in the site file.',
  }),
  'no-space': refuse('NO_SPACE', {
    remedy: 'Delete media that are no longer needed, or free space on the disk; disk.reserveMb of it stays reserved.',
  }),
  busy: refuse('BUSY'),
};

const UPLOAD_FIELD = 'file';
const UPLOAD_REMEDY = `Send multipart/form-data with one file, in the field '${UPLOAD_FIELD}'.`;

/** Also for a body of a type that is refused before the handler. */
export const notAnUpload = refuse('UNSUPPORTED_TYPE', { remedy: UPLOAD_REMEDY });

/** Headers, boundaries and text fields; a browser sends some hundred bytes. Project decision. */
const MAX_AROUND_BYTES = 16 * 1024;

/** A malformed upload, whatever error the parser threw. */
class UploadFault extends Error {}

/** Throws UploadFault for everything the parser cannot read, including a truncated body. */
async function nextPart(parts: AsyncIterator<Multipart>): Promise<Multipart | null> {
  try {
    const { done, value } = await parts.next();
    return done ? null : value;
  } catch (cause) {
    throw malformedUpload(cause);
  }
}

function malformedUpload(cause: unknown): UploadFault {
  const { code } = cause as { readonly code?: unknown };
  const why = typeof code === 'string' && code.startsWith('FST_') ? (cause as Error).message : 'malformed';
  return new UploadFault(`The multipart body cannot be read: ${why}.`, { cause });
}

/** The file part of the form; text fields before it are ignored. */
async function fileOf(parts: AsyncIterator<Multipart>): Promise<MultipartFile> {
  for (;;) {
    const part = await nextPart(parts);
    if (part === null) throw new UploadFault('The form contains no file.');
    if (part.type !== 'file') continue;
    if (part.fieldname === UPLOAD_FIELD) return part;
    part.file.destroy();
    throw new UploadFault(`The file is in another field than '${UPLOAD_FIELD}'.`);
  }
}

/** Ends only after the whole form of `formBytes` was read, so that a refused upload leaves no file. */
async function restOf(parts: AsyncIterator<Multipart>, fileBytes: number, formBytes: number): Promise<void> {
  // The parser raises an error for a second file.
  while ((await nextPart(parts)) !== null);
  // It skips headers beyond its limits, and everything before the first part and behind the last one.
  if (!(formBytes - fileBytes <= MAX_AROUND_BYTES)) {
    throw new UploadFault(`The form has more than ${MAX_AROUND_BYTES / 1024} KiB around the file.`);
  }
}
