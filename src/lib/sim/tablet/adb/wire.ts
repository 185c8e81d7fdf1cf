/**
 * Frames of the Android debug bridge, device side. Header: six little-endian words (command, two arguments, payload
 * length, checksum, inverted command), then the payload. Source: Android's protocol documentation.
 */

export const command = {
  CNXN: 0x4e584e43,
  OPEN: 0x4e45504f,
  OKAY: 0x59414b4f,
  CLSE: 0x45534c43,
  WRTE: 0x45545257,
  AUTH: 0x48545541,
} as const;

const HEADER_BYTES = 24;
/** The first version, with checksums. */
export const VERSION_SUMMED = 0x01000000;
/** From this version on without checksums. */
export const VERSION_UNSUMMED = 0x01000001;
/** Maximum payload that every peer accepts, also before the handshake. */
export const MIN_MAX_PAYLOAD = 4096;

export interface Frame {
  readonly command: number;
  readonly arg0: number;
  readonly arg1: number;
  readonly payload: Buffer;
}

export function packHeader({ command: kind, arg0, arg1, payload }: Frame, summed: boolean): Buffer {
  const sum = summed ? sumOf(payload) : 0;
  return Buffer.from(Uint32Array.of(kind, arg0, arg1, payload.length, sum, ~kind).buffer);
}

function sumOf(payload: Uint8Array): number {
  let sum = 0;
  for (const byte of payload) sum += byte;
  return sum >>> 0;
}

export interface FrameReaderOptions {
  /** Maximum payload accepted now. */
  readonly maxPayload: () => number;
  /** Whether checksums are verified now. */
  readonly summed: () => boolean;
}

/**
 * Splits a byte stream into frames. Buffers at most one header and one payload of the maximum length; a larger length
 * is refused with the header.
 */
export function createFrameReader({ maxPayload, summed }: FrameReaderOptions) {
  const head = Buffer.alloc(HEADER_BYTES);
  let headBytes = 0;
  let pieces: Buffer[] = [];
  let missing = 0;

  return {
    /** Calls `take` with each frame until it returns false; returns false when the bytes violate the protocol. */
    feed(bytes: Buffer, take: (frame: Frame) => boolean): boolean {
      let at = 0;
      while (at < bytes.length) {
        if (headBytes < HEADER_BYTES) {
          const copied = bytes.copy(head, headBytes, at, at + HEADER_BYTES - headBytes);
          headBytes += copied;
          at += copied;
          if (headBytes < HEADER_BYTES) return true;
          missing = head.readUInt32LE(12);
          if (~head.readInt32LE(0) !== head.readInt32LE(20) || missing > maxPayload()) return false;
        }
        const piece = bytes.subarray(at, at + missing);
        if (piece.length > 0) pieces.push(piece);
        at += piece.length;
        missing -= piece.length;
        if (missing > 0) return true;
        const payload = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
        pieces = [];
        headBytes = 0;
        if (summed() && sumOf(payload) !== head.readUInt32LE(16)) return false;
        const frame = {
          command: head.readUInt32LE(0),
          arg0: head.readUInt32LE(4),
          arg1: head.readUInt32LE(8),
          payload,
        };
        if (!take(frame)) return true;
      }
      return true;
    },
  };
}
