import { randomBytes, randomInt, scrypt } from 'node:crypto';

const COST = { N: 2 ** 15, r: 8, p: 1 } as const;
const HASH_BYTES = 32;
/** Letters and digits without characters that look alike. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
const LENGTH = 12;

export function generatePassword(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
}

/** Hash of a device password for the operator server: one line in PHC form, base64 without padding. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await new Promise<Buffer>((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, { ...COST, maxmem: 64 * 1024 * 1024 }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$scrypt$ln=15,r=${COST.r},p=${COST.p}$${text(salt)}$${text(hash)}`;
}
