export const PNG_SIGNATURE: readonly number[] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Length and type of the first chunk, IHDR. */
const IHDR = [0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52];
/** Signature, and IHDR with its CRC. */
const HEADER_BYTES = 33;
/** Limit of width and height; a larger value counts as corrupt. Project decision. */
const MAX_SIDE_PIXELS = 100_000;

/** Whether these bytes have the PNG signature. */
export function isPng(bytes: Uint8Array): boolean {
  return PNG_SIGNATURE.every((byte, at) => bytes[at] === byte);
}

/** Width and height in pixels from IHDR; null when the bytes are not a PNG. The pixel data is not read. */
export function pngSize(bytes: Uint8Array): { readonly width: number; readonly height: number } | null {
  if (bytes.length < HEADER_BYTES || !isPng(bytes)) return null;
  if (IHDR.some((byte, at) => bytes[PNG_SIGNATURE.length + at] !== byte)) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const width = view.getUint32(16);
  const height = view.getUint32(20);
  const isValid = width >= 1 && height >= 1 && width <= MAX_SIDE_PIXELS && height <= MAX_SIDE_PIXELS;
  return isValid ? { width, height } : null;
}
