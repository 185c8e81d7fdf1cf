import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type TrialRequest, trialKinds } from '../../motion/index.ts';
import { peerAddress } from '../connections/address.ts';
import { malformed, sendJson, sendRefusal } from '../http/answer.ts';
import { refusalOf, refuse } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';

/** Bounds beyond which nothing is a request at all; what a trial may be is the motion module's to say. */
const trialBody = z.strictObject({
  kind: z.enum(trialKinds),
  who: z.string().min(1).max(100),
  conditions: z.union([
    z.strictObject({ unattended: z.literal(true) }),
    z.strictObject({ robotWillMove: z.boolean(), spaceFree: z.boolean(), emergencyStopInHand: z.boolean() }),
  ]),
  towardsDeg: z.number().min(-360).max(360).optional(),
  distanceM: z.number().min(0).max(10).optional(),
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
        log.warn({ address: peerAddress(request), kind, who, trial: trial.id }, 'trial started');
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
      return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'There is no trial of this id.' }));
    },
    async cancel(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ address: peerAddress(request) }, 'trial cancelled');
      return sendJson(reply, { trial: await trials.cancel(`cancelled by ${peerAddress(request)}`) });
    },
  };
}

export function evidenceHandlers({ motion, log }: Parts) {
  return {
    /** All that the evidence file says counts from now on: a signed-in person takes it over. */
    async adopt(request: FastifyRequest, reply: FastifyReply) {
      try {
        const adoption = await motion.trials.adoptEvidence();
        log.warn({ address: peerAddress(request), ...adoption }, 'evidence adopted');
        return sendJson(reply, adoption);
      } catch (error) {
        return sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}
