import type { Clock } from '../lifecycle/index.ts';
import type { OutputSink } from './output-model.ts';

/** How an output fares that somebody else reads. */
export interface OutputState {
  /**
   * 'unread': the reader takes nothing at the moment. 'failing': the system refuses writes; `failure` says with what.
   * 'discarded': it goes to /dev/null.
   */
  readonly status: 'writing' | 'unread' | 'failing' | 'discarded';
  /** Code of the operating system (ENOSPC, EPIPE) while `status` is 'failing'. */
  readonly failure: string | null;
  /** Lines that were thrown away since the start because the reader did not take them in time. */
  readonly droppedLines: number;
}

export interface LineWriter {
  /** Takes one line or a block of lines, with its line break. It is written whole or dropped whole; never waits. */
  write(line: string): void;
  state(): OutputState;
  /** Resolves when everything is out, at the latest after `withinMs`; what is not out by then is given up. */
  end(withinMs: number): Promise<void>;
}

export interface LineWriterOptions {
  readonly sink: OutputSink;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after' | 'sleep'>;
  /** The line that stands where lines are missing, with its line break. */
  readonly notice: (dropped: number) => string;
  /** So many bytes wait for a reader that does not read, not counting one chunk under way. */
  readonly maxWaitingBytes: number;
}

/** Lines go out together up to PIPE_BUF: a pipe takes so much whole or not at all, so that no writer tears a line. */
const CHUNK_BYTES = 4_096;
/** What a line costs beside its bytes. */
const LINE_OVERHEAD_BYTES = 64;
/** An unread output is tried again after so long, doubling from the first to the last. */
const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 200;
/** A full disk and a reader that went away are not tried more often than this. */
const FAILED_RETRY_MS = 1_000;
/** A write that has not come back for so long is as good as one that was refused. */
const UNREAD_AFTER_MS = 1_000;

/**
 * Lines for a reader who may stall. Order is kept and no line is torn. What does not fit is dropped from the oldest
 * line on, because the newest ones say how it is now; where lines are missing stands how many.
 */
export function createLineWriter({ sink, clock, notice, maxWaitingBytes }: LineWriterOptions): LineWriter {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let droppedLines = 0;
  /** Dropped since the chunk under way was made: they are missing before the first line that waits. */
  let gap = 0;
  /** What is left of the chunk under way. Never dropped: its beginning may be out. */
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
      const told = Buffer.from(notice(gap));
      gap = 0;
      parts.push(told);
      bytes = told.length;
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

  /** A loop rather than recursion: most sinks answer before `write` returns. */
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
      // A sleep, not a timer of `after`: nothing else may keep the process alive until then.
      await Promise.race([promise, clock.sleep(withinMs, out.signal).catch(() => {})]);
      out.abort();
      idle.delete(resolve);
      sink.end();
    },
  };
}
