/** Bytes of the length before a message. */
const PREFIX_BYTES = 2;

/** Complete frames of a byte stream. */
export interface Frames {
  /** Begins with the first frame; the frames follow each other without a gap. */
  readonly bytes: Buffer;
  /** Where each frame ends. */
  readonly ends: readonly number[];
}

/**
 * Splits a byte stream into frames, whatever its chunks are. It keeps less than one frame of at most 65,537 bytes; every
 * length is valid, so it never fails.
 */
export function createFrameSplitter() {
  let rest: Buffer = Buffer.alloc(0);
  return {
    push(chunk: Uint8Array): Frames {
      const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const bytes = rest.length === 0 ? view : Buffer.concat([rest, view]);
      const ends: number[] = [];
      let at = 0;
      for (;;) {
        if (bytes.length - at < PREFIX_BYTES) break;
        const end = at + PREFIX_BYTES + bytes.readUInt16BE(at);
        if (end > bytes.length) break;
        ends.push(end);
        at = end;
      }
      // A copy, so that one waiting byte does not keep a whole message in memory.
      rest = Buffer.from(bytes.subarray(at));
      return { bytes, ends };
    },
    /** Bytes of a frame that is not complete. */
    waitingBytes: () => rest.length,
  };
}

/** The message of a frame. */
export function bodyOf(frame: Uint8Array): Uint8Array {
  return frame.subarray(PREFIX_BYTES);
}
