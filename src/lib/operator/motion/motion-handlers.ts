import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { chosenPose, frameNow } from '../../motion/index.ts';
import { orderEnd, setPosePage } from '../../pages/index.ts';
import { titleOf } from '../../site/index.ts';
import type { Answer } from '../answers/answers.ts';
import { orderedBy, peerAddress, requesterOf } from '../connections/address.ts';
import { isForm, malformed, sendJson, sendPage, sendRefusal } from '../http/answer.ts';
import { type Refusal, refusalOf, refuse } from '../http/refusal.ts';
import type { Parts } from '../parts.ts';

export const stopBody = z.strictObject({ reason: z.string().min(1).max(200).optional() });

export function stopHandlers({ motion, log, site }: Parts) {
  /** Also the robot: a stop is never refused for the robot that its client means, so the client must learn which it was. */
  const robot = site.chassis.serial;
  return {
    read(_request: FastifyRequest, reply: FastifyReply) {
      const { stop, standstill } = motion.status();
      return sendJson(reply, { stop, standstill, robot } satisfies Answer<'stopState'>);
    },
    async stop(request: FastifyRequest, reply: FastifyReply) {
      // A stop is never refused for a malformed body.
      const body = stopBody.safeParse(request.body);
      const reason = (body.success && body.data.reason) || 'STOPP';
      log.warn({ audit: true, address: peerAddress(request), reason }, 'stop requested');
      const stop = await motion.stopRobot(reason, requesterOf(request));
      return () =>
        isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { stop, robot } satisfies Answer<'stopped'>);
    },
    async clear(request: FastifyRequest, reply: FastifyReply) {
      const stop = await motion.clearStop(`signed-in person, ${peerAddress(request)}`);
      log.warn({ audit: true, address: peerAddress(request) }, 'stop cleared');
      return () => (isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { stop } satisfies Answer<'cleared'>));
    },
  };
}

/** Alerts that one order may pass. */
const MAX_PASSED = 16;
/** See `RunOptions` of motion. */
const keepAlive = z.boolean().optional();
/** Alerts that the person passes, by their numbers; a form sends them as one text. */
const although = z
  .union([
    z.array(z.int()).max(MAX_PASSED),
    z
      .string()
      .max(200)
      .regex(/^\s*\d{1,9}(?:[\s,;]+\d{1,9}){0,15}\s*$/, 'expected numbers of alerts')
      .transform((text) => (text.match(/\d+/g) ?? []).map(Number)),
  ])
  .optional();
/** The state that the person saw, by its id; absent from commands, and from a page without script. */
export const seen = z.string().max(64).optional();
export const tourBody = z.strictObject({ tour: z.string().min(1).max(64), keepAlive, although, seen });

/** The order names its tour, so that no other one is continued by it. */
export const resumeBody = z.strictObject({ tour: z.string().min(1).max(64), although, seen });

/** Longer than a page may lag behind; a page that follows is at most a second old. Project decision. */
const MAX_SEEN_AGE_MS = 2_000;

/** The refusal of an order by a state that no longer holds; null where it was current, or where the client names none. */
export function refuseOutdated({ stateAgeMs }: Parts, id: string | undefined): Refusal | null {
  if (id === undefined) return null;
  const ageMs = stateAgeMs(id);
  return ageMs !== null && ageMs <= MAX_SEEN_AGE_MS ? null : refuse('STATE_OUTDATED');
}

export const endBody = z.looseObject({ id: z.string().max(200) });

/** The id of the run to end, if one is given; an end is never refused for a malformed body. */
function idIn(request: FastifyRequest): string | undefined {
  return endBody.safeParse(request.body).data?.id;
}

/**
 * Whether this client may start tours and drives; `operator.tourNeedsSignIn` requires a session, and so does passing an
 * alert.
 */
export function isAllowed({ site, sessions }: Parts, request: FastifyRequest, passed: readonly number[] = []): boolean {
  return (!site.operator.tourNeedsSignIn && passed.length === 0) || sessions.has(request.raw);
}

export function tourHandlers(parts: Parts) {
  const { site, motion, log } = parts;

  async function start(request: FastifyRequest, reply: FastifyReply) {
    const body = tourBody.safeParse(request.body);
    if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
    if (!isAllowed(parts, request, body.data.although))
      return () => sendRefusal(request, reply, refuse('NOT_SIGNED_IN'));
    const { tour, seen, ...options } = body.data;
    const outdated = refuseOutdated(parts, seen);
    if (outdated !== null) return () => sendRefusal(request, reply, outdated);
    try {
      const run = await motion.startTour(tour, { ...options, by: orderedBy(request) });
      log.info({ audit: true, address: peerAddress(request), tour, although: options.although }, 'tour started');
      return () => (isForm(request) ? reply.redirect('/', 303) : sendJson(reply.code(202), { run }));
    } catch (error) {
      log.warn({ address: peerAddress(request), tour, error }, 'tour not started');
      return () => sendRefusal(request, reply, refusalOf(error));
    }
  }

  /** Like an end it makes the robot halt, so it needs no sign-in. */
  async function pause(request: FastifyRequest, reply: FastifyReply) {
    try {
      const run = await motion.pauseTour(requesterOf(request), idIn(request));
      log.warn({ audit: true, address: peerAddress(request), tour: run.tour }, 'tour paused');
      return () => (isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { run } satisfies Answer<'tour'>));
    } catch (error) {
      return () => sendRefusal(request, reply, refusalOf(error));
    }
  }

  async function resume(request: FastifyRequest, reply: FastifyReply) {
    const body = resumeBody.safeParse(request.body);
    if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
    const { tour, although: passed, seen } = body.data;
    if (!isAllowed(parts, request, passed)) return () => sendRefusal(request, reply, refuse('NOT_SIGNED_IN'));
    const outdated = refuseOutdated(parts, seen);
    if (outdated !== null) return () => sendRefusal(request, reply, outdated);
    try {
      const run = await motion.resumeTour(tour, { although: passed });
      log.info({ audit: true, address: peerAddress(request), tour, although: passed }, 'tour continued');
      return () =>
        isForm(request) ? reply.redirect('/', 303) : sendJson(reply.code(202), { run } satisfies Answer<'tour'>);
    } catch (error) {
      log.warn({ address: peerAddress(request), tour, error }, 'tour not continued');
      return () => sendRefusal(request, reply, refusalOf(error));
    }
  }

  return {
    start,
    pause,
    resume,
    async end(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'end of tour requested');
      parts.endAsked(idIn(request));
      const run = await motion.endTour(requesterOf(request), idIn(request));
      return () => sendJson(reply, { run } satisfies Answer<'tour'>);
    },
    list: (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, {
        tours: Object.entries(site.tours).map(([name, tour]) => ({ name, ...titleOf(tour), stations: tour.stations })),
        ...motion.status(),
      }),
    current: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { run: motion.status().tour }),
    keepAlive: (request: FastifyRequest, reply: FastifyReply) => keepRun(parts, request, reply),
  };
}

export const keepAliveBody = z.strictObject({ id: z.string().min(1).max(200) });

/** The client that supervises a run is there. Changes nothing else, so it needs no sign-in. */
function keepRun({ motion }: Parts, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const body = keepAliveBody.safeParse(request.body);
  if (!body.success) return sendRefusal(request, reply, malformed(body.error));
  if (motion.keepAlive(body.data.id)) return sendJson(reply, { kept: true } satisfies Answer<'kept'>);
  return sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'No supervised run of this id.' }));
}

export const seenBody = z.strictObject({ id: z.string().min(1).max(200) });

export const driveBody = z.union([
  z.strictObject({ station: z.string().min(1).max(64), keepAlive, although, seen }),
  // A form sends text.
  z.strictObject({
    dock: z.union([z.literal(true), z.literal('true').transform(() => true as const)]),
    keepAlive,
    although,
    seen,
  }),
]);

export function driveHandlers(parts: Parts) {
  const { motion, log } = parts;
  return {
    /** Answers as soon as the gate has accepted the order; GET reports its progress. */
    async start(request: FastifyRequest, reply: FastifyReply) {
      const body = driveBody.safeParse(request.body);
      if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
      if (!isAllowed(parts, request, body.data.although))
        return () => sendRefusal(request, reply, refuse('NOT_SIGNED_IN'));
      const { keepAlive, although, seen, ...target } = body.data;
      const outdated = refuseOutdated(parts, seen);
      if (outdated !== null) return () => sendRefusal(request, reply, outdated);
      try {
        const run = await motion.startDrive(target, { keepAlive, although, by: orderedBy(request) });
        log.info({ audit: true, address: peerAddress(request), target, although }, 'drive started');
        return () => (isForm(request) ? reply.redirect('/', 303) : sendJson(reply.code(202), { run }));
      } catch (error) {
        log.warn({ address: peerAddress(request), target, error }, 'drive not started');
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },
    async end(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'end of drive requested');
      parts.endAsked(idIn(request));
      const run = await motion.endDrive(requesterOf(request), idIn(request));
      return () => sendJson(reply, { run } satisfies Answer<'drive'>);
    },
    /** Ends whatever gw drives, without a latched stop: the order of a person who does not know which kind it is. */
    async endAny(request: FastifyRequest, reply: FastifyReply) {
      log.warn({ audit: true, address: peerAddress(request) }, 'end of the run requested');
      const by = requesterOf(request);
      parts.endAsked(undefined);
      const [tour, drive] = await Promise.all([motion.endTour(by), motion.endDrive(by)]);
      return () =>
        isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { tour, drive } satisfies Answer<'endedAny'>);
    },
    /**
     * A failed run is the headline of all pages until a person on site has seen it. No order counts as that: all pages, and
     * all clients of the events, name the same states, so who was shown one is not known.
     */
    async seen(request: FastifyRequest, reply: FastifyReply) {
      const body = seenBody.safeParse(request.body);
      if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
      const { id } = body.data;
      const seen = await parts.failedSeen(id);
      if (seen === null) {
        const message = 'It is not the last failed run that no person has seen.';
        return () => sendRefusal(request, reply, refuse('NOT_FOUND', { message }));
      }
      log.info({ audit: true, address: peerAddress(request), id, ...seen }, 'end of the run seen');
      return () =>
        isForm(request) ? reply.redirect('/', 303) : sendJson(reply, { seen: true, ...seen } satisfies Answer<'seen'>);
    },
    current: (_request: FastifyRequest, reply: FastifyReply) => sendJson(reply, { run: motion.status().drive }),
    keepAlive: (request: FastifyRequest, reply: FastifyReply) => keepRun(parts, request, reply),
  };
}

/** Metres on the map; the heading in degrees, counter-clockwise, 0 along +x. */
export const poseBody = z.strictObject({
  xM: z.number(),
  yM: z.number(),
  yawDeg: z.number().min(-360).max(360),
  map: z
    .strictObject({ uid: z.string().min(1).max(200), version: z.int().nullable(), title: z.string().max(200) })
    .optional()
    .describe('The map in which a place of the site file was measured; absent: the current one is meant.'),
  seen,
});

/** A number as a person writes it into a form, also with the comma of a German one. */
const written = z
  .string()
  .max(40)
  .regex(/^\s*[+-]?\d{1,9}([.,]\d{0,20})?\s*$/)
  .transform((text) => Number(text.replace(',', '.')));
const poseForm = z.strictObject({ xM: written, yM: written, yawDeg: written.pipe(poseBody.shape.yawDeg), seen });

export function poseHandlers(parts: Parts) {
  const { motion, log, site, link } = parts;
  return {
    /** Answers with the outcome: `succeeded` only when the chassis reports the pose that was set. */
    async set(request: FastifyRequest, reply: FastifyReply) {
      const body = (isForm(request) ? poseForm : poseBody).safeParse(request.body);
      if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
      const { seen, map = frameNow(link.snapshot().values), ...at } = { map: undefined, ...body.data };
      const pose = { ...at, map };
      const outdated = refuseOutdated(parts, seen);
      if (outdated !== null) return () => sendRefusal(request, reply, outdated);
      const who = `signed-in person, ${peerAddress(request)}`;
      try {
        const outcome = await motion.execute(chosenPose(pose, who));
        log.warn({ audit: true, address: peerAddress(request), pose, state: outcome.state }, 'pose set');
        if (!isForm(request)) return () => sendJson(reply, { outcome } satisfies Answer<'pose'>);
        const [viewer, order] = [request.server.viewerOf(request), orderEnd({ ok: true, body: { outcome } })];
        return () => sendPage(reply, setPosePage({ site: site.title ?? site.name, viewer, order }));
      } catch (error) {
        log.warn({ address: peerAddress(request), pose, error }, 'pose not set');
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },
  };
}
