import { open } from 'node:fs/promises';
import type { Duplex } from 'node:stream';
import { GwError, systemReason } from '../../error/index.ts';
import { tabletLost } from './tablet-lost.ts';

/** Remedy for a package file that cannot be read. */
export const UNREADABLE_REMEDY =
  'Make it readable for the user that runs gw, or correct app.file in the kiosk profile.';

/** A connection to the sync service of a tablet. */
export interface SyncConnection {
  readonly parser: { readAscii(count: number): PromiseLike<string>; readBytes(count: number): PromiseLike<Buffer> };
  readonly socket: Duplex;
}

/** Limit of one DATA chunk. Source: Android's description of the sync service. */
const CHUNK_BYTES = 64 * 1024;
/** Chunks per read and write. */
const FRAME_CHUNKS = 16;

/**
 * SEND of the sync service: chunks, the modification time, then one answer. `onAccepted` receives the total bytes of the
 * file that the peer accepted. Throws TABLET_LOST, TABLET_NO_SPACE, TABLET_REFUSED, TABLET_BAD_ANSWER,
 * FILE_UNREADABLE.
 */
export async function sendFile(
  connection: SyncConnection,
  file: string,
  target: string,
  onAccepted: (bytes: number) => void,
): Promise<void> {
  const { socket } = connection;
  const { promise: closed, reject } = Promise.withResolvers<never>();
  socket.once('close', () => reject(tabletLost('ADB connection to the tablet lost during the transfer.')));
  const answered = Promise.race([readSyncAnswer(connection), closed]);
  // A refusal may arrive early and ends the transfer.
  let refused: unknown;
  answered.catch((error: unknown) => {
    refused = error;
  });
  const name = Buffer.from(`${target},${0o100644}`);
  socket.write(Buffer.concat([syncHeader('SEND', name.length), name]));
  let accepted = 0;
  const unreadable = (cause: NodeJS.ErrnoException) => {
    const message = `The package file ${file} cannot be read (${systemReason(cause)}).`;
    return new GwError('FILE_UNREADABLE', message, { remedy: UNREADABLE_REMEDY, cause });
  };
  await using handle = await open(file).catch((cause) => {
    throw unreadable(cause);
  });
  // One frame is filled while the other is sent.
  const frames = [createFrame(), createFrame()];
  const sent = frames.map(() => Promise.resolve());
  for (let turn = 0; refused === undefined; turn = 1 - turn) {
    const frame = frames[turn];
    if (frame === undefined) break;
    await Promise.race([sent[turn], answered]);
    const { bytesRead } = await handle.readv(frame.chunks).catch((cause) => {
      throw unreadable(cause);
    });
    if (bytesRead === 0) break;
    sent[turn] = new Promise((resolve) =>
      socket.write(frame.framed(bytesRead), (error) => {
        resolve();
        if (error) return;
        accepted += bytesRead;
        onAccepted(accepted);
      }),
    );
  }
  socket.write(syncHeader('DONE', 0));
  await answered;
}

/** Buffer for several DATA chunks with their headers, so that file contents are not copied again. */
function createFrame() {
  const buffer = Buffer.alloc(FRAME_CHUNKS * (SYNC_HEADER_BYTES + CHUNK_BYTES));
  const starts = Array.from({ length: FRAME_CHUNKS }, (_, i) => i * (SYNC_HEADER_BYTES + CHUNK_BYTES));
  return {
    chunks: starts.map((start) => buffer.subarray(start + SYNC_HEADER_BYTES, start + SYNC_HEADER_BYTES + CHUNK_BYTES)),
    /** The frame, after `bytes` were read into its chunks in order. */
    framed(bytes: number): Buffer {
      const count = Math.ceil(bytes / CHUNK_BYTES);
      for (const [i, start] of starts.slice(0, count).entries()) {
        syncHeader('DATA', Math.min(CHUNK_BYTES, bytes - i * CHUNK_BYTES)).copy(buffer, start);
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

async function readSyncAnswer({ parser: reader }: SyncConnection): Promise<void> {
  const reply = await reader.readAscii(4);
  const length = (await reader.readBytes(4)).readUInt32LE(0);
  if (reply === 'OKAY') return;
  if (reply !== 'FAIL' || length > 64 * 1024) {
    throw new GwError('TABLET_BAD_ANSWER', 'The tablet answered the transfer with neither OKAY nor FAIL.');
  }
  const reason = (await reader.readBytes(length)).toString();
  if (/no space|ENOSPC/i.test(reason))
    throw new GwError('TABLET_NO_SPACE', `Not enough free space on the tablet: ${reason}.`);
  throw new GwError('TABLET_REFUSED', `The tablet refused the package file: ${reason}.`);
}
