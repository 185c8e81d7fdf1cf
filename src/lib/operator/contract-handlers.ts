import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendRefusal } from './http/answer.ts';
import { JSON_TYPE } from './http/content-types.ts';
import { refuse } from './http/refusal.ts';
import type { Parts } from './parts.ts';

/** The contracts, generated with the package. Hardly any gateway is asked for them, so they are read when one is. */
export function contractHandlers({ contractsDir, log }: Parts) {
  /** Kept: all readers of the same bytes share one buffer, however slowly they read. */
  const read = new Map<string, Buffer>();
  const contract = (name: string) => async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      const body = read.get(name) ?? (await readFile(join(contractsDir, name)));
      read.set(name, body);
      return () => reply.header('content-type', JSON_TYPE).send(body);
    } catch (error) {
      log.warn({ name, contractsDir, error }, 'contract missing');
      return () => sendRefusal(request, reply, refuse('NOT_FOUND'));
    }
  };
  return { openapi: contract('openapi.json'), asyncapi: contract('asyncapi.json') };
}
