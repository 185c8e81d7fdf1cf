import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type TrialRequest, trialKinds } from '../../motion/index.ts';
import { peerAddress } from '../connections/address.ts';
import { malformed, sendJson, sendRefusal } from '../http/answer.ts';
import { refusalOf, refuse } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';

/** Checks the shape only; the motion module decides which trials are allowed. */
const trialBody = z.strictObject({
  kind: z.enum(trialKinds),
  who: z.string().min(1).max(100),
  conditions: z.union([
    z.strictObject({ unattended: z.literal(true) }),
    z.strictObject({ robotWillMove: z.boolean(), spaceFree: z.boolean(), emergencyStopInHand: z.boolean() }),
  ]),
  towardsDeg: z.number().optional(),
  distanceM: z.number().optional(),
});
const keepAliveBody = z.strictObject({ id: z.string().min(1).max(200) });

export function trialHandlers({ motion, log }: Parts) {
  const { trials } = motion;
  return {
    read: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { trial: trials.view() }),
    async start(request: FastifyRequest, reply: FastifyReply) {
      const body = trialBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      const { kind, who } = body.data;
      try {
        const trial = await trials.start(body.data satisfies TrialRequest);
        log.warn({ audit: true, address: peerAddress(request), kind, who, trial: trial.id }, 'trial started');
        return sendJson(reply.code(202), { trial });
      } catch (error) {
        log.warn({ address: peerAddress(request), kind, who, error }, 'trial not started');
        return sendRefusal(request, reply, refusalOf(error));
      }
    },
    keepAlive(request: FastifyRequest, reply: FastifyReply) {
      const body = keepAliveBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      const trial = trials.keepAlive(body.data.id);
      if (trial !== null) return sendJson(reply, { trial });
      return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'Unknown trial id.' }));
    },
    async cancel(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'trial cancelled');
      return sendJson(reply, { trial: await trials.cancel(`cancelled by ${peerAddress(request)}`) });
    },
  };
}

export function evidenceHandlers({ motion, log }: Parts) {
  return {
    /** The current evidence file takes effect, on the order of a signed-in person. */
    async adopt(request: FastifyRequest, reply: FastifyReply) {
      try {
        const adoption = await motion.trials.adoptEvidence();
        log.warn({ audit: true, address: peerAddress(request), ...adoption }, 'evidence adopted');
        return sendJson(reply, adoption);
      } catch (error) {
        return sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}
