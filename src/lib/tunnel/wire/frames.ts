import type { TunnelMessage } from '../wire.ts';
import { decodeMessage } from './codec.ts';

/**
 * Finds the messages in a byte stream of `[uint16 big-endian length][message]`. The chunks that are pushed may end
 * anywhere, also within a length. Keeps at most one incomplete message (65,535 bytes). Messages may share the memory of
 * their chunk, which must not change afterwards. `push` throws TUNNEL_PROTOCOL for a message that cannot be decoded, and
 * then at every further call, since the place of the next message is not known.
 * @source vendor (HINWEIS)
 */
export function createFrameReader(onMessage: (message: TunnelMessage) => void): { push(bytes: Uint8Array): void } {
  /** First byte of a length whose second byte has not arrived. */
  let firstOfLength: number | undefined;
  let partial: { readonly bytes: Uint8Array; filled: number } | undefined;
  let failure: { readonly error: unknown } | undefined;

  /** Reads one length or one part of a message; returns the place behind it. */
  const step = (bytes: Uint8Array, at: number): number => {
    if (partial !== undefined) {
      const part = bytes.subarray(at, at + partial.bytes.length - partial.filled);
      partial.bytes.set(part, partial.filled);
      partial.filled += part.length;
      if (partial.filled === partial.bytes.length) {
        const whole = partial.bytes;
        partial = undefined;
        onMessage(decodeMessage(whole));
      }
      return at + part.length;
    }
    const byte = bytes[at] ?? 0;
    if (firstOfLength === undefined) {
      firstOfLength = byte;
      return at + 1;
    }
    const length = (firstOfLength << 8) | byte;
    firstOfLength = undefined;
    const [begin, end] = [at + 1, at + 1 + length];
    if (end > bytes.length) {
      partial = { bytes: new Uint8Array(length), filled: 0 };
      return begin;
    }
    onMessage(decodeMessage(bytes.subarray(begin, end)));
    return end;
  };

  return {
    push(bytes) {
      if (failure) throw failure.error;
      try {
        for (let at = 0; at < bytes.length; ) at = step(bytes, at);
      } catch (error) {
        failure = { error };
        throw error;
      }
    },
  };
}
