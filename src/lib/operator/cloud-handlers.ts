import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { malformed, sendJson, sendRefusal } from './http/answer.ts';
import { refuse } from './http/refusal.ts';
import type { Parts } from './parts.ts';

const checkBody = z.strictObject({ path: z.enum(['direct', 'fallback']) });

export function cloudHandlers({ cloud, checkCloudPath, sessions }: Parts) {
  let isChecking = false;
  return {
    read: (request: FastifyRequest, reply: FastifyReply) => sendJson(reply, cloud().view, sessions.has(request.raw)),

    /** One check at a time: each may move the link to the other path and back. */
    async checkPath(request: FastifyRequest, reply: FastifyReply) {
      const body = checkBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      if (checkCloudPath === null) {
        return sendRefusal(request, reply, refuse('NOT_CONFIGURED', { message: 'No cloud is configured.' }));
      }
      if (isChecking) return sendRefusal(request, reply, refuse('BUSY'));
      isChecking = true;
      try {
        const { path, step, outcome } = await checkCloudPath(body.data.path);
        return sendJson(reply, { path, step, outcome });
      } finally {
        isChecking = false;
      }
    },
  };
}
