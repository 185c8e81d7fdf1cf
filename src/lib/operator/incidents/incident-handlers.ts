import type { FastifyReply, FastifyRequest } from 'fastify';
import { GwError } from '../../error/index.ts';
import { incidentFileName } from '../../incident/index.ts';
import { param, type SharedJson, sendRefusal, sendSharedJson } from '../http/answer.ts';
import { refusalOf } from '../http/refusal.ts';
import { createSharedReading } from '../http/shared-reading.ts';
import type { Parts } from '../parts.ts';

/** How long a list counts: many readers share one. Project decision. */
const LIST_MS = 500;

export function incidentHandlers({ site, incidents, clock }: Parts) {
  const read = async (): Promise<SharedJson> => ({ data: await incidents.list(), bodies: new Map() });
  const reading = createSharedReading(read, LIST_MS, clock);
  return {
    async list(_request: FastifyRequest, reply: FastifyReply) {
      const list = await reading.get();
      return () => sendSharedJson(reply, list);
    },
    async file(request: FastifyRequest, reply: FastifyReply) {
      const id = Number(param(request, 'id'));
      try {
        const bytes = await incidents.read(id);
        if (bytes === null) throw new GwError('INCIDENT_UNKNOWN', `There is no incident ${id}.`);
        const name = incidentFileName(site.chassis.serial, id);
        return () =>
          reply
            .header('content-type', 'application/jsonl; charset=utf-8')
            .header('content-disposition', `attachment; filename="${name}"`)
            .header('cache-control', 'no-store')
            .send(bytes);
      } catch (error) {
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}
