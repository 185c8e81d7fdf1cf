import { request } from 'node:http';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { type Sim, type SimOptions, startSim } from '../../src/lib/sim/index.ts';
import { until as untilSeen } from '../waiting.ts';
import { createDrivenClock } from './driven-clock.ts';

/** A separate test client for the simulator: it shares no code with the product's client. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; undefined when it is not JSON. */
  readonly json: unknown;
}

type Where = Pick<Sim, 'chassis'>;

/** One request; rejects when the connection closes without an answer. */
export function call(
  { chassis }: Where,
  method: string,
  path: string,
  body?: unknown,
  { raw = false } = {},
): Promise<RawReply> {
  const { promise, resolve, reject } = Promise.withResolvers<RawReply>();
  const text = body === undefined ? undefined : raw ? (body as string | Buffer) : JSON.stringify(body);
  const headers =
    text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  const sending = request({ host: chassis.host, port: chassis.port, method, path, agent: false, headers });
  sending.on('error', reject);
  sending.on('response', (response) => {
    const pieces: Buffer[] = [];
    response.on('data', (piece: Buffer) => pieces.push(piece));
    response.on('error', reject);
    response.on('end', () => {
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
type Fits = (message: Message) => boolean;

/** A topic connection that keeps its received messages. */
export interface Listener extends AsyncDisposable {
  readonly ws: WebSocket;
  readonly received: Message[];
  readonly texts: string[];
  /** Resolves when the connection has ended. */
  readonly closed: Promise<void>;
  enable(...topics: string[]): void;
  send(value: unknown): void;
  /** The first matching message, received earlier or later. */
  next(fits: Fits): Promise<Message>;
  /** Drops the received messages. */
  forget(): void;
  /** Resolves with what the answer to a ping contains. */
  pong(data?: string): Promise<string>;
}

export async function listen({ chassis }: Where, wait: (is: () => boolean) => Promise<unknown> = until) {
  const ws = new WebSocket(`ws://${chassis.host}:${chassis.port}/ws/v2/topics`, { maxPayload: 128 * 1024 * 1024 });
  const received: Message[] = [];
  const texts: string[] = [];
  ws.on('message', (data) => {
    const text = String(data);
    texts.push(text);
    const message = parse(text);
    if (message !== undefined && message !== null) received.push(message);
  });
  const closed = new Promise<void>((resolve) => ws.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    ws.once('open', resolve);
    ws.once('error', reject);
  });
  ws.on('error', () => {});
  const listener: Listener = {
    ws,
    received,
    texts,
    closed,
    enable: (...topics) => listener.send({ enable_topic: topics.length === 1 ? topics[0] : topics }),
    send: (value) => ws.send(JSON.stringify(value)),
    forget() {
      received.length = 0;
      texts.length = 0;
    },
    async next(fits) {
      await wait(() => received.some(fits));
      return received.find(fits);
    },
    pong(data = '') {
      const answer = new Promise<string>((resolve) => ws.once('pong', (bytes) => resolve(String(bytes))));
      ws.ping(data);
      return answer;
    },
    async [Symbol.asyncDispose]() {
      ws.terminate();
    },
  };
  return listener;
}

/** A simulator on a clock that the test advances, with one topic connection. */
export async function startWorld(options: SimOptions = {}) {
  await using undo = new AsyncDisposableStack();
  const clock = createDrivenClock();
  const { until, during, seconds } = clock;
  const sim = undo.use(await startSim({ ...options, clock }));
  const listener = undo.use(await listen(sim, until));
  const request = (method: string) => (path: string, body?: unknown) => call(sim, method, path, body);
  const running = undo.move();
  const world = {
    sim,
    clock,
    listener,
    until,
    listen: async () => running.use(await listen(sim, until)),
    seconds,
    during,
    get: request('GET'),
    post: request('POST'),
    patch: request('PATCH'),
    info: () => call(sim, 'GET', '/device/info'),
    json: async (path: string): Promise<Message> => (await call(sim, 'GET', path)).json,
    fetch: (path: string) => fetch(`http://127.0.0.1:${sim.chassis.port}${path}`),
    /** Orders a move; returns its id. */
    async order(order: object): Promise<number> {
      const { status, json } = await call(sim, 'POST', '/chassis/moves', { creator: 'test', ...order });
      if (status !== 201) throw new Error(`order refused: ${status}`);
      return (json as { id: number }).id;
    },
    move: (id: number): Promise<Message> => world.json(`/chassis/moves/${id}`),
    /** Orders a move and waits for its end. */
    async finish(order: object): Promise<Message> {
      const id = await world.order(order);
      await until(() => !sim.state().moving);
      return world.move(id);
    },
    cancel: () => call(sim, 'PATCH', '/chassis/moves/current', { state: 'cancelled' }),
    /** Distance of the true position. */
    awayM: (xM: number, yM: number) => Math.hypot(sim.state().xM - xM, sim.state().yM - yM),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
  return world;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Sends bytes on a new connection and ends it; returns everything received until the other side has ended too. */
export function exchange({ chassis }: Where, bytes: Buffer | string): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  const socket = connect(chassis.port, chassis.host, () => socket.end(bytes));
  socket.on('data', (piece) => pieces.push(piece));
  socket.on('error', () => {});
  socket.on('close', () => resolve(Buffer.concat(pieces)));
  return promise;
}

export async function until(fits: () => boolean | Promise<boolean>): Promise<void> {
  await untilSeen(fits, (is) => is);
}
