import { GwError } from '../../error/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import type { PartialMessage } from '../wire/codec.ts';
import { createFrameReader } from '../wire/frames.ts';
import type { TunnelMessage } from '../wire.ts';
import { PIECE_OVERHEAD_BYTES, type ProxyLimits } from './limits.ts';
import { redacted } from './redaction.ts';
import { bytesOf, type TunnelSocket } from './socket.ts';

/** Interval of the pings. @source vendor (HINWEIS) */
const PING_MS = 20_000;
/** Project decision: three intervals, since the vendor calls a missing pong no error. */
const SILENT_MS = 3 * PING_MS;
/** Resolution of the silence. */
const CHECK_MS = 5_000;

interface KeepAliveOptions {
  readonly clock: Clock;
  /** All bytes received since the connection was opened. */
  readonly bytesRead: () => number;
  readonly ping: (payload: string) => void;
  /** Nothing was received for three intervals. Called at most once. */
  readonly onSilent: (silentMs: number) => void;
}

/** How long the service may take for SERVICE_IDS. Project decision. */
const SERVICE_IDS_MS = 20_000;
/** How long the service may take for its close frame, and local sockets to close. Project decision: the session has ended before. */
const CLOSE_MS = 500;
const MAX_REASON_CHARACTERS = 120;

/** Close codes of RFC 6455, 7.4.1. */
const closeCodes = { normal: 1000, protocolError: 1002, unsupportedData: 1003 } as const;
/**
 * Going away, restart, try again later: the service stops, not the tunnel. Every other close frame is the end of the tunnel;
 * a tunnel that was closed with one of these is found out at the next attempt, which is refused. Project decision.
 */
const SERVICE_STOPS: ReadonlySet<number> = new Set([1001, 1012, 1013]);
/** No close frame was received. */
const ABNORMAL_CLOSURE = 1006;

export interface ServeOptions {
  readonly createEngine: (wire: TunnelWire) => Engine;
  readonly limits: ProxyLimits;
  readonly clock: Clock;
  readonly secrets: readonly string[];
  /** Ends it in order. */
  readonly signal: AbortSignal;
  /** The engine has accepted the services. */
  readonly onServices: () => void;
}

/** How a WebSocket ended. `isReady`: after SERVICE_IDS. */
export interface SocketEnd {
  readonly kind:
    | 'closed'
    /** Without a close frame, because the service itself stops, or closed by us because of what it sent or did not send. */
    | 'lost'
    | 'configuration'
    /** By the signal. */
    | 'stopped';
  readonly isReady: boolean;
  readonly detail: string;
}

/** Serves one open WebSocket until its end. All local connections are given up then. Rejects on an internal error. */
export async function serveSocket(socket: TunnelSocket, options: ServeOptions): Promise<SocketEnd> {
  const { ws } = socket;
  const { clock, signal, limits } = options;
  const { promise, resolve, reject } = Promise.withResolvers<SocketEnd>();
  let unsentFrames = 0;
  const unsentBytes = () => ws.bufferedAmount + unsentFrames * PIECE_OVERHEAD_BYTES;
  const wire: TunnelWire = {
    unsentBytes,
    setHeld(isHeld) {
      if (isHeld) ws.pause();
      else ws.resume();
    },
    send(message: PartialMessage) {
      if (ws.readyState !== ws.OPEN) return;
      unsentFrames += 1;
      socket.send(message, () => {
        unsentFrames -= 1;
        engine.sent();
      });
      if (unsentBytes() > limits.unsentMaxBytes) end('lost', 'the service reads nothing');
    },
  };
  const engine = options.createEngine(wire);
  const end = (kind: SocketEnd['kind'], detail: string) => resolve({ kind, detail, isReady: engine.isReady() });
  const reader = createFrameReader((message) => {
    const wasReady = engine.isReady();
    const fault = engine.receive(message);
    if (!wasReady && engine.isReady()) options.onServices();
    if (fault !== null) throw new Refused(fault.kind, fault.detail);
  });

  let isOver = false;
  let closeCode: number = closeCodes.normal;
  ws.on('message', (data, isBinary) => {
    if (isOver) return;
    try {
      if (!isBinary) throw new Refused('text', 'the service sent a text frame');
      reader.push(bytesOf(data));
    } catch (error) {
      isOver = true;
      if (error instanceof Refused) {
        closeCode = error.kind === 'text' ? closeCodes.unsupportedData : closeCodes.protocolError;
        end(error.kind === 'configuration' ? 'configuration' : 'lost', error.message);
      } else if (error instanceof GwError && error.code === 'TUNNEL_PROTOCOL') {
        closeCode = closeCodes.protocolError;
        end('lost', error.message);
      } else {
        reject(error);
      }
    }
  });
  let failure: string | null = null;
  ws.on('error', (error: Error & { readonly code?: unknown }) => {
    failure = typeof error.code === 'string' ? error.code : 'unknown error';
  });
  const onClose = (code: number, reason: Buffer) => {
    if (failure !== null) end('lost', `connection lost (${redacted(failure, options.secrets, 60)})`);
    else if (code === ABNORMAL_CLOSURE) end('lost', 'connection lost without a close frame');
    else {
      const text = redacted(reason.toString(), options.secrets, MAX_REASON_CHARACTERS);
      end(
        SERVICE_STOPS.has(code) ? 'lost' : 'closed',
        `the service closed the tunnel (code ${code}${text === '' ? '' : `, '${text}'`})`,
      );
    }
  };
  ws.on('close', onClose);
  using _aborted = onAbort(signal, () => end('stopped', ''));
  using _late = clock.after(SERVICE_IDS_MS, () => {
    if (!engine.isReady()) end('lost', `no SERVICE_IDS received within ${SERVICE_IDS_MS / 1_000} s`);
  });
  using _keepAlive = startKeepAlive({
    clock,
    bytesRead: socket.bytesRead,
    ping: (payload) => {
      if (ws.readyState === ws.OPEN) ws.ping(payload);
    },
    onSilent: (silentMs) => end('lost', `nothing received for ${Math.round(silentMs / 1_000)} s`),
  });
  if (ws.readyState === ws.OPEN) ws.resume();
  else onClose(ABNORMAL_CLOSURE, Buffer.alloc(0));

  try {
    return await promise;
  } finally {
    isOver = true;
    const local = ws.readyState === ws.OPEN ? engine.shutDown() : engine.destroy();
    const { promise: late, resolve: onLate } = Promise.withResolvers<void>();
    using _late = clock.after(CLOSE_MS, () => onLate());
    await Promise.all([Promise.race([local, late]), closed(socket, closeCode, clock)]);
  }
}

/** Pings at once and then every 20 s, with the time in milliseconds as text, and watches whether anything arrives. */
function startKeepAlive({ clock, bytesRead, ping, onSilent }: KeepAliveOptions): Disposable {
  let [lastBytes, lastReceivedMs, lastPingMs] = [bytesRead(), clock.monotonicMs(), clock.monotonicMs()];
  // For the service's log only: no decision uses it.
  const sendPing = () => ping(String(clock.wall().getTime()));
  sendPing();
  const timer = clock.every(CHECK_MS, () => {
    const [bytes, nowMs] = [bytesRead(), clock.monotonicMs()];
    if (bytes !== lastBytes) [lastBytes, lastReceivedMs] = [bytes, nowMs];
    const silentMs = nowMs - lastReceivedMs;
    if (silentMs >= SILENT_MS) {
      timer[Symbol.dispose]();
      onSilent(silentMs);
      return;
    }
    if (nowMs - lastPingMs < PING_MS) return;
    lastPingMs = nowMs;
    sendPing();
  });
  return timer;
}

/** What the service sent and this side does not accept. */
class Refused extends Error {
  readonly kind: 'configuration' | 'protocol' | 'text';
  constructor(kind: Refused['kind'], detail: string) {
    super(detail);
    this.kind = kind;
  }
}

/** Sends the close frame, and waits for that of the service as long as it may take. */
async function closed({ ws }: TunnelSocket, code: number, clock: Clock): Promise<void> {
  if (ws.readyState === ws.CLOSED) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  ws.once('close', () => resolve());
  ws.close(code);
  using _late = clock.after(CLOSE_MS, () => resolve());
  await promise;
  ws.terminate();
}

/** The WebSocket, as an engine sees it. */
export interface TunnelWire {
  /** One message, in a WebSocket message of its own. */
  send(message: PartialMessage): void;
  /** Bytes that are not sent yet, with their overhead. */
  unsentBytes(): number;
  /** Stops and continues reading. */
  setHeld(isHeld: boolean): void;
}

/** What the WebSocket must be closed for. */
export type EngineEnd = { readonly kind: 'configuration' | 'protocol'; readonly detail: string };

/** One side of the tunnel on one WebSocket. */
export interface Engine {
  /** Handles one message. Not null: the WebSocket must be closed. */
  receive(message: TunnelMessage): EngineEnd | null;
  /** Whether SERVICE_IDS was received. */
  isReady(): boolean;
  /** Something was sent: connections may go on. */
  sent(): void;
  /** Resets every open stream, and closes all local connections at once; resolves when they are closed. */
  shutDown(): Promise<void>;
  /** The WebSocket is lost: ends all local connections; resolves when the next WebSocket may begin. */
  destroy(): Promise<void>;
}
