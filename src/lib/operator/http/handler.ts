import type { FastifyReply, FastifyRequest } from 'fastify';
import { inTurn } from '../connections/connection.ts';

/**
 * Answers a request. One that has to wait (for a disk, a peer, the robot) sends nothing itself: it returns what sends its
 * answer, which is then done in a turn of its own. The type refuses a handler that returns its reply after an `await`.
 */
export type Handler = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<LateAnswer>;

/** Sends the answer. Not called when the connection was lost meanwhile, so it must not hold what has to be closed. */
export type LateAnswer = () => FastifyReply;

/**
 * The handler as the framework calls it. A stop is answered as soon as it is carried out: its answer waits for no other
 * request, not even of its own peer.
 */
export function scheduled(handler: Handler, { isUrgent }: { readonly isUrgent?: true }) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | Promise<FastifyReply> => {
    const answer = handler(request, reply);
    if (!(answer instanceof Promise)) return answer;
    if (isUrgent === true) return answer.then((send) => send());
    return answer.then(
      (send) => inTurn(request.raw, send),
      (error: unknown) => {
        // Hundreds may have waited for what failed; a failure is counted and logged also where its reader is gone.
        const fail = () => reply.send(error);
        return inTurn(request.raw, fail, fail);
      },
    );
  };
}
