import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import WebSocket from 'ws';
import { GwError, type Tried } from '../../error/index.ts';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import {
  afterOverLink,
  DialError,
  type Dialer,
  dialFailureOf,
  type Endpoint,
  linkAllowanceMs,
  triedOver,
} from '../../net/index.ts';
import { interrupted } from '../failure.ts';
import type { ConnectionFailure } from '../model.ts';
import { paths, type TopicRequestWire } from '../wire.ts';
import { closeText, protocolErrorText } from './end-texts.ts';
import { createTopicFlood, LARGE_FRAME_BYTES, SAMPLE_MS } from './flood.ts';
import { handshakeFailure, refusal, upgradeProblem } from './handshake-failure.ts';
import { createTopicIntake, type Steps } from './intake.ts';
import { readTopicFrame, type TopicMessage, topicNames, unreadable } from './message.ts';

export interface TopicStreamOptions {
  readonly endpoint: Endpoint;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly topics: readonly string[];
  /** Whether the chassis announced `supportsEnableTopicList`; without it each topic is a message of its own. */
  readonly listForm: boolean;
  readonly secret?: string | undefined;
  /** Called before any message. */
  readonly onOpen?: () => void;
  /** Called for every message in order, also for complaints. Must not throw. */
  readonly onMessage: (message: TopicMessage) => void;
  readonly signal?: AbortSignal | undefined;
}

export interface StreamEnd {
  readonly failure: ConnectionFailure;
  /** One sentence for a person. */
  readonly detail: string;
  /** Set where the stream was ended because of a flood. */
  readonly isFlood?: true;
}

/** One connection to the topic stream. It does not reconnect: the caller opens the next one. */
export interface TopicStream extends Disposable {
  readonly tried: Tried;
  /** Resolves when the stream has ended, also by `close`. */
  readonly ended: Promise<StreamEnd>;
  /** Topics of the last acknowledgement; null before the first one. */
  readonly enabled: readonly string[] | null;
  /** Time from a ping to its pong, as read here; null unless it was measured within the last ten seconds. */
  roundTripMs(): number | null;
  /**
   * How long what arrives may be under way: the last round trip, since pongs wait behind messages. Before the first it is the
   * time for which that is awaited, and 0 where no ping is answered.
   */
  delayMs(): number;
  enable(topics: readonly string[]): void;
  disable(topics: readonly string[]): void;
  close(): void;
}

/** Project decision: a peer that has answered no ping for so long answers none. */
const NO_PONG_MS = 10_000;
/** Project decisions: a cut cable, a stopped chassis and a wrong address are detected within two seconds. */
const OPEN_MS = 1_600;
const DIAL_MS = 1_200;
const PING_MS = 400;
/** Project decision: an older round trip says nothing about now, and one that takes longer is none. */
const ROUND_TRIP_KEPT_MS = 10_000;
/** Pings whose time is kept. */
const MAX_UNANSWERED = 256;
const SILENT_MS = 1_400;
const PONG_MS = 50;
/** Without figures, so that repetitions are counted as one complaint. */
const FLOODED = 'topic stream flooded: the chassis sent more than gw can read';
const ACKNOWLEDGE_MS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Opens the topic stream and enables the topics. Rejects with CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
 * CHASSIS_BAD_ANSWER or INTERRUPTED. The heartbeat is the WebSocket's own ping, which every WebSocket server
 * answers (RFC 6455, 5.5.2); any other received data counts as well.
 * @source path: specification, 'Chassis interface'; messages: vendor description (HINWEIS)
 */
export async function openTopicStream(options: TopicStreamOptions): Promise<TopicStream> {
  const { endpoint, dialer, clock, signal } = options;
  const began = clock.monotonicMs();
  const tried = (): Tried => ({
    address: endpoint.host,
    port: endpoint.port,
    ...triedOver(dialer),
    action: `WebSocket ${paths.topics}`,
    forMs: Math.round(clock.monotonicMs() - began),
  });
  if (signal?.aborted) throw interrupted(signal.reason, tried());
  let socket: Duplex;
  try {
    socket = await dialer.dial(endpoint, { timeoutMs: DIAL_MS, ...(signal && { signal }) });
  } catch (error) {
    if (signal?.aborted) throw interrupted(signal.reason, tried());
    // The path to the chassis failed (for example SSH), not the chassis.
    if (error instanceof GwError && !(error instanceof DialError)) throw error;
    throw new DialError(error instanceof DialError ? error.failure : dialFailureOf(error), tried(), error);
  }
  return await handshake(options, socket, tried);
}

function handshake(options: TopicStreamOptions, socket: Duplex, tried: () => Tried): Promise<TopicStream> {
  const { endpoint, dialer, clock, secret, signal } = options;
  const host = endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host;
  const { promise, resolve, reject } = Promise.withResolvers<TopicStream>();
  const web = new WebSocket(`ws://${host}:${endpoint.port}${paths.topics}`, {
    createConnection: () => socket,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: MAX_BYTES,
    // Pongs are sent here: a peer that sends pings and does not read would fill the memory with pongs.
    autoPong: false,
    ...(secret !== undefined && { headers: { secret } }),
    finishRequest(request: ClientRequest) {
      // Before the library, which says of an unfit upgrade only that it is one.
      request.prependListener('upgrade', (response: IncomingMessage) => {
        const problem = upgradeProblem(response.headers, tried());
        if (problem !== null) fail(problem);
      });
      request.end();
    },
  });
  let aborting: Disposable | undefined;
  const fail = (error: unknown) => {
    cleanUp();
    // The library emits an error for a handshake that is aborted here.
    web.on('error', () => {});
    web.terminate();
    socket.destroy();
    reject(error);
  };
  const onError = (error: Error) => fail(handshakeFailure(error, tried()));
  const onResponse = (_request: unknown, response: IncomingMessage) => fail(refusal(response, tried()));
  const onOpen = () => {
    cleanUp();
    // Synchronously: the first frames may have arrived already, and may be malformed.
    resolve(attach(options, web, socket, tried()));
  };
  const left = Math.max(100, OPEN_MS - (tried().forMs ?? 0));
  const timer = afterOverLink(dialer, clock, left, () => fail(new DialError('no-answer', tried())));
  const cleanUp = () => {
    timer[Symbol.dispose]();
    aborting?.[Symbol.dispose]();
    web.off('error', onError);
    web.off('open', onOpen);
    web.off('unexpected-response', onResponse);
  };
  web.on('error', onError);
  web.on('open', onOpen);
  web.on('unexpected-response', onResponse);
  aborting = onAbort(signal, () => fail(interrupted(signal?.reason, tried())));
  return promise;
}

function attach(options: TopicStreamOptions, web: WebSocket, socket: Duplex, tried: Tried): TopicStream {
  const { dialer, clock, onMessage, signal } = options;
  const { promise: ended, resolve } = Promise.withResolvers<StreamEnd>();
  const wanted = new Set<string>();
  let enabled: readonly string[] | null = null;
  let over = false;
  let hasReceived = false;
  let silentMs = 0;
  let lastTick = clock.monotonicMs();
  let lastBytes = bytesOf(socket);
  let acknowledgement: Disposable | undefined;
  let aborting: Disposable | undefined;
  const flood = createTopicFlood();
  let frames = 0;
  let large = 0;
  const intake = createTopicIntake({ clock, hold: () => web.pause(), release: () => web.resume() });

  let pings = 0;
  /** Pings since the last one that was answered, oldest first. A peer may answer only the newest (RFC 6455, 5.5.3). */
  const unanswered: { readonly id: string; readonly atMs: number }[] = [];
  let roundTrip: { readonly ms: number; readonly atMs: number } | null = null;

  let pongAt = Number.NEGATIVE_INFINITY;
  let pendingPong: Buffer | null = null;

  const complain = (what: string) => onMessage({ kind: 'complaint', what });

  function pong(data: Buffer, now: number): void {
    pongAt = now;
    pendingPong = null;
    if (web.readyState === WebSocket.OPEN) web.pong(data);
  }

  function end(failure: ConnectionFailure, detail: string, isFlood = false): void {
    if (over) return;
    over = true;
    intake[Symbol.dispose]();
    ticking[Symbol.dispose]();
    pinging[Symbol.dispose]();
    acknowledgement?.[Symbol.dispose]();
    aborting?.[Symbol.dispose]();
    web.terminate();
    socket.destroy();
    resolve({ failure, detail, ...(isFlood && { isFlood }) });
  }

  /** Counted in ticks of bounded length, so that a pause of this process is not taken for silence of the chassis. */
  const ticking = clock.every(SAMPLE_MS, () => {
    // It has sent its close frame and leaves TCP open: the end is known, and silence would be reported instead.
    if (web.readyState === WebSocket.CLOSING) web.terminate();
    const now = clock.monotonicMs();
    const bytes = bytesOf(socket);
    // While messages are queued reading is paused, which is not silence of the chassis.
    const { waiting } = intake;
    const isAlive = hasReceived || bytes > lastBytes || waiting > 0;
    silentMs = isAlive ? 0 : silentMs + Math.min(now - lastTick, 2 * SAMPLE_MS);
    hasReceived = false;
    const flooded = flood({ ms: now - lastTick, heldMs: intake.takeHeldMs(), frames, large, bytes: bytes - lastBytes });
    frames = 0;
    large = 0;
    lastBytes = bytes;
    lastTick = now;
    if (pendingPong !== null && web.bufferedAmount === 0) pong(pendingPong, now);
    if (flooded !== null) {
      complain(FLOODED);
      end('bad-answer', flooded, true);
    }
    const limitMs = SILENT_MS + linkAllowanceMs(dialer);
    if (silentMs >= limitMs) end('silent', `connected, but no data received for ${(limitMs / 1_000).toFixed(1)} s`);
  });
  const pinging = clock.every(PING_MS, () => {
    if (web.readyState !== WebSocket.OPEN) return;
    pings += 1;
    const id = String(pings);
    if (unanswered.length >= MAX_UNANSWERED) unanswered.pop();
    unanswered.push({ id, atMs: clock.monotonicMs() });
    web.ping(id);
  });

  function request(message: TopicRequestWire): void {
    if (web.readyState === WebSocket.OPEN) web.send(JSON.stringify(message));
  }

  function change(verb: 'enable_topic' | 'disable_topic', topics: readonly string[]): void {
    const units: (string | string[])[] = options.listForm && topics.length > 1 ? [[...topics]] : [...topics];
    for (const unit of units) request(verb === 'enable_topic' ? { enable_topic: unit } : { disable_topic: unit });
  }

  function awaitAcknowledgement(): void {
    acknowledgement?.[Symbol.dispose]();
    acknowledgement = afterOverLink(dialer, clock, ACKNOWLEDGE_MS, () => {
      const missing = [...wanted].filter((topic) => enabled?.includes(topic) !== true);
      if (enabled === null && wanted.size > 0) {
        onMessage({ kind: 'complaint', what: 'the chassis acknowledged no topic', isLate: true });
      } else if (missing.length > 0) complain(`the chassis did not enable ${topicNames(missing)}`);
    });
  }

  function* process(frame: Buffer, isBinary: boolean): Steps {
    if (isBinary) {
      onMessage(unreadable('binary message on a text-only stream', frame));
      return;
    }
    const message = yield* readTopicFrame(frame);
    if (over) return;
    if (message.kind === 'enabled') enabled = message.topics;
    onMessage(message);
  }

  const onFrame = (bytes: number) => {
    hasReceived = true;
    frames += 1;
    if (bytes > LARGE_FRAME_BYTES) large += 1;
    intake.charge(bytes);
  };
  web.on('message', (data, isBinary) => {
    if (over) return;
    // With the library's default `binaryType` a message is one buffer.
    const frame = data as Buffer;
    intake.push(process(frame, isBinary));
    onFrame(frame.length);
  });
  web.on('pong', (data) => {
    onFrame(data.length);
    const answered = unanswered.findIndex(({ id }) => id === data.toString());
    const ping = unanswered[answered];
    if (ping === undefined) return;
    unanswered.splice(0, answered + 1);
    const atMs = clock.monotonicMs();
    roundTrip = { ms: Math.round((atMs - ping.atMs) * 10) / 10, atMs };
  });
  web.on('ping', (data) => {
    onFrame(data.length);
    // Only the newest ping needs a pong (RFC 6455, 5.5.3), and not before the previous pong was flushed.
    const now = clock.monotonicMs();
    if (now - pongAt < PONG_MS || web.bufferedAmount > 0) pendingPong = data;
    else pong(data, now);
  });
  web.on('error', (error) => {
    if (over) return;
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code.startsWith('WS_ERR_')) {
      const detail = `WebSocket protocol error (${protocolErrorText(code)})`;
      complain(detail);
      end('bad-answer', detail);
    } else {
      end('cut', 'connection closed unexpectedly');
    }
  });
  web.on('close', (code, reason) => {
    end('cut', closeText(code, reason));
  });
  const stream: TopicStream = {
    tried,
    ended,
    get enabled() {
      return enabled;
    },
    roundTripMs() {
      if (roundTrip === null || roundTrip.ms > ROUND_TRIP_KEPT_MS) return null;
      return clock.monotonicMs() - roundTrip.atMs > ROUND_TRIP_KEPT_MS ? null : roundTrip.ms;
    },
    delayMs() {
      const waitedMs = clock.monotonicMs() - (unanswered[0]?.atMs ?? Number.POSITIVE_INFINITY);
      return roundTrip?.ms ?? (waitedMs > 0 && waitedMs <= NO_PONG_MS ? waitedMs : 0);
    },
    enable(topics) {
      for (const topic of topics) wanted.add(topic);
      change('enable_topic', topics);
      awaitAcknowledgement();
    },
    disable(topics) {
      for (const topic of topics) wanted.delete(topic);
      change('disable_topic', topics);
    },
    close: () => end('other', 'ended by gw'),
    [Symbol.dispose]: () => end('other', 'ended by gw'),
  };
  aborting = onAbort(signal, () => end('other', 'ended by gw'));
  options.onOpen?.();
  if (signal?.aborted !== true) stream.enable(options.topics);
  return stream;
}

/** Bytes in the middle of a large message count as received data; only real sockets count them. */
function bytesOf(socket: Duplex): number {
  return (socket as { bytesRead?: number }).bytesRead ?? 0;
}
