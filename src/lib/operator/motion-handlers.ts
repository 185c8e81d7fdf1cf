import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GwError } from '../error/index.ts';
import { chosenPose } from '../motion/index.ts';
import { peerAddress } from './address.ts';
import { isForm, malformed, sendJson, sendRefusal } from './answer.ts';
import { notConnected } from './chassis-reads.ts';
import type { Parts } from './parts.ts';
import { refusalOf } from './refusal.ts';

const stopBody = z.strictObject({ reason: z.string().min(1).max(200).optional() });

export function stopHandlers({ motion, log }: Parts) {
  return {
    read: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { stop: motion.status().stop }),
    async stop(request: FastifyRequest, reply: FastifyReply) {
      // Whatever else is in the request: a stop is never refused for its form.
      const body = stopBody.safeParse(request.body);
      const reason = (body.success && body.data.reason) || 'STOPP';
      log.warn({ audit: true, address: peerAddress(request), reason }, 'stop asked for');
      const stop = await motion.stopRobot(reason, `operator surface, ${peerAddress(request)}`);
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

export function tourHandlers({ site, link, motion, log }: Parts) {
  async function start(request: FastifyRequest, reply: FastifyReply) {
    const body = tourBody.safeParse(request.body);
    if (!body.success) return sendRefusal(request, reply, malformed(body.error));
    const { tour } = body.data;
    const obstacle = whyNot(tour);
    if (obstacle) return sendRefusal(request, reply, refusalOf(obstacle));
    try {
      const run = await motion.startTour(tour);
      log.info({ audit: true, address: peerAddress(request), tour }, 'tour started');
      return isForm(request) ? reply.redirect('/', 303) : sendJson(reply.code(202), { run });
    } catch (error) {
      log.warn({ address: peerAddress(request), tour, error }, 'tour not started');
      return sendRefusal(request, reply, refusalOf(error));
    }
  }

  /** The order of these decides which of several obstacles is named; the motion room checks all of them again. */
  function whyNot(tour: string): GwError | null {
    if (!Object.hasOwn(site.tours, tour)) return new GwError('TOUR_UNKNOWN', `No tour is named '${tour}'.`);
    const { stop, tour: run } = motion.status();
    if (stop.latched) return new GwError('MOTION_STOPPED', 'The robot is stopped, and the stop is latched.');
    const state = link.snapshot().link;
    if (state.kind !== 'connected') return notConnected(state);
    if (run?.state === 'running') return new GwError('TOUR_RUNNING', `The tour '${run.tour}' is under way.`);
    return null;
  }

  return {
    start,
    list: (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, {
        tours: Object.entries(site.tours).map(([name, { stations }]) => ({ name, stations })),
        ...motion.status(),
      }),
    current: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { run: motion.status().tour }),
  };
}

/** Metres on the current map; the heading in degrees, counter-clockwise, 0 along +x. The bounds are a project decision. */
const poseBody = z.strictObject({
  xM: z.number().min(-10_000).max(10_000),
  yM: z.number().min(-10_000).max(10_000),
  yawDeg: z.number().min(-360).max(360),
});

export function poseHandlers({ motion, log }: Parts) {
  return {
    /** Answers with how it ended: `succeeded` only when the chassis reports the pose that was set. */
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
