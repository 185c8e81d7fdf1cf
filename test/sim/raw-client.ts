import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import type { Sim } from '../../src/lib/sim/index.ts';

/** A separate test client for the simulator: it shares no code with the product's client. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
}

type Where = Pick<Sim, 'chassis'>;

/** One request; rejects when the connection closes or no answer arrives within `timeoutMs`. */
export function call(
  { chassis }: Where,
  method: string,
  path: string,
  body?: unknown,
  { timeoutMs = 5000, raw = false } = {},
): Promise<RawReply> {
  const { promise, resolve, reject } = Promise.withResolvers<RawReply>();
  const text = body === undefined ? undefined : raw ? (body as string | Buffer) : JSON.stringify(body);
  const sending = request({
    host: chassis.host,
    port: chassis.port,
    method,
    path,
    agent: false,
    headers:
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
  });
  const timer = setTimeout(() => sending.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  sending.on('error', (error) => {
    clearTimeout(timer);
    reject(error);
  });
  sending.on('response', (response) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => pieces.push(piece));
    response.on('error', reject);
    response.on('end', () => {
      clearTimeout(timer);
      const all = Buffer.concat(pieces).toString('utf8');
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: all, json: parse(all) });
    });
  });
  sending.end(text);
  return promise;
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the tests check arbitrary messages
export type Message = any;

/** A topic connection that keeps its received messages. */
export interface Listener extends AsyncDisposable {
  readonly ws: WebSocket;
  readonly received: Message[];
  readonly texts: string[];
  send(value: unknown): void;
  /** The first matching message, received earlier or later. */
  next(fits: (message: Message) => boolean, timeoutMs?: number): Promise<Message>;
  /** Drops the received messages. */
  forget(): void;
}

export async function listen({ chassis }: Where): Promise<Listener> {
  const ws = new WebSocket(`ws://${chassis.host}:${chassis.port}/ws/v2/topics`, { maxPayload: 128 * 1024 * 1024 });
  const received: Message[] = [];
  const texts: string[] = [];
  const waiting = new Set<(message: Message) => void>();
  ws.on('message', (data) => {
    const text = String(data);
    texts.push(text);
    const message = parse(text);
    if (message === undefined || message === null) return;
    received.push(message);
    for (const check of waiting) check(message);
  });
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve);
    ws.once('error', reject);
  });
  ws.on('error', () => {});
  return {
    ws,
    received,
    texts,
    send: (value) => ws.send(JSON.stringify(value)),
    forget() {
      received.length = 0;
      texts.length = 0;
    },
    next(fits, timeoutMs = 5000) {
      const found = received.find(fits);
      if (found !== undefined) return Promise.resolve(found);
      const { promise, resolve, reject } = Promise.withResolvers<Message>();
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(
          new Error(`no such message within ${timeoutMs} ms; received ${texts.slice(-5).join(' ').slice(0, 500)}`),
        );
      }, timeoutMs);
      const check = (message: Message) => {
        if (!fits(message)) return;
        clearTimeout(timer);
        waiting.delete(check);
        resolve(message);
      };
      waiting.add(check);
      return promise;
    },
    async [Symbol.asyncDispose]() {
      ws.terminate();
    },
  };
}

/**
 * Writes bytes to a new connection and returns everything received until it closes or is idle; the first answer may
 * take `firstMs`.
 */
export function exchange(
  { chassis }: Where,
  bytes: Buffer | string,
  quietMs: number,
  firstMs = quietMs,
): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  const socket: Socket = connect(chassis.port, chassis.host);
  const finish = () => {
    socket.destroy();
    resolve(Buffer.concat(pieces));
  };
  socket.setTimeout(firstMs, finish);
  socket.on('data', (piece) => {
    pieces.push(piece);
    socket.setTimeout(quietMs);
  });
  socket.on('error', () => {});
  socket.on('close', finish);
  socket.on('connect', () => socket.write(bytes));
  return promise;
}

export async function until(fits: () => boolean | Promise<boolean>, timeoutMs = 5000): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await fits())) {
    if (performance.now() > end) throw new Error('condition not met in time');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A clock that runs `factor` times as fast. */
export function fastClock(factor: number): Clock {
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() * factor,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    every: (ms, fn) => systemClock.every(ms / factor, fn),
    after: (ms, fn) => systemClock.after(ms / factor, fn),
  };
}

/** Whether a ping on this connection is answered. */
export function pongOf({ ws }: Listener, timeoutMs = 2000): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), timeoutMs);
    ws.once('pong', () => {
      clearTimeout(timer);
      resolve(true);
    });
    ws.ping();
  });
}
