/** One stream inside a connection, as a service sees it: whole payloads in, bytes out, each way at the peer's pace. */
export interface Channel {
  /** The next bytes; undefined when the peer has closed it. Taking them lets the peer send on. */
  read(): Promise<Buffer | undefined>;
  /** Resolves when the peer has taken them; false once it is closed. */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Aborted when it is closed, by whom ever. */
  readonly closed: AbortSignal;
}

export interface ChannelPort extends Channel {
  /** What the connection calls: a payload came. False when the peer did not wait for its turn. */
  deliver(payload: Buffer): boolean;
  /** What the connection calls: the peer has taken the last payload. */
  taken(): void;
  /** What the connection calls: nothing comes or goes any more. */
  shut(): void;
}

export interface ChannelOptions {
  /** Sends a payload to the peer. */
  readonly send: (payload: Buffer) => void;
  /** Tells the peer that its payload was taken. */
  readonly acknowledge: () => void;
  /** Longest payload to the peer. */
  readonly mostPayload: number;
  /** Waits before a payload of so many bytes counts as taken. */
  readonly brake: (bytes: number, signal: AbortSignal) => Promise<void>;
}

/** A peer that sends so many payloads without an answer keeps no turn. One more than the rule, for a race at the start. */
const MOST_WAITING = 2;

export function createChannel({ send, acknowledge, mostPayload, brake }: ChannelOptions): ChannelPort {
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
    for (let at = 0; at < whole.length; at += mostPayload) {
      if (!(await sendOne(whole.subarray(at, at + mostPayload)))) return false;
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
      if (waiting.length >= MOST_WAITING) return false;
      waiting.push(payload);
      wake?.();
      return true;
    },
    taken() {
      resume?.();
      resume = undefined;
    },
    shut() {
      if (ending.signal.aborted) return;
      ending.abort();
      wake?.();
      resume?.();
    },
  };
}
