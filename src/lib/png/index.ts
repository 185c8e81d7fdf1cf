/**
 * The header of a PNG: signature and size, without decoding the picture. Source: the PNG specification (ISO/IEC 15948),
 * signature and IHDR.
 */
export { isPng, PNG_SIGNATURE, pngSize } from './header.ts';
