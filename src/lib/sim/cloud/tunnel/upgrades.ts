import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../../lifecycle/index.ts';
import type { FaultName, Faults } from '../../faults.ts';
import { answerPlain, type ReadHandshake, readHandshake } from './handshake.ts';
import { createHandshakeRate } from './handshake-rate.ts';
import type { Handshake } from './model.ts';
import type { Registry, Tunnel } from './registry.ts';
import type { Relays } from './relays.ts';
import { MAX_MESSAGE_BYTES, type Side } from './rules.ts';

export interface UpgradesOptions {
  readonly registry: Pick<Registry, 'check'>;
  readonly relays: Pick<Relays, 'of'>;
  readonly faults: Pick<Faults, 'is'>;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after'>;
  /** Milliseconds since 1970 by the clock of the cloud. */
  readonly now: () => number;
}

interface Refusal {
  readonly status: number;
  readonly body: string;
  readonly tunnel?: Tunnel | null;
}

interface Accepted {
  readonly tunnel: Tunnel;
  readonly side: Side;
  readonly subprotocol: string;
  use(): void;
}

const MAX_KEPT = 1_000;
/** Of the fault `cloud-tunnel-drops`. */
const DROP_AFTER_MS = 2_000;

/** Answers of faults, the first one counts. */
const refusals = [
  ['cloud-tunnel-refused', 403, 'Forbidden'],
  ['cloud-tunnel-not-found', 404, 'Not found'],
  ['cloud-tunnel-rate-limited', 429, 'Too many requests'],
  ['cloud-tunnel-error', 503, 'Service unavailable'],
] as const satisfies readonly (readonly [FaultName, number, string])[];

/** Judges the handshakes of both sides, connects the accepted ones to the relays of their tunnels and keeps a list. */
export function createUpgrades({ registry, relays, faults, clock, now }: UpgradesOptions) {
  const log: Handshake[] = [];
  const isTooOften = createHandshakeRate(clock);
  const timers = new Set<Disposable>();

  function after(ms: number, fn: () => void): void {
    const timer = clock.after(ms, () => {
      timers.delete(timer);
      fn();
    });
    timers.add(timer);
  }

  /** The answer that refuses a handshake, or the tunnel that it may connect to. */
  function judge(read: ReadHandshake): Refusal | Accepted {
    const fault = refusals.find(([name]) => faults.is(name));
    if (fault !== undefined) return { status: fault[1], body: fault[2] };
    if (read.kind === 'invalid') return { status: 400, body: read.reason };
    if (isTooOften(read.accessToken)) return { status: 429, body: 'Too many requests' };
    const check = registry.check(read.accessToken, read.side, read.clientToken);
    if ('reason' in check) return { status: 400, body: check.reason, tunnel: check.tunnel };
    return { ...check, side: read.side, subprotocol: read.subprotocol };
  }

  function note(read: ReadHandshake, tunnel: Tunnel | null, status: number, reason: string): void {
    const hasClientToken = read.kind === 'valid' && read.clientToken !== null;
    const tunnelId = tunnel?.tunnelId ?? null;
    log.push({ at: new Date(now()).toISOString(), mode: read.side, tunnelId, status, reason, hasClientToken });
    if (log.length > MAX_KEPT) log.shift();
  }

  return {
    /** Answers a request to upgrade. */
    upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
      socket.on('error', () => {});
      if (faults.is('cloud-tunnel-silent')) return;
      const read = readHandshake(request);
      const judged = judge(read);
      if ('status' in judged) {
        note(read, judged.tunnel ?? null, judged.status, judged.body);
        answerPlain(socket, judged.status, judged.body);
        return;
      }
      const { tunnel, side, subprotocol, use } = judged;
      const channelId = randomUUID();
      // Was judged above; the library would refuse a list of names with duplicates.
      request.headers['sec-websocket-protocol'] = subprotocol;
      // One per handshake, for its own headers.
      const server = new WebSocketServer({
        noServer: true,
        clientTracking: false,
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE_BYTES,
      });
      server.on('headers', (lines) => void lines.push(`channel-id: ${channelId}`));
      server.handleUpgrade(request, socket, head, (ws) => {
        use();
        note(read, tunnel, 101, '');
        relays.of(tunnel).connect(side, ws, channelId);
        if (!faults.is('cloud-tunnel-drops')) return;
        after(DROP_AFTER_MS, () => {
          if (faults.is('cloud-tunnel-drops')) ws.terminate();
        });
      });
    },
    /** Oldest first, at most the last 1000. */
    handshakes: (): readonly Handshake[] => [...log],
    [Symbol.dispose](): void {
      for (const timer of timers) timer[Symbol.dispose]();
    },
  };
}
