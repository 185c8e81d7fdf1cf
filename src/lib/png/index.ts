/**
 * The header of a PNG, for who needs no more of a picture: what it is, and how large. Source: the PNG specification
 * (ISO/IEC 15948), signature and IHDR.
 */
export { isPng, PNG_SIGNATURE, pngSize } from './header.ts';
