import type { FileHandle } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';

/**
 * One buffer for a whole transfer: a stream allocates one for each piece, and collecting them took most of the time of a
 * download (measured). 32 files are sent at once at most. Project decision.
 */
const PIECE_BYTES = 256 * 1024;

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
      try {
        const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, last - first + 1));
        for (let at = first; at <= last; ) {
          const { bytesRead: length } = await file.read(buffer, 0, Math.min(buffer.length, last - at + 1), at);
          // The file was cut since its length was announced.
          if (length === 0 || response.destroyed) return void response.destroy();
          if (!(await write(response, buffer.subarray(0, length)))) return;
          at += length;
          bytesRead += length;
        }
        response.end();
      } catch {
        response.destroy();
      } finally {
        await file.close().catch(() => {});
      }
    },
    close: () => file.close(),
  };
}
