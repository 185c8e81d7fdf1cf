import { spawn } from 'node:child_process';
import { constants, fstatSync, openSync, statSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { OutputSink } from './output-model.ts';

/**
 * Opens a sink on an inherited descriptor (stdout, stderr) that never blocks: a full pipe, a terminal after Ctrl-S and
 * the socket of a stalled log service block a plain write indefinitely, and a blocked thread of the pool would delay the
 * end of the process. Five ways, tested on Linux with each of the named kinds:
 *
 * - `own`: a pipe, FIFO, terminal or device is reopened through /proc with O_NONBLOCK, which does not change the file
 *   description shared with other programs.
 * - `shared`: a stream socket (journald), or a pipe of another user (EACCES), becomes non-blocking itself, as Node does
 *   with them anyway.
 * - `file`: O_NONBLOCK has no effect on a regular file, and a slow disk blocks; one write at a time goes through the
 *   thread pool. The descriptor keeps its position and its O_APPEND.
 * - `relay`: a terminal of another user and a datagram socket allow neither; `cat` blocks instead of the daemon.
 * - `null`: /dev/null, reported as discarded. A descriptor that was closed at the start is one, too.
 */
export function openOutputSink(fd: number): OutputSink {
  const kind = fstatSync(fd);
  if (kind.isFile()) return fileSink(fd);
  if (kind.isCharacterDevice() && kind.rdev === statSync('/dev/null').rdev) return nullSink;
  const own = kind.isSocket() ? null : reopen(fd);
  if (own !== null) return directSink('own', own);
  return kind.isFIFO() || kind.isSocket() ? sharedSink(fd) : relaySink(fd);
}

/** null where /proc is missing, the file belongs to another user, or a FIFO has no reader at the moment. */
function reopen(fd: number): number | null {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return null;
  }
}

function sharedSink(fd: number): OutputSink {
  try {
    // Only makes libuv set the descriptor to non-blocking; it neither reads nor writes nor closes it.
    new Socket({ fd, readable: false, writable: true }).unref();
  } catch {
    return relaySink(fd);
  }
  return directSink('shared', fd);
}

const nullSink: OutputSink = { way: 'null', write: (bytes, done) => done(null, bytes.length), end() {} };

/** A non-blocking descriptor is written synchronously, so that the last line before a crash is not lost. */
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

/**
 * Writes through `cat`, which blocks in place of the daemon. In a session of its own, so that Ctrl-C at the terminal
 * does not end it before the last lines.
 */
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
    // The relay still forwards what it has received, then ends.
    end: () => void stdin?.destroy(),
  };
}
