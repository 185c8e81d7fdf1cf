import { open } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { GwError } from '../error/index.ts';
import { lost } from './lost.ts';

/** A line to the sync service of a tablet. */
export interface SyncLine {
  readonly parser: { readAscii(count: number): PromiseLike<string>; readBytes(count: number): PromiseLike<Buffer> };
  readonly socket: Duplex;
}

/** The most that one piece of a file may have, in bytes. Source: Android's description of the sync service. */
const PIECE_BYTES = 64 * 1024;
/** So many are read and sent at once. */
const PIECES = 16;

/**
 * The SEND of the sync service: pieces, the time of last change, then one answer. `onTaken` is told how many bytes of
 * the file the other end of the line has taken in all. Throws TABLET_LOST, TABLET_NO_SPACE, TABLET_REFUSED,
 * TABLET_BAD_ANSWER, FILE_UNWRITABLE for a package file that cannot be read.
 */
export async function sendFile(
  line: SyncLine,
  file: string,
  target: string,
  onTaken: (bytes: number) => void,
): Promise<void> {
  const { socket } = line;
  const { promise: closed, reject } = Promise.withResolvers<never>();
  socket.once('close', () => reject(lost('The line to the tablet was cut in the middle of the transfer.')));
  const answered = Promise.race([readSyncAnswer(line), closed]);
  // The answer may come early, as a refusal: then nothing more needs to be sent.
  let refused: unknown;
  answered.catch((error: unknown) => {
    refused = error;
  });
  const name = Buffer.from(`${target},${0o100644}`);
  socket.write(Buffer.concat([syncHeader('SEND', name.length), name]));
  let taken = 0;
  const unreadable = (cause: NodeJS.ErrnoException) => {
    const why = `The package file ${file} cannot be read (${cause.code ?? 'unknown reason'}).`;
    return new GwError('FILE_UNWRITABLE', why, {
      remedy: 'Put the file where app.file of the kiosk profile says.',
      cause,
    });
  };
  await using handle = await open(file).catch((cause) => {
    throw unreadable(cause);
  });
  // While one frame is on its way the other is filled.
  const frames = [createFrame(), createFrame()];
  const gone = frames.map(() => Promise.resolve());
  for (let turn = 0; refused === undefined; turn = 1 - turn) {
    const frame = frames[turn];
    if (frame === undefined) break;
    await Promise.race([gone[turn], answered]);
    const { bytesRead } = await handle.readv(frame.pieces).catch((cause) => {
      throw unreadable(cause);
    });
    if (bytesRead === 0) break;
    gone[turn] = new Promise((resolve) =>
      socket.write(frame.framed(bytesRead), (error) => {
        resolve();
        if (error) return;
        taken += bytesRead;
        onTaken(taken);
      }),
    );
  }
  socket.write(syncHeader('DONE', 0));
  await answered;
}

/** Room for several DATA pieces with their headers, which a file is read into without being copied again. */
function createFrame() {
  const buffer = Buffer.alloc(PIECES * (SYNC_HEADER_BYTES + PIECE_BYTES));
  const starts = Array.from({ length: PIECES }, (_, i) => i * (SYNC_HEADER_BYTES + PIECE_BYTES));
  return {
    pieces: starts.map((start) => buffer.subarray(start + SYNC_HEADER_BYTES, start + SYNC_HEADER_BYTES + PIECE_BYTES)),
    /** The frame, after so many bytes were read into its pieces one after the other. */
    framed(bytes: number): Buffer {
      const count = Math.ceil(bytes / PIECE_BYTES);
      for (const [i, start] of starts.slice(0, count).entries()) {
        syncHeader('DATA', Math.min(PIECE_BYTES, bytes - i * PIECE_BYTES)).copy(buffer, start);
      }
      return buffer.subarray(0, bytes + count * SYNC_HEADER_BYTES);
    },
  };
}

const SYNC_HEADER_BYTES = 8;

function syncHeader(id: string, value: number): Buffer {
  const header = Buffer.alloc(SYNC_HEADER_BYTES);
  header.write(id, 'latin1');
  header.writeUInt32LE(value, 4);
  return header;
}

async function readSyncAnswer({ parser: reader }: SyncLine): Promise<void> {
  const word = await reader.readAscii(4);
  const length = (await reader.readBytes(4)).readUInt32LE(0);
  if (word === 'OKAY') return;
  if (word !== 'FAIL' || length > 64 * 1024) {
    throw new GwError('TABLET_BAD_ANSWER', 'The tablet answered the transfer with something that is no answer.');
  }
  const reason = (await reader.readBytes(length)).toString();
  if (/no space|ENOSPC/i.test(reason)) throw new GwError('TABLET_NO_SPACE', `The tablet has no room: ${reason}.`);
  throw new GwError('TABLET_REFUSED', `The tablet refused the package file: ${reason}.`);
}
