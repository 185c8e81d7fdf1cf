/** One stream of a connection for a service: whole payloads in, bytes out, with flow control both ways. */
export interface Channel {
  /** The next bytes; undefined when the peer has closed the stream. Reading acknowledges them. */
  read(): Promise<Buffer | undefined>;
  /** Resolves when the peer has acknowledged them; false once the stream is closed. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Aborted when either side closes the stream. */
  readonly closed: AbortSignal;
}

export interface ChannelPort extends Channel {
  /** Called by the connection with a received payload. False when the peer sent it before an acknowledgement. */
  deliver(payload: Buffer): boolean;
  /** Called by the connection when the peer has acknowledged the last payload. */
  acknowledged(): void;
  /** Called by the connection when the stream is closed. */
  close(): void;
}

export interface ChannelOptions {
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

export function createChannel({ send, acknowledge, maxPayload, brake }: ChannelOptions): ChannelPort {
  const ending = new AbortController();
  const waiting: Buffer[] = [];
  let wake: (() => void) | undefined;
  let resume: (() => void) | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  async function sendOne(piece: Buffer): Promise<boolean> {
    if (ending.signal.aborted) return false;
    const { promise, resolve } = Promise.withResolvers<void>();
    resume = resolve;
    send(piece);
    await promise;
    return !ending.signal.aborted;
  }

  async function sendAll(bytes: Uint8Array): Promise<boolean> {
    const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < whole.length; at += maxPayload) {
      if (!(await sendOne(whole.subarray(at, at + maxPayload)))) return false;
    }
    return !ending.signal.aborted;
  }

  return {
    closed: ending.signal,
    async read() {
      while (waiting.length === 0) {
        if (ending.signal.aborted) return undefined;
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await promise;
      }
      const payload = waiting.shift();
      if (payload === undefined) return undefined;
      await brake(payload.length, ending.signal);
      if (!ending.signal.aborted) acknowledge();
      return payload;
    },
    write(bytes) {
      const sent = turn.then(() => sendAll(bytes));
      turn = sent;
      return sent;
    },
    deliver(payload) {
      if (waiting.length >= MAX_QUEUED) return false;
      waiting.push(payload);
      wake?.();
      return true;
    },
    acknowledged() {
      resume?.();
      resume = undefined;
    },
    close() {
      if (ending.signal.aborted) return;
      ending.abort();
      wake?.();
      resume?.();
    },
  };
}
