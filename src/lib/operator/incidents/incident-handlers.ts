import type { FastifyReply, FastifyRequest } from 'fastify';
import { GwError } from '../../error/index.ts';
import { param, sendJson, sendRefusal } from '../http/answer.ts';
import { refusalOf } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';

export function incidentHandlers({ site, incidents }: Parts) {
  return {
    list: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, incidents.list()),
    async file(request: FastifyRequest, reply: FastifyReply) {
      const id = Number(param(request, 'id'));
      try {
        const bytes = await incidents.read(id);
        if (bytes === null) throw new GwError('INCIDENT_UNKNOWN', `There is no incident ${id}.`);
        const name = `incident-${site.chassis.serial.replace(/[^A-Za-z0-9_-]/g, '_')}-${id}.jsonl`;
        return reply
          .header('content-type', 'application/jsonl; charset=utf-8')
          .header('content-disposition', `attachment; filename="${name}"`)
          .header('cache-control', 'no-store')
          .send(bytes);
      } catch (error) {
        return sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}
