import { createHash } from 'node:crypto';
import { Duplex } from 'node:stream';
import type { Clock } from '../../src/lib/lifecycle/index.ts';

/** What a stranger's chassis serves: plain HTTP with JSON, and one WebSocket. Nothing of it is code of gw or of its simulator. */
export interface Served {
  /** Resolves with status and body; null: the connection is closed without an answer. */
  answer(request: { readonly method: string; readonly path: string; readonly body: string }): Promise<Answer | null>;
  /** A WebSocket was opened. */
  opened(stream: Stream): void;
}

export interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export interface Stream {
  send(text: string): void;
  onText: (text: string) => void;
  close(): void;
}

/** Bytes that were handed over since the process began: while they grow something is under way. */
export const traffic = { chunks: 0 };

/** The client reads nothing from this time of the clock on, for so long, then what was held back, so far apart. */
export interface Stall {
  readonly fromMs: number;
  readonly forMs: number;
  readonly apartMs: number;
}

interface Network {
  readonly clock: Clock;
  readonly stalls: readonly Stall[];
  /** How long what the robot sends now is under way. */
  readonly delayMs: () => number;
  /** Whether a ping is answered now. */
  readonly pongs: () => boolean;
}

/** A connection without sockets: the end of the client; what it sends arrives at the server at once. */
export function connect(served: Served, { clock, stalls, delayMs, pongs }: Network): Duplex {
  let arrivedMs = 0;
  /** When what is sent now is read: after what was sent before it. */
  function readMs(): number {
    const nowMs = clock.monotonicMs();
    const stall = stalls.find(({ fromMs, forMs }) => nowMs >= fromMs && nowMs < fromMs + forMs);
    const held = stall === undefined ? nowMs : stall.fromMs + stall.forMs;
    const apartMs = arrivedMs > nowMs ? ((stall ?? lastStall(nowMs))?.apartMs ?? 0) : 0;
    arrivedMs = Math.max(held + delayMs(), arrivedMs + apartMs);
    return arrivedMs;
  }
  const lastStall = (nowMs: number) => stalls.findLast(({ fromMs }) => fromMs <= nowMs);
  let receive: (chunk: Buffer) => void = () => {};
  const client = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      traffic.chunks += 1;
      receive(Buffer.from(chunk));
      done();
    },
    final(done) {
      client.push(null);
      done();
    },
  });
  // Clients of HTTP set these on a socket.
  Object.assign(client, {
    ...{ setNoDelay: () => client, setKeepAlive: () => client, setTimeout: () => client },
    ...{ ref: () => client, unref: () => client, remoteAddress: '127.0.0.1' },
  });
  const send = (bytes: Buffer | string) => {
    const inMs = readMs() - clock.monotonicMs();
    const hand = () => {
      traffic.chunks += 1;
      if (!client.destroyed && !client.readableEnded) client.push(bytes);
    };
    if (inMs > 0) clock.after(inMs, hand);
    else hand();
  };
  receive = serve(served, send, { cut: () => client.destroy(), pongs });
  return client;
}

/** Reads one request after the other; returns what takes the next bytes. */
function serve(
  served: Served,
  send: (bytes: Buffer | string) => void,
  { cut, pongs }: { readonly cut: () => void; readonly pongs: () => boolean },
): (chunk: Buffer) => void {
  let waiting = Buffer.alloc(0);
  let frames: ((chunk: Buffer) => void) | null = null;

  function take(): void {
    const end = waiting.indexOf('\r\n\r\n');
    if (end < 0) return;
    const [first = '', ...lines] = waiting.subarray(0, end).toString('latin1').split('\r\n');
    const head = new Map(
      lines.map((line) => [line.split(':')[0]?.toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const from = end + 4;
    const to = from + Number(head.get('content-length') ?? 0);
    if (waiting.length < to) return;
    const body = waiting.subarray(from, to).toString('utf8');
    waiting = waiting.subarray(to);
    const [method = '', path = ''] = first.split(' ');
    const key = head.get('sec-websocket-key');
    if (key !== undefined) {
      upgrade(key);
      return;
    }
    void served.answer({ method, path, body }).then((answer) => {
      if (answer === null) return cut();
      const text = Buffer.from(JSON.stringify(answer.json));
      send(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 ${answer.status} Said\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n`,
          ),
          text,
        ]),
      );
      take();
    });
  }

  function upgrade(key: string): void {
    // RFC 6455, 4.2.2.
    const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    send(
      `HTTP/1.1 101 Switching\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    const stream: Stream = {
      send: (text) => send(frame(1, Buffer.from(text))),
      onText: () => {},
      close: cut,
    };
    frames = readFrames((opcode, payload) => {
      if (opcode === 1) stream.onText(payload.toString('utf8'));
      else if (opcode === 9 && pongs()) send(frame(10, payload));
      else if (opcode === 8) cut();
    });
    served.opened(stream);
    frames(waiting);
    waiting = Buffer.alloc(0);
  }

  return (chunk) => {
    if (frames !== null) frames(chunk);
    else {
      waiting = Buffer.concat([waiting, chunk]);
      take();
    }
  };
}

/** RFC 6455, 5.2: whole frames of a server, unmasked. */
function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head =
    length < 126 ? Buffer.from([0x80 | opcode, length]) : Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff]);
  return Buffer.concat([head, payload]);
}

/** The same, masked, of a client; none of its messages here is long. */
function readFrames(onFrame: (opcode: number, payload: Buffer) => void): (chunk: Buffer) => void {
  let waiting = Buffer.alloc(0);
  return (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (;;) {
      const [first, second] = waiting;
      if (first === undefined || second === undefined) return;
      const isLong = (second & 0x7f) === 126;
      const at = isLong ? 4 : 2;
      if (waiting.length < at + 4) return;
      const length = isLong ? waiting.readUInt16BE(2) : second & 0x7f;
      const mask = waiting.subarray(at, at + 4);
      const end = at + 4 + length;
      if (waiting.length < end) return;
      const payload = Buffer.from(waiting.subarray(at + 4, end));
      for (let n = 0; n < length; n += 1) payload[n] = (payload[n] ?? 0) ^ (mask[n % 4] ?? 0);
      waiting = waiting.subarray(end);
      onFrame(first & 0x0f, payload);
    }
  };
}
