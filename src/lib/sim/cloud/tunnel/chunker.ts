import type { Clock } from '../../../lifecycle/index.ts';

/**
 * How relayed frames are divided into WebSocket messages. `as-received`: the frames that one message completed, together.
 * `random`: pieces of random length that split and join frames anywhere. Both begin a new message behind a STREAM_START,
 * because a widely used destination leaves what follows it in the same message unread (HINWEIS); `random-everywhere` does
 * not.
 */
export type Chunking = 'as-received' | 'random' | 'random-everywhere';

/** The service accepts and sends no longer message. @source vendor (HINWEIS) */
export const MAX_MESSAGE_BYTES = 131_076;
/** Limit of the random time that bytes wait for later ones. */
const MAX_WAIT_MS = 3;

export interface Chunker extends Disposable {
  /** `isStart`: the bytes end with a STREAM_START. */
  send(bytes: Buffer, isStart: boolean): void;
  /** Bytes that wait for later ones. */
  waitingBytes(): number;
}

/** Sends bytes in order, divided as `mode` says. */
export function createChunker(
  mode: Chunking,
  clock: Pick<Clock, 'after' | 'random'>,
  write: (bytes: Buffer) => void,
): Chunker {
  let waiting: Buffer = Buffer.alloc(0);
  let timer: Disposable | null = null;

  function randomLength(): number {
    const kind = clock.random();
    const limit = kind < 0.2 ? 4 : kind < 0.5 ? 1_000 : MAX_MESSAGE_BYTES;
    return 1 + Math.floor(clock.random() * limit);
  }

  /** Sends random pieces and keeps the last one, or sends all. */
  function drain(isAll: boolean): void {
    timer?.[Symbol.dispose]();
    timer = null;
    while (waiting.length > 0) {
      const length = Math.min(randomLength(), MAX_MESSAGE_BYTES);
      if (length >= waiting.length && !isAll) break;
      write(waiting.subarray(0, length));
      waiting = waiting.subarray(length);
    }
    if (waiting.length > 0) timer = clock.after(clock.random() * MAX_WAIT_MS, () => drain(true));
  }

  return {
    send(bytes, isStart) {
      if (mode === 'as-received') {
        for (let at = 0; at < bytes.length; at += MAX_MESSAGE_BYTES) write(bytes.subarray(at, at + MAX_MESSAGE_BYTES));
        return;
      }
      waiting = Buffer.concat([waiting, bytes]);
      drain(isStart && mode === 'random');
    },
    waitingBytes: () => waiting.length,
    [Symbol.dispose]() {
      timer?.[Symbol.dispose]();
    },
  };
}
