import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { chosenPose } from '../../motion/index.ts';
import { peerAddress, requesterOf } from '../connections/address.ts';
import { isForm, malformed, sendJson, sendRefusal } from '../http/answer.ts';
import { refusalOf, refuse } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';

const stopBody = z.strictObject({ reason: z.string().min(1).max(200).optional() });

export function stopHandlers({ motion, log }: Parts) {
  return {
    read(_request: FastifyRequest, reply: FastifyReply) {
      const { stop, standstill } = motion.status();
      return sendJson(reply, { stop, standstill });
    },
    async stop(request: FastifyRequest, reply: FastifyReply) {
      // A stop is never refused for a malformed body.
      const body = stopBody.safeParse(request.body);
      const reason = (body.success && body.data.reason) || 'STOPP';
      log.warn({ audit: true, address: peerAddress(request), reason }, 'stop requested');
      const stop = await motion.stopRobot(reason, requesterOf(request));
      return isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { stop });
    },
    async clear(request: FastifyRequest, reply: FastifyReply) {
      const stop = await motion.clearStop(`signed-in person, ${peerAddress(request)}`);
      log.warn({ audit: true, address: peerAddress(request) }, 'stop cleared');
      return isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { stop });
    },
  };
}

const tourBody = z.strictObject({ tour: z.string().min(1).max(64) });

const endBody = z.looseObject({ id: z.string().max(200) });

/** The id of the run to end, if one is given; an end is never refused for a malformed body. */
function idIn(request: FastifyRequest): string | undefined {
  return endBody.safeParse(request.body).data?.id;
}

/** Whether this client may start tours and drives; `operator.tourNeedsSignIn` requires a session. */
function isAllowed({ site, sessions }: Parts, request: FastifyRequest): boolean {
  return !site.operator.tourNeedsSignIn || sessions.has(request.raw);
}

export function tourHandlers(parts: Parts) {
  const { site, motion, log } = parts;

  async function start(request: FastifyRequest, reply: FastifyReply) {
    const body = tourBody.safeParse(request.body);
    if (!body.success) return sendRefusal(request, reply, malformed(body.error));
    if (!isAllowed(parts, request)) return sendRefusal(request, reply, refuse('NOT_SIGNED_IN'));
    const { tour } = body.data;
    try {
      const run = await motion.startTour(tour);
      log.info({ audit: true, address: peerAddress(request), tour }, 'tour started');
      return isForm(request) ? reply.redirect('/', 303) : sendJson(reply.code(202), { run });
    } catch (error) {
      log.warn({ address: peerAddress(request), tour, error }, 'tour not started');
      return sendRefusal(request, reply, refusalOf(error));
    }
  }

  return {
    start,
    async end(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'end of tour requested');
      const run = await motion.endTour(requesterOf(request), idIn(request));
      return sendJson(reply, { run });
    },
    list: (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, {
        tours: Object.entries(site.tours).map(([name, { stations }]) => ({ name, stations })),
        ...motion.status(),
      }),
    current: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { run: motion.status().tour }),
  };
}

const driveBody = z.union([
  z.strictObject({ station: z.string().min(1).max(64) }),
  z.strictObject({ dock: z.literal(true) }),
]);

export function driveHandlers(parts: Parts) {
  const { motion, log } = parts;
  return {
    /** Answers as soon as the gate has accepted the order; GET reports its progress. */
    async start(request: FastifyRequest, reply: FastifyReply) {
      const body = driveBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      if (!isAllowed(parts, request)) return sendRefusal(request, reply, refuse('NOT_SIGNED_IN'));
      try {
        const run = await motion.startDrive(body.data);
        log.info({ audit: true, address: peerAddress(request), target: body.data }, 'drive started');
        return sendJson(reply.code(202), { run });
      } catch (error) {
        log.warn({ address: peerAddress(request), target: body.data, error }, 'drive not started');
        return sendRefusal(request, reply, refusalOf(error));
      }
    },
    async end(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'end of drive requested');
      const run = await motion.endDrive(requesterOf(request), idIn(request));
      return sendJson(reply, { run });
    },
    current: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { run: motion.status().drive }),
  };
}

/** Metres on the current map; the heading in degrees, counter-clockwise, 0 along +x. Motion checks the range. */
const poseBody = z.strictObject({ xM: z.number(), yM: z.number(), yawDeg: z.number() });

export function poseHandlers({ motion, log }: Parts) {
  return {
    /** Answers with the outcome: `succeeded` only when the chassis reports the pose that was set. */
    async set(request: FastifyRequest, reply: FastifyReply) {
      const body = poseBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      const who = `signed-in person, ${peerAddress(request)}`;
      try {
        const outcome = await motion.execute(chosenPose(body.data, who));
        log.warn({ audit: true, address: peerAddress(request), pose: body.data, state: outcome.state }, 'pose set');
        return sendJson(reply, { outcome });
      } catch (error) {
        log.warn({ address: peerAddress(request), pose: body.data, error }, 'pose not set');
        return sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}
