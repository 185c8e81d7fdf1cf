interface ChannelOptions {
  /** Sends a payload to the peer. */
  readonly send: (payload: Buffer) => void;
  /** Acknowledges a payload to the peer. */
  readonly acknowledge: () => void;
  /** Maximum payload to the peer in bytes. */
  readonly maxPayload: number;
  /** Delays the acknowledgement of a payload, for the fault `tablet-slow`. */
  readonly brake: (bytes: number, signal: AbortSignal) => Promise<void>;
}

/** Unacknowledged payloads of the peer; one more than the protocol allows, for a race at the start. */
const MAX_QUEUED = 2;

/** One stream of a connection for a service: whole payloads in, bytes out, with flow control both ways. */
export function createChannel({ send, acknowledge, maxPayload, brake }: ChannelOptions) {
  const ending = new AbortController();
  const { signal } = ending;
  const waiting: Buffer[] = [];
  let wake = () => {};
  let resume = () => {};
  let turn: Promise<unknown> = Promise.resolve();
  let rest: Buffer = Buffer.alloc(0);

  async function sendAll(bytes: Buffer): Promise<boolean> {
    for (let at = 0; at < bytes.length && !signal.aborted; at += maxPayload) {
      const { promise, resolve } = Promise.withResolvers<void>();
      resume = resolve;
      send(bytes.subarray(at, at + maxPayload));
      await promise;
    }
    return !signal.aborted;
  }

  /** The next payload; undefined when the stream is closed. Reading acknowledges it. */
  async function next(): Promise<Buffer | undefined> {
    while (waiting.length === 0 && !signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      await promise;
    }
    const payload = waiting.shift();
    if (payload === undefined) return undefined;
    await brake(payload.length, signal);
    if (!signal.aborted) acknowledge();
    return payload;
  }

  return {
    /** The next bytes, one to `most`; undefined when the stream is closed. */
    async some(most = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
      if (rest.length === 0) rest = (await next()) ?? rest;
      const bytes = rest.subarray(0, most);
      rest = rest.subarray(bytes.length);
      return bytes.length === 0 ? undefined : bytes;
    },
    /** So many bytes; undefined when the stream is closed before. */
    async exactly(count: number): Promise<Buffer | undefined> {
      while (rest.length < count) {
        const more = await next();
        if (more === undefined) return undefined;
        rest = rest.length === 0 ? more : Buffer.concat([rest, more]);
      }
      const bytes = rest.subarray(0, count);
      rest = rest.subarray(count);
      return bytes;
    },
    /** Resolves when the peer has acknowledged them; false once the stream is closed. */
    write(bytes: string | Uint8Array): Promise<boolean> {
      const sent = turn.then(() => sendAll(Buffer.from(bytes)));
      turn = sent;
      return sent;
    },
    /** Called by the connection with a received payload. False when the peer sent it before an acknowledgement. */
    deliver(payload: Buffer): boolean {
      if (waiting.length >= MAX_QUEUED) return false;
      waiting.push(payload);
      wake();
      return true;
    },
    /** Called by the connection when the peer has acknowledged the last payload. */
    acknowledged: () => resume(),
    /** Called by the connection when the stream is closed. */
    close(): void {
      ending.abort();
      wake();
      resume();
    },
  };
}

export type Channel = ReturnType<typeof createChannel>;
