import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { peerAddress } from './address.ts';
import { param, sendJson, sendRefusal } from './answer.ts';
import { MEDIA_MOST_BYTES, type StoreOutcome } from './media.ts';
import type { Parts } from './parts.ts';
import { type Refusal, refuse } from './refusal.ts';
import { mediaContentPolicy } from './security-headers.ts';

export function mediaHandlers({ library, outflow, log }: Parts) {
  return {
    list: async (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, { files: await library.list(), mostBytes: MEDIA_MOST_BYTES }),
    async download(request: FastifyRequest, reply: FastifyReply) {
      const file = await library.open(param(request, 'name'));
      if (!file) return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'There is no such file.' }));
      if (request.method !== 'HEAD' && !outflow.admit(file.stream, reply.raw)) {
        file.stream.destroy();
        return sendRefusal(request, reply, refuse('BUSY'));
      }
      const disposition = file.inline ? 'inline' : 'attachment';
      reply
        .header('content-type', file.contentType)
        .header('content-length', file.bytes)
        .header('content-security-policy', mediaContentPolicy)
        .header('content-disposition', `${disposition}; filename*=UTF-8''${encodeURIComponent(file.name)}`);
      if (request.method === 'HEAD' || file.bytes === 0) {
        file.stream.destroy();
        // An empty stream: the framework would say that an empty body has no length.
        return reply.send(Readable.from([]));
      }
      return reply.send(file.stream);
    },
    async upload(request: FastifyRequest, reply: FastifyReply) {
      if (!request.isMultipart()) {
        return sendRefusal(request, reply, refuse('UNSUPPORTED_TYPE', { remedy: 'Send multipart/form-data.' }));
      }
      const part = await request.file();
      if (!part) return sendRefusal(request, reply, refuse('BAD_REQUEST', { message: 'There is no file in it.' }));
      const outcome = await library.store(part.filename, part.file);
      if (outcome.kind === 'stored') {
        log.info(
          { audit: true, address: peerAddress(request), name: outcome.item.name, bytes: outcome.item.bytes },
          'media file stored',
        );
        return sendJson(reply.code(201), { file: outcome.item, replaced: outcome.replaced });
      }
      // The rest of a file that nobody wants is not waited for.
      part.file.destroy();
      reply.header('connection', 'close');
      return sendRefusal(request, reply, uploadRefusals[outcome.kind]);
    },
    async remove(request: FastifyRequest, reply: FastifyReply) {
      const name = param(request, 'name');
      if (!(await library.remove(name))) {
        return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'There is no such file.' }));
      }
      log.info({ audit: true, address: peerAddress(request), name }, 'media file deleted');
      return sendJson(reply, { deleted: name });
    },
  };
}

const uploadRefusals: Readonly<Record<Exclude<StoreOutcome['kind'], 'stored'>, Refusal>> = {
  'bad-name': refuse('BAD_REQUEST', {
    message: 'This file name cannot be used.',
    remedy: 'Use letters, digits, spaces and . _ - ( ), at most 120 characters.',
  }),
  'too-large': refuse('TOO_LARGE', { message: 'A media file may have up to 200 MB.', remedy: 'Make it smaller.' }),
  quota: refuse('NO_SPACE', {
    message: 'The media library is as large as it may be.',
    remedy: 'Delete media that nobody needs any more, or allow more with disk.mediaMb in the site file.',
  }),
  'no-space': refuse('NO_SPACE', {
    remedy:
      'Delete media that nobody needs any more, or make room on the disk; a part of it stays free (disk.reserveMb).',
  }),
  busy: refuse('BUSY'),
};
