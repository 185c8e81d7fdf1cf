import { spawn } from 'node:child_process';
import { constants, fstatSync, openSync, type Stats, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';

/**
 * Where bytes go without ever holding the event loop. `done` is called once for each call, possibly before `write`
 * returns: with how many bytes were taken, or with the error. EAGAIN: nothing was taken, the reader is not reading.
 */
export interface OutputSink {
  /** How the descriptor is written to; see `openOutputSink`. */
  readonly way: 'own' | 'shared' | 'file' | 'relay';
  write(bytes: Buffer, done: (error: NodeJS.ErrnoException | null, taken: number) => void): void;
  /** Gives up a write that is under way, where that is possible: it would keep the process alive. */
  end(): void;
}

/**
 * Opens a sink on a descriptor that was inherited (stdout, stderr). It cannot simply be written to: a full pipe, a
 * terminal after Ctrl-S and a socket of a stalled log service hold the writer for as long as they like. Nor may a
 * thread of the pool wait in such a write, because the end of the process waits for the threads. Four ways, tried on
 * Linux with each of the named kinds:
 *
 * - `own`: a pipe, FIFO, terminal or device is opened anew through /proc with O_NONBLOCK, which leaves the description
 *   that is shared with other programs as it is.
 * - `shared`: a stream socket (journald), and a pipe that another user made (EACCES), become non-blocking themselves, as
 *   node does with them anyway.
 * - `file`: O_NONBLOCK means nothing for a regular file, and a slow disk holds its writer; one write at a time goes
 *   through the thread pool. The descriptor keeps its place and its O_APPEND.
 * - `relay`: a terminal that another user owns and a datagram socket can be neither; `cat` waits for them instead.
 */
export function openOutputSink(fd: number): OutputSink {
  const kind = fstatSync(fd);
  if (kind.isFile()) return fileSink(fd);
  const own = kind.isSocket() ? null : reopen(fd, kind);
  if (own !== null) return directSink('own', own);
  return kind.isFIFO() || kind.isSocket() ? sharedSink(fd) : relaySink(fd);
}

/** null where /proc is missing, the file belongs to another user, or a FIFO has no reader at the moment. */
function reopen(fd: number, kind: Stats): number | null {
  try {
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const opened = fstatSync(own);
    return opened.ino === kind.ino && opened.dev === kind.dev ? own : null;
  } catch {
    return null;
  }
}

function sharedSink(fd: number): OutputSink {
  try {
    // Its only use is that libuv makes the descriptor non-blocking; it neither reads nor writes nor closes it.
    new Socket({ fd, readable: false, writable: true }).unref();
  } catch {
    return relaySink(fd);
  }
  return directSink('shared', fd);
}

/** A non-blocking descriptor is written at once, so that the last line before a crash is out. */
function directSink(way: 'own' | 'shared', fd: number): OutputSink {
  return {
    way,
    write(bytes, done) {
      let taken: number;
      try {
        taken = writeSync(fd, bytes);
      } catch (error) {
        done(error as NodeJS.ErrnoException, 0);
        return;
      }
      done(null, taken);
    },
    end() {},
  };
}

function fileSink(fd: number): OutputSink {
  return { way: 'file', write: (bytes, done) => write(fd, bytes, 0, bytes.length, null, done), end() {} };
}

/** In a session of its own: Ctrl-C at the terminal must not end it before the last lines. */
function relaySink(fd: number): OutputSink {
  const relay = spawn('cat', [], { stdio: ['pipe', fd, 'ignore'], detached: true });
  relay.unref();
  const { stdin } = relay;
  if (stdin instanceof Socket) stdin.unref();
  let failure: NodeJS.ErrnoException | null = null;
  const onError = (error: NodeJS.ErrnoException) => {
    failure ??= error;
  };
  relay.on('error', onError);
  stdin?.on('error', onError);
  return {
    way: 'relay',
    write(bytes, done) {
      if (failure !== null || stdin === null) done(failure ?? new Error('cat has no stdin'), 0);
      else stdin.write(bytes, (error) => done(error ?? null, error ? 0 : bytes.length));
    },
    // What the relay has taken it still passes on when its reader reads again; then it ends.
    end: () => void stdin?.destroy(),
  };
}
