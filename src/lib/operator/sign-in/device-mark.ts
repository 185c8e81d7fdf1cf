import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { PasswordHash } from './password-hash.ts';

/**
 * A signed mark that a browser keeps after its first sign-in, also after sign-out. It grants no access: a device with a
 * mark only gets priority when many sign in at once, so that a flood of sign-ins does not block the tablet. The signing
 * key is derived from the password hash, so a mark survives a restart and not a new password.
 */
export interface DeviceMarks {
  /** Reuses the name of a valid earlier mark. */
  make(name: string | null): string;
  /** Name of the device; null when the mark is invalid. */
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
