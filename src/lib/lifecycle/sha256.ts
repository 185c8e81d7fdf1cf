import { createHash } from 'node:crypto';

/** What bytes that were kept are known by again, as 64 small hex digits; a text counts in UTF-8. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
