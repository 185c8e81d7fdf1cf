/** Bytes of the length before a message. */
const PREFIX_BYTES = 2;

export interface FrameHandlers {
  /**
   * A complete frame, without its length. `group-ends`: the next frame begins another group. `refused`: this frame and
   * everything behind it is left out.
   */
  readonly onFrame: (body: Uint8Array) => 'accepted' | 'group-ends' | 'refused';
  /**
   * Accepted frames with their lengths, without a gap; memory that is the receiver's from now on. `isEnded`: by the last
   * of them, not by the chunk.
   */
  readonly onGroup: (frames: Buffer, isEnded: boolean) => void;
  readonly maxGroupBytes: number;
}

/**
 * Puts the frames of a byte stream together, whatever its chunks are, each byte copied once. Small frames that arrive
 * in one chunk are a group. It keeps less than one frame of at most 65,537 bytes; every length is valid, so it never
 * fails by itself.
 */
export function createFrameAssembler({ onFrame, onGroup, maxGroupBytes }: FrameHandlers) {
  /** First byte of a length whose second byte has not arrived. */
  let firstOfLength: number | null = null;
  let memory: Buffer = Buffer.alloc(0);
  /** Place behind the accepted frames. */
  let accepted = 0;
  let filled = 0;
  let isRefused = false;

  function flush(isEnded = false): void {
    if (accepted > 0) onGroup(memory.subarray(0, accepted), isEnded);
    memory = Buffer.alloc(0);
    accepted = 0;
    filled = 0;
  }

  /** Begins the frame whose length stands at `at`, or whose length was begun before. Returns where its rest begins. */
  function begin(chunk: Uint8Array, at: number): number {
    const isSplit = firstOfLength !== null;
    if (!isSplit && chunk.length - at < PREFIX_BYTES) {
      firstOfLength = chunk[at] as number;
      return at + 1;
    }
    const prefix = [firstOfLength ?? (chunk[at] as number), chunk[isSplit ? at : at + 1] as number] as const;
    const rest = isSplit ? at + 1 : at + PREFIX_BYTES;
    const bytes = PREFIX_BYTES + ((prefix[0] << 8) | prefix[1]);
    firstOfLength = null;
    const available = PREFIX_BYTES + chunk.length - rest;
    if (bytes > available || accepted + bytes > memory.length) {
      flush();
      memory = Buffer.allocUnsafe(bytes > available ? bytes : Math.min(available, maxGroupBytes));
    }
    memory.set(prefix, accepted);
    filled = accepted + PREFIX_BYTES;
    return rest;
  }

  /** Copies what the chunk has of the frame. Returns the place behind it. */
  function fill(chunk: Uint8Array, at: number): number {
    const end = accepted + PREFIX_BYTES + memory.readUInt16BE(accepted);
    const part = chunk.subarray(at, at + end - filled);
    memory.set(part, filled);
    filled += part.length;
    if (filled === end) complete(end);
    return at + part.length;
  }

  function complete(end: number): void {
    const verdict = onFrame(memory.subarray(accepted + PREFIX_BYTES, end));
    isRefused = verdict === 'refused';
    if (!isRefused) accepted = end;
    const isEnded = verdict === 'group-ends';
    if (isRefused || isEnded || end === memory.length) flush(isEnded);
  }

  return {
    /** Returns false when a frame was refused, at every further call too. */
    push(chunk: Uint8Array): boolean {
      for (let at = 0; at < chunk.length && !isRefused; ) {
        if (filled === accepted) at = begin(chunk, at);
        // Also for a frame without a message.
        if (filled > accepted) at = fill(chunk, at);
      }
      if (filled === accepted) flush();
      return !isRefused;
    },
    /** Bytes of a frame that is not complete. */
    waitingBytes: () => filled - accepted + (firstOfLength === null ? 0 : 1),
  };
}
