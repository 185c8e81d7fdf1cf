import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** scrypt parameters; N is 2^ln. */
interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

export interface PasswordHash {
  readonly cost: Cost;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** 32 MiB and about 0.1 s on a small gateway. Project decision. */
const COST: Cost = { ln: 15, r: 8, p: 1 };

/** A hash file could demand any amount of memory; beyond this it is rejected. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;

const PHC = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

/** Longer passwords are rejected before hashing. */
export const MAX_PASSWORD_LENGTH = 256;
export const MIN_PASSWORD_LENGTH = 8;

/** `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, base64 without padding: PHC string format. */
export async function hashPassword(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  const hash = await derive(password, salt, COST, 32);
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(salt)}$${base64(hash)}`;
}

/** null when the text is no such hash, or its parameters exceed the limits. */
export function parsePasswordHash(text: string): PasswordHash | null {
  const match = PHC.exec(text.trim());
  if (!match) return null;
  const [, ln, r, p, salt = '', hash = ''] = match;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (cost.ln < 10 || cost.r < 1 || cost.p < 1 || cost.p > 4 || memoryOf(cost) > MAX_MEMORY_BYTES) return null;
  return { cost, salt: Buffer.from(salt, 'base64'), hash: Buffer.from(hash, 'base64') };
}

/** Constant time. */
export async function verifyPassword(password: string, { cost, salt, hash }: PasswordHash): Promise<boolean> {
  return timingSafeEqual(await derive(password, salt, cost, hash.length), hash);
}

function derive(password: string, salt: Buffer, cost: Cost, length: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const options = { N: 2 ** cost.ln, r: cost.r, p: cost.p, maxmem: memoryOf(cost) + 1024 * 1024 };
  // The same characters may be typed as different code points on tablet and laptop.
  scrypt(password.normalize('NFC'), salt, length, options, (error, key) => {
    if (error) reject(error);
    else resolve(key);
  });
  return promise;
}

function memoryOf({ ln, r, p }: Cost): number {
  return 128 * 2 ** ln * r + 128 * r * p;
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
