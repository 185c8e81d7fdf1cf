import type { Clock } from '../lifecycle/index.ts';
import type { OutputSink } from './output-model.ts';

/** State of an output that another program reads. */
export interface OutputState {
  /**
   * 'unread': the reader is not reading at the moment. 'failing': writes fail with `failure`.
   * 'discarded': it goes to /dev/null.
   */
  readonly status: 'writing' | 'unread' | 'failing' | 'discarded';
  /** Code of the operating system (ENOSPC, EPIPE) while `status` is 'failing'. */
  readonly failure: string | null;
  /** Lines dropped since the start because they were not read in time. */
  readonly droppedLines: number;
}

export interface LineWriter {
  /** Writes one line or a block of lines, with its line break, completely or not at all; never blocks. */
  write(line: string): void;
  state(): OutputState;
  /** Resolves when everything is written, at the latest after `withinMs`; the rest is then dropped. */
  end(withinMs: number): Promise<void>;
}

export interface LineWriterOptions {
  readonly sink: OutputSink;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after' | 'sleep'>;
  /** The line that replaces dropped lines, with its line break. */
  readonly notice: (dropped: number) => string;
  /** Max. bytes that wait for the reader, not counting the chunk being written. */
  readonly maxWaitingBytes: number;
}

/** PIPE_BUF: a pipe accepts this much atomically, so lines of several writers are not mixed. */
const CHUNK_BYTES = 4_096;
/** Memory overhead of a line. */
const LINE_OVERHEAD_BYTES = 64;
/** Retry interval of an unread output, doubling from the first to the last. */
const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 200;
/** Retry interval after a failed write (full disk, closed reader). */
const FAILED_RETRY_MS = 1_000;
/** A write that takes longer than this counts as unread. */
const UNREAD_AFTER_MS = 1_000;

/**
 * Writes lines for a reader that may stall, in order and never partially. At the limit the oldest lines are dropped,
 * because the newest ones show the current state; a notice gives their number.
 */
export function createLineWriter({ sink, clock, notice, maxWaitingBytes }: LineWriterOptions): LineWriter {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let droppedLines = 0;
  /** Lines dropped since the current chunk was built: they are missing before the first waiting line. */
  let gap = 0;
  /** The rest of the current chunk. Never dropped, since its start may be written already. */
  let chunk: Buffer | null = null;
  let busySinceMs: number | null = null;
  let retry: Disposable | null = null;
  let retryMs = FIRST_RETRY_MS;
  let failure: string | null = null;
  let isUnread = false;
  const idle = new Set<() => void>();

  function drop(): void {
    const line = waiting.shift();
    if (line === undefined) return;
    waitingBytes -= line.length + LINE_OVERHEAD_BYTES;
    droppedLines += 1;
    gap += 1;
  }

  function nextChunk(): Buffer | null {
    if (gap === 0 && waiting.length === 0) return null;
    const parts: Buffer[] = [];
    let bytes = 0;
    if (gap > 0) {
      const line = Buffer.from(notice(gap));
      gap = 0;
      parts.push(line);
      bytes = line.length;
    }
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      if (parts.length > 0 && bytes + line.length > CHUNK_BYTES) break;
      waiting.shift();
      waitingBytes -= line.length + LINE_OVERHEAD_BYTES;
      parts.push(line);
      bytes += line.length;
    }
    return Buffer.concat(parts);
  }

  /** A loop rather than recursion, since most sinks call back before `write` returns. */
  function pump(): void {
    while (busySinceMs === null && retry === null) {
      chunk ??= nextChunk();
      if (chunk === null) {
        for (const done of idle) done();
        return;
      }
      busySinceMs = clock.monotonicMs();
      let isWithin = true;
      sink.write(chunk, (error, taken) => {
        busySinceMs = null;
        onWritten(error, taken);
        if (!isWithin) pump();
      });
      isWithin = false;
    }
  }

  function onWritten(error: NodeJS.ErrnoException | null, taken: number): void {
    isUnread = error?.code === 'EAGAIN' || (error === null && taken === 0);
    failure = error === null || isUnread ? null : (error.code ?? error.message);
    if (error === null && taken > 0 && chunk !== null) {
      retryMs = FIRST_RETRY_MS;
      chunk = taken < chunk.length ? chunk.subarray(taken) : null;
      return;
    }
    retry = clock.after(failure === null ? retryMs : FAILED_RETRY_MS, () => {
      retry = null;
      pump();
    });
    retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
  }

  return {
    write(line) {
      const bytes = Buffer.from(line);
      waiting.push(bytes);
      waitingBytes += bytes.length + LINE_OVERHEAD_BYTES;
      while (waitingBytes > maxWaitingBytes) drop();
      pump();
    },
    state() {
      const isStalled = busySinceMs !== null && clock.monotonicMs() - busySinceMs >= UNREAD_AFTER_MS;
      if (sink.way === 'null') return { status: 'discarded', failure, droppedLines };
      const status = failure !== null ? 'failing' : isUnread || isStalled ? 'unread' : 'writing';
      return { status, failure, droppedLines };
    },
    async end(withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const out = new AbortController();
      idle.add(resolve);
      retry?.[Symbol.dispose]();
      retry = null;
      pump();
      // `sleep` and not `after`, because the process must stay alive until then.
      await Promise.race([promise, clock.sleep(withinMs, out.signal).catch(() => {})]);
      out.abort();
      idle.delete(resolve);
      sink.end();
    },
  };
}
