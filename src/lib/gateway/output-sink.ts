import { constants, fstatSync, openSync, statSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { OutputSink } from './output-model.ts';
import { relaySink } from './output-relay.ts';

/**
 * Opens a sink on a descriptor that was inherited (stdout, stderr). It cannot simply be written to: a full pipe, a
 * terminal after Ctrl-S and a socket of a stalled log service hold the writer for as long as they like. Nor may a
 * thread of the pool wait in such a write, because the end of the process waits for the threads. Five ways, tried on
 * Linux with each of the named kinds:
 *
 * - `own`: a pipe, FIFO, terminal or device is opened anew through /proc with O_NONBLOCK, which leaves the description
 *   that is shared with other programs as it is.
 * - `shared`: a stream socket (journald), and a pipe that another user made (EACCES), become non-blocking themselves, as
 *   node does with them anyway.
 * - `file`: O_NONBLOCK means nothing for a regular file, and a slow disk holds its writer; one write at a time goes
 *   through the thread pool. The descriptor keeps its place and its O_APPEND.
 * - `relay`: a terminal that another user owns and a datagram socket can be neither; `cat` waits for them instead.
 * - `null`: what goes to /dev/null is kept nowhere, and is told so. A descriptor that was closed at the start is one, too.
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
    // Its only use is that libuv makes the descriptor non-blocking; it neither reads nor writes nor closes it.
    new Socket({ fd, readable: false, writable: true }).unref();
  } catch {
    return relaySink(fd);
  }
  return directSink('shared', fd);
}

const nullSink: OutputSink = { way: 'null', write: (bytes, done) => done(null, bytes.length), end() {} };

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
