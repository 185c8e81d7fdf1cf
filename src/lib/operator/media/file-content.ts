import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

/**
 * Of the two buffers of a transfer: one is filled while the other is sent. A stream allocates one for each piece, and
 * collecting them took most of the time of a download (measured). The first transfers get large ones, since each change of
 * thread costs; of many at once the memory counts. 32 files are sent at once at most: 22 MB. Project decisions.
 */
const PIECE_BYTES = 1024 * 1024;
const PIECE_OF_MANY_BYTES = 256 * 1024;
const FEW = 4;

/** Transfers in progress in this process. */
let transfers = 0;

/** A part of an open file, for one reader. Either `sendTo` or `close` ends it. */
export interface FileContent {
  /** Grows while the reader reads. */
  readonly bytesRead: number;
  /** Sends it at the pace of the reader. A body that cannot be sent whole ends the connection. Never rejects. */
  sendTo(response: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

export function fileContent(file: FileHandle, first: number, last: number): FileContent {
  let bytesRead = 0;

  /** false: the reader is gone. Resolves when the kernel has taken the bytes, and the buffer is free again. */
  function write(response: ServerResponse, bytes: Buffer): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const gone = () => resolve(false);
    response.once('close', gone);
    response.write(bytes, (error) => {
      response.off('close', gone);
      resolve(!error);
    });
    return promise;
  }

  return {
    get bytesRead() {
      return bytesRead;
    },
    async sendTo(response) {
      transfers += 1;
      try {
        const pieceBytes = Math.min(transfers > FEW ? PIECE_OF_MANY_BYTES : PIECE_BYTES, last - first + 1);
        let [filling, sending] = [Buffer.allocUnsafeSlow(pieceBytes), Buffer.allocUnsafeSlow(pieceBytes)];
        const fill = (at: number) => file.read(filling, 0, Math.min(pieceBytes, last - at + 1), at);
        let reading = fill(first);
        for (let at = first; at <= last; ) {
          const { bytesRead: length } = await reading;
          // The file was cut since its length was announced.
          if (length === 0 || response.destroyed) return void response.destroy();
          at += length;
          [filling, sending] = [sending, filling];
          if (at <= last) {
            reading = fill(at);
            // Its failure counts when its turn comes.
            reading.catch(() => {});
          }
          if (!(await write(response, sending.subarray(0, length)))) return;
          bytesRead += length;
        }
        response.end();
      } catch {
        response.destroy();
      } finally {
        transfers -= 1;
        await file.close().catch(() => {});
      }
    },
    close: () => file.close(),
  };
}
