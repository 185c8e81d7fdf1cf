import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Delivery } from '../../delivery/index.ts';
import type { Answer } from '../answers/answers.ts';
import { orderedBy, peerAddress, requesterOf } from '../connections/address.ts';
import { isForm, malformed, sendJson, sendRefusal } from '../http/answer.ts';
import { refusalOf, refuse } from '../http/refusal.ts';
import { isAllowed, refuseOutdated, seen } from '../motion/motion-handlers.ts';
import type { Parts } from '../parts.ts';

const id = z.string().min(1).max(200);
/** A form sends an empty text for what is not there. */
const seenId = z
  .union([id, z.literal('').transform(() => null)])
  .nullable()
  .default(null);

export const proceedBody = z.strictObject({ arrival: seenId, next: seenId, seen });
export const enqueueBody = z.strictObject({ station: z.string().min(1).max(64), seen });
export const queuedBody = z.strictObject({ id });
export const countdownBody = z.looseObject({ id: z.string().max(200) });
export const shownBody = z.looseObject({ id: z.string().max(200), seen });
/** Days, or hours, before now; or a day or a moment, by the time zone of the gateway where it names none. */
export const daysQuery = z.object({
  seit: z
    .string()
    .regex(/^(?:\d{1,3}[dh]|\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?)?)$/)
    .optional()
    .describe('24h, 7d, 2026-11-30 or 2026-11-30T08:00; absent: a day.'),
});
const MAX_LISTED = 5_000;

export const releaseBody = z.strictObject({ seen });

/** Deliveries: what persons say, and what pages say of the countdown. The rules are those of the module `delivery`. */
export function deliveryHandlers(parts: Parts) {
  const { log } = parts;
  const delivery = (): Delivery | null => (parts.delivery?.view() == null ? null : parts.delivery);
  const notSetUp = (request: FastifyRequest, reply: FastifyReply) => () =>
    sendRefusal(request, reply, refuse('NOT_CONFIGURED', { message: '`delivery` is not set up in the site file.' }));

  /** An act that may lead to a drive: by a person who may start one, for the state that this person saw. */
  async function act<B extends z.ZodType<{ seen?: string | undefined }>>(
    request: FastifyRequest,
    reply: FastifyReply,
    body: B,
    work: (given: z.output<B>, delivery: Delivery) => Promise<() => FastifyReply>,
  ) {
    const given = body.safeParse(request.body ?? {});
    if (!given.success) return () => sendRefusal(request, reply, malformed(given.error));
    if (!isAllowed(parts, request)) return () => sendRefusal(request, reply, refuse('NOT_SIGNED_IN'));
    const outdated = refuseOutdated(parts, given.data.seen);
    if (outdated !== null) return () => sendRefusal(request, reply, outdated);
    const set = delivery();
    if (set === null) return notSetUp(request, reply);
    try {
      return await work(given.data, set);
    } catch (error) {
      log.warn({ address: peerAddress(request), error }, 'delivery: refused');
      return () => sendRefusal(request, reply, refusalOf(error));
    }
  }

  const answer = (request: FastifyRequest, reply: FastifyReply) => () =>
    isForm(request)
      ? reply.redirect('/', 303)
      : sendJson(reply, { delivery: parts.delivery?.view() ?? null } satisfies Answer<'delivery'>);
  const said = (request: FastifyRequest, about: object, what: string) =>
    log.info({ audit: true, address: peerAddress(request), ...about }, what);

  return {
    read: (_request: FastifyRequest, reply: FastifyReply) =>
      sendJson(reply, { delivery: parts.delivery?.view() ?? null } satisfies Answer<'delivery'>),

    proceed: (request: FastifyRequest, reply: FastifyReply) =>
      act(request, reply, proceedBody, async ({ arrival, next }, set) => {
        const run = await set.proceed({ arrival, next }, orderedBy(request));
        if (run === 'outdated') return () => sendRefusal(request, reply, refuse('STATE_OUTDATED'));
        said(request, { arrival, station: run?.station ?? null }, 'arrival over');
        return answer(request, reply);
      }),

    enqueue: (request: FastifyRequest, reply: FastifyReply) =>
      act(request, reply, enqueueBody, async ({ station }, set) => {
        said(request, set.enqueue(station), 'station queued');
        return answer(request, reply);
      }),

    release: (request: FastifyRequest, reply: FastifyReply) =>
      act(request, reply, releaseBody, async (_body, set) => {
        set.release();
        said(request, {}, 'drives may begin by themselves again');
        return answer(request, reply);
      }),

    async days(request: FastifyRequest, reply: FastifyReply) {
      const query = daysQuery.safeParse(request.query);
      const since = query.success ? sinceOf(query.data.seit ?? '1d', parts.clock.wall()) : null;
      if (!query.success) return () => sendRefusal(request, reply, malformed(query.error));
      if (since === null) return () => sendRefusal(request, reply, refuse('BAD_REQUEST', { message: 'No such day.' }));
      const { dayList } = parts;
      if (dayList === undefined) return () => sendRefusal(request, reply, refuse('NOT_FOUND'));
      try {
        const list = await dayList.list(since, MAX_LISTED);
        return () => sendJson(reply, list, true);
      } catch (error) {
        return () => sendRefusal(request, reply, refusalOf(error));
      }
    },

    async remove(request: FastifyRequest, reply: FastifyReply) {
      const body = queuedBody.safeParse(request.body);
      if (!body.success) return () => sendRefusal(request, reply, malformed(body.error));
      if (delivery()?.remove(body.data.id) !== true) {
        return () => sendRefusal(request, reply, refuse('NOT_FOUND', { message: 'It is not in the queue.' }));
      }
      said(request, { id: body.data.id }, 'station removed from the queue');
      return answer(request, reply);
    },

    shown(request: FastifyRequest, reply: FastifyReply) {
      const body = shownBody.safeParse(request.body);
      if (!body.success) return sendRefusal(request, reply, malformed(body.error));
      // One that waited on its way says what was shown then.
      const outdated = refuseOutdated(parts, body.data.seen);
      if (outdated !== null) return sendRefusal(request, reply, outdated);
      parts.delivery?.shown(body.data.id);
      return sendJson(reply, { shown: true } satisfies Answer<'shown'>);
    },

    /** Never refused: whatever it carries, nothing begins by itself from here on. */
    async endCountdown(request: FastifyRequest, reply: FastifyReply) {
      said(request, {}, 'end of the announced drive requested');
      const ended = await parts.delivery?.endCountdown(
        requesterOf(request),
        countdownBody.safeParse(request.body).data?.id,
      );
      return () =>
        isForm(request)
          ? reply.redirect('/', 303)
          : sendJson(reply, { ended: ended === true } satisfies Answer<'countdownEnded'>);
    },
  };
}

/** null: no such day. */
export function sinceOf(text: string, now: Date): Date | null {
  const span = /^(\d+)([dh])$/.exec(text);
  const at =
    span === null
      ? // A day without a time is one of the time zone of the gateway, as its nights are.
        new Date(text.length === 10 ? `${text}T00:00` : text)
      : new Date(now.getTime() - Number(span[1]) * (span[2] === 'd' ? 24 : 1) * 3_600_000);
  return Number.isNaN(at.getTime()) ? null : at;
}
