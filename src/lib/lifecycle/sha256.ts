import { createHash } from 'node:crypto';

/** SHA-256 as 64 lower-case hex digits; text is hashed as UTF-8. */
export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
