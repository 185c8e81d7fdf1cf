import type { TunnelMessage } from '../wire.ts';
import { decodeMessage, LENGTH_BYTES } from './codec.ts';

/**
 * Finds the messages in a byte stream of `[uint16 big-endian length][message]`. The chunks that are pushed may end
 * anywhere, also within a length. Keeps at most one incomplete message (65,535 bytes). Messages may share the memory of
 * their chunk, which must not change afterwards. `push` throws TUNNEL_PROTOCOL for a message that cannot be decoded, and
 * then at every further call, since the place of the next message is not known.
 * @source vendor (HINWEIS)
 */
export function createFrameReader(onMessage: (message: TunnelMessage) => void): { push(bytes: Uint8Array): void } {
  /** A length or a message whose end has not arrived. */
  let begun: Uint8Array = new Uint8Array(0);
  let failure: { readonly error: unknown } | undefined;

  return {
    push(chunk) {
      if (failure) throw failure.error;
      const bytes = begun.length === 0 ? chunk : joined(begun, chunk);
      let at = 0;
      try {
        for (let end = endOf(bytes, at); end <= bytes.length; end = endOf(bytes, at)) {
          const message = bytes.subarray(at + LENGTH_BYTES, end);
          at = end;
          onMessage(decodeMessage(message));
        }
      } catch (error) {
        failure = { error };
        throw error;
      }
      // A copy, so that it does not hold the memory of its chunk.
      begun = new Uint8Array(bytes.subarray(at));
    },
  };
}

function joined(begun: Uint8Array, chunk: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(begun.length + chunk.length);
  bytes.set(begun);
  bytes.set(chunk, begun.length);
  return bytes;
}

/** Where the message that begins here ends; beyond the bytes while its length is not known. */
function endOf(bytes: Uint8Array, at: number): number {
  const [high, low] = [bytes[at], bytes[at + 1]];
  if (high === undefined || low === undefined) return Number.POSITIVE_INFINITY;
  return at + LENGTH_BYTES + high * 256 + low;
}
