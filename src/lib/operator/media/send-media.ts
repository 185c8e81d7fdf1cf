import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Outflow } from '../connections/outflow.ts';
import { sendRefusal } from '../http/answer.ts';
import type { LateAnswer } from '../http/handler.ts';
import { refuse } from '../http/refusal.ts';
import { mediaContentPolicy } from '../http/security-headers.ts';
import type { OpenMedia } from './media.ts';

/** Sends an open file or a part of it. It is closed also when the reader is lost before its turn comes. */
export function sendMedia(
  { method, raw: { socket } }: FastifyRequest,
  reply: FastifyReply,
  outflow: Outflow,
  file: OpenMedia,
): LateAnswer {
  const { content, range } = file;
  const close = () => void content.close().catch(() => {});
  if (socket.closed) close();
  else socket.once('close', close);

  return () => {
    socket.off('close', close);
    const isHead = method === 'HEAD';
    if (!isHead && !outflow.admit(content, reply.raw)) {
      close();
      return sendRefusal(reply.request, reply, refuse('BUSY'));
    }
    const disposition = file.inline ? 'inline' : 'attachment';
    reply
      .header('content-type', file.contentType)
      .header('content-length', range === null ? file.bytes : range.last - range.first + 1)
      .header('accept-ranges', 'bytes')
      .header('content-security-policy', mediaContentPolicy)
      .header('content-disposition', `${disposition}; filename*=UTF-8''${encodeURIComponent(file.name)}`);
    if (isHead || file.bytes === 0) {
      close();
      // An empty stream: for an empty body the framework would send no content-length.
      return reply.send(Readable.from([]));
    }
    if (range !== null) reply.code(206).header('content-range', `bytes ${range.first}-${range.last}/${file.bytes}`);
    const { raw, statusCode } = reply;
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) raw.setHeader(name, value);
    }
    raw.writeHead(statusCode);
    void content.sendTo(raw);
    return reply;
  };
}
