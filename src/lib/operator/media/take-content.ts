import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Memory of one upload that waits to be written. */
const WRITE_BYTES = 512 * 1024;

/** An error of whoever sends the content: not one of this folder. */
export class SenderFault extends Error {
  constructor(cause: unknown) {
    super('the sender failed', { cause });
  }
}

/**
 * Hands the content to `take`, one call after the other, until its end or until `take` resolves with why it takes no more.
 * null: all of it was taken. Throws the error of `take`, and SenderFault for one of the content.
 */
export async function takeContent<R extends string>(
  content: Readable,
  take: (chunks: readonly Buffer[]) => Promise<R | null>,
): Promise<R | null> {
  let refusal: R | null = null;
  let failure: unknown;

  function taken(chunks: readonly Buffer[], done: (error?: Error | null) => void): void {
    take(chunks).then(
      (because) => {
        refusal = because;
        done(because === null ? null : new Error(because));
      },
      (error: Error) => {
        failure = error;
        done(error);
      },
    );
  }

  // What arrives during a write is written together: a change of thread for each 64 KiB took longer than the writing.
  const sink = new Writable({
    highWaterMark: WRITE_BYTES,
    write: (chunk: Buffer, _encoding, done) => taken([chunk], done),
    writev: (chunks, done) =>
      taken(
        chunks.map(({ chunk }) => chunk as Buffer),
        done,
      ),
  });
  await pipeline(content, sink).catch((error: unknown) => {
    if (refusal === null) throw failure ?? new SenderFault(error);
  });
  return refusal;
}
