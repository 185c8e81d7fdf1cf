import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { Clock } from '../../lifecycle/index.ts';

/**
 * What is sent to readers that may be slow or not read at all: large bodies and files. All readers of the same bytes
 * share one buffer, and what is kept for all of them together is bounded: when there is no room, those who have not
 * read for the longest time are given up.
 */
export interface Outflow extends Disposable {
  /**
   * Takes a body that was just read, whose memory nobody else uses, and gives the bytes to send: those of an equal body
   * where one is kept already, null when there is no room. What is not kept is given back to the system at once. It is
   * kept for its readers of this turn of the event loop; without one it is let go.
   */
  take(body: Buffer): Buffer | null;
  /** A stream of a body that was taken, in small pieces as the reader of this response takes them; null without room. */
  send(body: Buffer, response: ServerResponse): Readable | null;
  /** Admits one more file; false when as many are sent as may. */
  admit(file: SentFile, response: ServerResponse): boolean;
  /** Bytes of bodies that are kept now, each body once. */
  keptBytes(): number;
}

interface SentFile {
  /** How much of it was taken; grows while the reader reads. */
  readonly bytesRead: number;
}

export interface OutflowLimits {
  readonly bodyBytes: number;
  readonly files: number;
}

/** What one reader may have waiting in its connection. */
const PIECE_BYTES = 64 * 1024;
/** Decisions of ours: a map of 24 MB and its image, or one of the largest that is read; and so many files at once. */
const usual: OutflowLimits = { bodyBytes: 48 * 1024 * 1024, files: 32 };
/** Decision of ours: whoever takes no piece of a body for so long has gone, or would never read it all. */
const STALLED_MS = 10_000;
/** Decisions of ours: only who has taken nothing for so long is given up for another. A film may be paused. */
const IDLE_BODY_MS = 1_000;
const IDLE_FILE_MS = 5_000;
const LOOK_MS = 1_000;

/** By response, when it last took something, by the monotonic clock. */
type Readers = Map<ServerResponse, number>;

/**
 * The collector would come for it much later: to the engine it is a small object. Only a body that no connection has
 * seen, since what waits in one must stay where it is.
 */
function giveBack({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}

export function createOutflow(clock: Clock, limits: OutflowLimits = usual): Outflow {
  const bodies = new Map<Buffer, Readers>();
  const files = new Map<ServerResponse, { readonly file: SentFile; bytes: number; at: number }>();
  let looking: Disposable | undefined;

  const keptBytes = () => [...bodies.keys()].reduce((sum, { length }) => sum + length, 0);

  function watch(): void {
    looking ??= clock.every(LOOK_MS, look);
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

  /** Its connection is cut: a body that ends early must not pass for whole. */
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

  /** True when there is room then. Giving up one of several readers of a body makes none, so all of them go or none. */
  function makeRoom(bytes: number): boolean {
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
      if (!bodies.has(body) && !makeRoom(body.length)) {
        giveBack(body);
        return null;
      }
      if (!bodies.has(body)) bodies.set(body, new Map());
      setImmediate(() => letGo(body));
      return body;
    },
    send(body, response) {
      if (!bodies.has(body) && !makeRoom(body.length)) return null;
      const readers: Readers = bodies.get(body) ?? new Map();
      bodies.set(body, readers);
      readers.set(response, clock.monotonicMs());
      // Not at the end of the stream: its last pieces wait in the connection and keep the whole body in memory.
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
