import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from './password-hash.ts';

/**
 * A mark that a browser keeps after it signed in, also when it signs out. It opens nothing: who shows one is served
 * before strangers when many sign in at once, so that nobody keeps the tablet of this robot out by flooding the sign-in.
 * It is signed with a key that is derived from the password hash: it outlives a restart, and not a new password.
 */
export interface DeviceMarks {
  /** Keeps the name that a good mark had. */
  make(name: string | null): string;
  /** Name of the device; null when the mark is not one of ours. */
  nameOf(mark: string): string | null;
}

const NAME_BYTES = 16;
const MARK = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

export function createDeviceMarks({ salt, hash }: Pick<PasswordHash, 'salt' | 'hash'>): DeviceMarks {
  const key = createHmac('sha256', hash).update('gw device mark\0').update(salt).digest();
  const sign = (name: string) => createHmac('sha256', key).update(name).digest();
  return {
    make(kept) {
      const name = kept ?? randomBytes(NAME_BYTES).toString('base64url');
      return `${name}.${sign(name).toString('base64url')}`;
    },
    nameOf(mark) {
      const [, name = '', signature = ''] = MARK.exec(mark) ?? [];
      const given = Buffer.from(signature, 'base64url');
      const own = sign(name);
      return given.length === own.length && timingSafeEqual(given, own) ? name : null;
    },
  };
}
