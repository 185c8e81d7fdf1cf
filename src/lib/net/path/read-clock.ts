import { type ClockReading, formatEndpoint } from '../index.ts';
import { probeDate } from '../probe/index.ts';
import { nameOutcome, tcpOutcome } from './dial-outcome.ts';
import { type OpenTools, openPath, type PathPlan, STEP_MS } from './open-path.ts';
import { hostHeaderOf } from './probe-path.ts';
import { tlsOutcome } from './tls-outcome.ts';

/** The time of one endpoint, or why there is none. */
export type ClockAnswer =
  | { readonly kind: 'read'; readonly reading: ClockReading }
  /** `certificate-time`: its certificate has expired or is not yet valid by the clock of this machine, which may be the wrong one. */
  | { readonly kind: 'not-read'; readonly why: 'certificate-time' | 'other'; readonly detail: string };

/**
 * Reads the time of an HTTPS endpoint: the `Date` of its answer to one `HEAD /`. Over a connection that was not verified
 * nothing is sent, since whoever answers there could give any time. Throws only the reason of the signal.
 */
export async function readClock(plan: PathPlan, tools: OpenTools): Promise<ClockAnswer> {
  const { clock, signal } = tools;
  const place = formatEndpoint(plan);
  const notRead = (detail: string, why: 'certificate-time' | 'other' = 'other') =>
    ({ kind: 'not-read', why, detail: `${place}: ${detail}` }) as const;
  const { connection, ...start } = await openPath(plan, tools);
  const path = { plan, ...start, tookMs: 0 };
  if (connection === null) {
    const failed = [nameOutcome(path), tcpOutcome(path), tlsOutcome(path)].find(({ verdict }) => verdict !== 'ok');
    return notRead(failed?.detail ?? 'not reached');
  }
  const { tls } = connection;
  try {
    const { trust, socket } = tls;
    // Both the library's result and its classification must be positive.
    if (trust.kind !== 'trusted' || !socket.authorized) {
      const isTime = trust.kind === 'expired' || trust.kind === 'not-yet-valid';
      return isTime
        ? notRead(
            `${tlsOutcome(path).detail}; or the clock of this machine is wrong, now ${clock.wall().toISOString()}`,
            'certificate-time',
          )
        : notRead(`not verified: ${tlsOutcome(path).detail}`);
    }
    const answer = await probeDate(socket, {
      hostHeader: hostHeaderOf(plan),
      timeoutMs: STEP_MS.https,
      signal,
      clock,
    });
    if (answer.kind === 'not-http') return notRead('the answer is not HTTP');
    if (answer.kind !== 'answered') return notRead(answer.kind === 'closed' ? 'closed without an answer' : 'no answer');
    if (answer.clock === null) return notRead('no Date in the answer, or that of a cache');
    const { name } = start;
    const addresses = name.kind === 'literal' || name.kind === 'resolved' ? name.addresses : [];
    return { kind: 'read', reading: { host: plan.host, addresses, ...answer.clock } };
  } finally {
    connection.close();
  }
}
