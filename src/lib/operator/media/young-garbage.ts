import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** After so many bytes. Project decision: a collection takes 0.2 ms (measured). */
const COLLECT_BYTES = 1_000_000;

let collect: ((options: { readonly type: 'minor' }) => void) | null = null;

/** The collector of the engine, which only a new context shows. */
function exposed(): NonNullable<typeof collect> {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as NonNullable<typeof collect>;
}

/**
 * Counts bytes that were received, and lets the engine free them. Node allocates a buffer outside the heap for every read;
 * the engine sees that memory grow and marks its whole heap each seven megabytes: three quarters of the processor time of an
 * upload (measured). They are garbage by then, and a collection of the young generation alone frees them as well.
 */
export function createReceivedBytes(): { add(bytes: number): void } {
  let received = 0;
  return {
    add(bytes) {
      received += bytes;
      if (received < COLLECT_BYTES) return;
      received = 0;
      collect ??= exposed();
      collect({ type: 'minor' });
    },
  };
}
