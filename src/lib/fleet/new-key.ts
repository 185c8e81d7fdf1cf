import { randomBytes } from 'node:crypto';
import { createKey, KEY_BYTES, keyName } from './keys.ts';

/** A new key as the content of a key file, and its displayed name. */
export function makeKey(): { readonly text: string; readonly name: string } {
  const secret = randomBytes(KEY_BYTES);
  return { text: secret.toString('hex'), name: keyName(createKey(secret)) };
}
