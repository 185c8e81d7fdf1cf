import { createHash } from 'node:crypto';
import { GwError } from '../../../error/index.ts';
import { readWhole } from '../../../lifecycle/index.ts';
import { keyTypeOf } from './known-hosts.ts';

/** Whether a public key is revoked, by the bytes of RFC 4253, 6.6. */
export type IsRevoked = (blob: Uint8Array) => boolean;

const MAGIC = 'SSHKRL\n\0';
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads the file of `RevokedHostKeys`. Throws FILE_UNREADABLE also for a missing or malformed file: OpenSSH rejects every
 * host then (ssh_config(5)).
 */
export async function readRevokedKeys(path: string): Promise<IsRevoked> {
  const refuse = (why: string, cause?: unknown) =>
    new GwError('FILE_UNREADABLE', `Revoked host keys ${path} ${why}; no host is trusted without them.`, {
      remedy: 'Correct the file, or RevokedHostKeys in ~/.ssh/config.',
      cause,
    });
  let bytes: Buffer;
  try {
    bytes = Buffer.from(await readWhole(path, MAX_BYTES));
  } catch (cause) {
    throw refuse(`cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
  const found = parseRevokedKeys(bytes);
  if (found === null) throw refuse('are malformed');
  return found;
}

/** Public keys, one a line, or a key revocation list of `ssh-keygen -k`. Null: malformed. */
export function parseRevokedKeys(bytes: Buffer): IsRevoked | null {
  return bytes.toString('latin1', 0, MAGIC.length) === MAGIC ? parseList(bytes) : parseLines(bytes.toString('latin1'));
}

function parseLines(text: string): IsRevoked | null {
  const keys = new Set<string>();
  for (const line of text.split('\n')) {
    const [type, base64 = ''] = line.trim().split(/\s+/);
    if (type === undefined || type === '' || type.startsWith('#')) continue;
    const blob = Buffer.from(base64, 'base64');
    if (!/^[A-Za-z0-9+/]+=*$/.test(base64) || keyTypeOf(blob) !== type) return null;
    keys.add(blob.toString('hex'));
  }
  return (blob) => keys.has(Buffer.from(blob).toString('hex'));
}

const CERTIFICATES = 1;
const EXPLICIT_KEYS = 2;
const FINGERPRINTS_SHA1 = 3;
const SIGNATURE = 4;
const FINGERPRINTS_SHA256 = 5;
/** Version of the format, version of the list, date and flags. */
const FIXED_BYTES = 4 + 8 + 8 + 8;

/** Certificates are skipped, since none is accepted. @source OpenSSH, PROTOCOL.krl */
function parseList(bytes: Buffer): IsRevoked | null {
  const fields = fieldsOf(bytes, MAGIC.length + FIXED_BYTES);
  if (bytes.length < MAGIC.length + FIXED_BYTES || bytes.readUInt32BE(MAGIC.length) !== 1) return null;
  // Reserved, and a comment.
  if (fields.next() === null || fields.next() === null) return null;
  const sets = {
    [EXPLICIT_KEYS]: new Set<string>(),
    [FINGERPRINTS_SHA1]: new Set<string>(),
    [FINGERPRINTS_SHA256]: new Set<string>(),
  };
  while (!fields.isAtEnd()) {
    const section = fields.byte();
    const data = fields.next();
    if (data === null) return null;
    if (section === CERTIFICATES) continue;
    if (section === SIGNATURE) {
      if (fields.next() === null) return null;
      continue;
    }
    const set = sets[section as keyof typeof sets];
    // Such as a critical extension of a later version.
    if (set === undefined) return null;
    const entries = fieldsOf(data, 0);
    while (!entries.isAtEnd()) {
      const entry = entries.next();
      if (entry === null) return null;
      set.add(entry.toString('hex'));
    }
  }
  return (blob) =>
    sets[EXPLICIT_KEYS].has(Buffer.from(blob).toString('hex')) ||
    sets[FINGERPRINTS_SHA1].has(createHash('sha1').update(blob).digest('hex')) ||
    sets[FINGERPRINTS_SHA256].has(createHash('sha256').update(blob).digest('hex'));
}

/** Reads strings with their length before them (RFC 4251, 5); null where the bytes end before. */
function fieldsOf(bytes: Buffer, from: number) {
  let at = from;
  return {
    isAtEnd: () => at >= bytes.length,
    byte(): number {
      at += 1;
      return bytes[at - 1] ?? 0;
    },
    next(): Buffer | null {
      if (at + 4 > bytes.length) return null;
      const length = bytes.readUInt32BE(at);
      at += 4 + length;
      return at > bytes.length ? null : bytes.subarray(at - length, at);
    },
  };
}
