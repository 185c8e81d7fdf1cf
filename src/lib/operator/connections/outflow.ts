import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';

/**
 * Large bodies and files in transmission to clients that may read slowly or not at all. All readers of the same bytes
 * share one buffer, and the total is bounded: at the limit, the readers that have been idle longest are disconnected.
 */
export interface Outflow extends Disposable {
  /**
   * Takes ownership of a body and returns the bytes to send: those of an equal body that is buffered already, or null
   * at the limit. Unused memory is released at once. A body without a reader is released after this turn of the event
   * loop.
   */
  take(body: Buffer): Buffer | null;
  /** Streams an owned body in small pieces at the pace of the reader; null at the limit. */
  send(body: Buffer, response: ServerResponse): Readable | null;
  /** Admits one more file; false at the limit. */
  admit(file: SentFile, response: ServerResponse): boolean;
  /** Bytes of the buffered bodies, each body once. */
  keptBytes(): number;
}

interface SentFile {
  /** Bytes read so far; grows while the reader reads. */
  readonly bytesRead: number;
}

export interface OutflowLimits {
  readonly bodyBytes: number;
  readonly files: number;
}

/** Max. bytes that wait in the connection of one reader. */
const PIECE_BYTES = 64 * 1024;
/** Project decisions: enough for a map of 24 MB with its image, or for one of the largest size. */
const usual: OutflowLimits = { bodyBytes: 48 * 1024 * 1024, files: 32 };
/** Project decision: a reader that takes nothing of a body for this long is disconnected. */
const STALLED_MS = 10_000;
/** Project decisions: only a reader that was idle for this long is disconnected for another. A film may be paused. */
const IDLE_BODY_MS = 1_000;
const IDLE_FILE_MS = 5_000;
const CHECK_INTERVAL_MS = 1_000;

/** Time of the last read by response, by the monotonic clock. */
type Readers = Map<ServerResponse, number>;

export function createOutflow(clock: Clock, limits: OutflowLimits = usual): Outflow {
  const bodies = new Map<Buffer, Readers>();
  const files = new Map<ServerResponse, { readonly file: SentFile; bytes: number; at: number }>();
  let looking: Disposable | undefined;

  const keptBytes = () => [...bodies.keys()].reduce((sum, { length }) => sum + length, 0);

  function watch(): void {
    looking ??= clock.every(CHECK_INTERVAL_MS, look);
  }

  function unwatch(): void {
    if (bodies.size > 0 || files.size > 0) return;
    looking?.[Symbol.dispose]();
    looking = undefined;
  }

  function release(body: Buffer, response: ServerResponse): void {
    const readers = bodies.get(body);
    readers?.delete(response);
    letGo(body);
  }

  function letGo(body: Buffer): void {
    if (bodies.get(body)?.size === 0) bodies.delete(body);
    unwatch();
  }

  /** Closes the connection, since a truncated body must not look complete. */
  function giveUp(response: ServerResponse): void {
    response.destroy();
  }

  function look(): void {
    const now = clock.monotonicMs();
    for (const [body, readers] of [...bodies]) {
      for (const [response, at] of [...readers]) {
        if (now - at < STALLED_MS) continue;
        giveUp(response);
        release(body, response);
      }
    }
    for (const sent of files.values()) {
      if (sent.file.bytesRead === sent.bytes) continue;
      sent.bytes = sent.file.bytesRead;
      sent.at = now;
    }
  }

  /** Whether the bytes fit afterwards. All readers of a body are disconnected or none, since they share its memory. */
  function freeSpace(bytes: number): boolean {
    const now = clock.monotonicMs();
    const lastTaken = (readers: Readers) => Math.max(...readers.values());
    const idle = [...bodies].filter(([, readers]) => readers.size > 0 && now - lastTaken(readers) >= IDLE_BODY_MS);
    for (const [body, readers] of idle.sort(([, a], [, b]) => lastTaken(a) - lastTaken(b))) {
      if (keptBytes() + bytes <= limits.bodyBytes) break;
      for (const response of [...readers.keys()]) {
        giveUp(response);
        release(body, response);
      }
    }
    return keptBytes() + bytes <= limits.bodyBytes;
  }

  return {
    take(body) {
      for (const kept of bodies.keys()) {
        if (kept === body || !kept.equals(body)) continue;
        giveBack(body);
        return kept;
      }
      if (!bodies.has(body) && !freeSpace(body.length)) {
        giveBack(body);
        return null;
      }
      if (!bodies.has(body)) bodies.set(body, new Map());
      setImmediate(() => letGo(body));
      return body;
    },
    send(body, response) {
      if (!bodies.has(body) && !freeSpace(body.length)) return null;
      const readers: Readers = bodies.get(body) ?? new Map();
      bodies.set(body, readers);
      readers.set(response, clock.monotonicMs());
      // Not at the end of the stream: its last pieces still wait in the connection and reference the body.
      response.once('close', () => release(body, response));
      watch();
      let at = 0;
      return new Readable({
        highWaterMark: PIECE_BYTES,
        read() {
          if (readers.has(response)) readers.set(response, clock.monotonicMs());
          const piece = body.subarray(at, at + PIECE_BYTES);
          at += piece.length;
          this.push(piece);
          if (at >= body.length) this.push(null);
        },
      });
    },
    admit(file, response) {
      if (files.size >= limits.files) {
        look();
        const [slowest] = [...files].sort(([, a], [, b]) => a.at - b.at);
        if (slowest === undefined || clock.monotonicMs() - slowest[1].at < IDLE_FILE_MS) return false;
        giveUp(slowest[0]);
        files.delete(slowest[0]);
      }
      files.set(response, { file, bytes: file.bytesRead, at: clock.monotonicMs() });
      response.once('close', () => {
        files.delete(response);
        unwatch();
      });
      watch();
      return true;
    },
    keptBytes,
    [Symbol.dispose]() {
      looking?.[Symbol.dispose]();
      looking = undefined;
    },
  };
}

/**
 * Releases the memory at once, since the garbage collector sees only a small object. Only for a body that was never
 * handed to a connection.
 */
function giveBack({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
