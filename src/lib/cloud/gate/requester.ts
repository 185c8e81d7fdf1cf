import { GwError } from '../../error/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import type { Connection } from '../link/model.ts';
import type { Answer, OwnRequest, Requester } from './model.ts';

/** The vendor's own device client waits as long (HINWEIS). */
const DEFAULT_TIMEOUT_MS = 10_000;
/** Requests under way at a time. The release agent and the uploads have one each; the rest is a margin. */
const MAX_PENDING = 16;
/** Ended requests whose client tokens are remembered, so that a late answer is recognised as one. */
const MAX_ENDED = 256;

export interface AnsweredRequester extends Requester {
  /** The request with this client token, for the gate. */
  requestOf(clientToken: string): OwnRequest | null;
  /** Hands over an answer that the gate matched. False: no request waits for it any more. */
  resolve(clientToken: string, answer: Answer): boolean;
}

interface Row {
  request: OwnRequest;
  /** Null when ended: an answer may be large, and holds addresses with signatures. */
  answer: ((answer: Answer) => void) | null;
}

/** Requests to the services of the cloud. A request belongs to the connection on which it was sent. */
export function createRequester(options: {
  readonly clock: Pick<Clock, 'after' | 'monotonicMs'>;
  readonly connection: () => Pick<Connection, 'publish' | 'ended'> | null;
  /** Unguessable and unique. */
  readonly newToken?: () => string;
}): AnsweredRequester {
  const { clock, connection, newToken = () => crypto.randomUUID() } = options;
  /** In the order of their start. */
  const rows = new Map<string, Row>();
  let pending = 0;

  function end(row: Row, state: 'answered' | 'ended'): void {
    row.request = { ...row.request, state };
    row.answer = null;
  }

  function forget(): void {
    let ended = rows.size - pending;
    for (const [token, { request }] of rows) {
      if (ended <= MAX_ENDED) return;
      if (request.state === 'pending') continue;
      rows.delete(token);
      ended -= 1;
    }
  }

  return {
    async ask(request, { timeoutMs = DEFAULT_TIMEOUT_MS, signal }) {
      signal.throwIfAborted();
      const { kind, topic, body } = request;
      const on = connection();
      if (on === null || on.ended.aborted) throw notConnected(topic, null);
      if (pending >= MAX_PENDING) {
        throw new GwError(
          'CLOUD_NO_ANSWER',
          `${MAX_PENDING} requests wait for an answer already; ${kind} was not sent.`,
        );
      }
      const beganMs = clock.monotonicMs();
      const forMs = () => Math.round(clock.monotonicMs() - beganMs);
      const clientToken = newToken();
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      const row: Row = { request: { kind, topic, state: 'pending' }, answer: resolve };
      rows.set(clientToken, row);
      pending += 1;
      try {
        using _timeout = clock.after(timeoutMs, () =>
          reject(
            new GwError('CLOUD_NO_ANSWER', `No answer on ${topic} within ${timeoutMs} ms.`, {
              tried: { address: topic, action: kind, forMs: forMs() },
            }),
          ),
        );
        using _ended = onAbort(on.ended, () => reject(notConnected(topic, forMs())));
        using _aborted = onAbort(signal, () => reject(signal.reason));
        const payload = new TextEncoder().encode(JSON.stringify({ ...body, clientToken }));
        // An answer can come before the acknowledgement of the request.
        on.publish(topic, payload).catch((cause: unknown) => reject(notConnected(topic, forMs(), cause)));
        return await promise;
      } finally {
        if (row.answer !== null) end(row, 'ended');
        pending -= 1;
        forget();
      }
    },

    requestOf: (clientToken) => rows.get(clientToken)?.request ?? null,

    resolve(clientToken, answer) {
      const row = rows.get(clientToken);
      const hand = row?.answer;
      if (row === undefined || hand == null) return false;
      end(row, 'answered');
      hand(answer);
      return true;
    },
  };
}

function notConnected(topic: string, forMs: number | null, cause?: unknown): GwError {
  const text =
    forMs === null ? 'not sent, since there is no link to the cloud' : 'the link ended before the answer came';
  return new GwError('CLOUD_NOT_CONNECTED', `Request on ${topic}: ${text}.`, {
    tried: { address: topic, ...(forMs !== null && { forMs }) },
    cause,
  });
}
