import { randomBytes } from 'node:crypto';
import { createKey, KEY_BYTES, keyName } from './keys.ts';

/** A new key as the file of a site holds it, and the name by which keys are told apart. */
export function makeKey(): { readonly text: string; readonly name: string } {
  const secret = randomBytes(KEY_BYTES);
  return { text: secret.toString('hex'), name: keyName(createKey(secret)) };
}
