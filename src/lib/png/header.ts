export const PNG_SIGNATURE: readonly number[] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Length and name of the first part, which every PNG begins with. */
const IHDR = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
/** Signature, and the first part with its checksum. */
const HEADER_BYTES = 33;
/** Pixels along one side. A header that says more is taken for damaged. Project decision. */
const MAX_SIDE = 100_000;

/** Whether these bytes begin like a PNG. */
export function isPng(bytes: Uint8Array): boolean {
  return PNG_SIGNATURE.every((byte, at) => bytes[at] === byte);
}

/** Width and height in pixels out of the header of a PNG; null when the bytes are none. The pixels are not read. */
export function pngSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | null {
  if (bytes.length < HEADER_BYTES || !isPng(bytes)) return null;
  if (IHDR.some((byte, at) => bytes[PNG_SIGNATURE.length + at] !== byte)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  const fits = width >= 1 && height >= 1 && width <= MAX_SIDE && height <= MAX_SIDE;
  return fits ? { width, height } : null;
}
