import { createPrivateKey, type KeyObject } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';

/**
 * Parses a private key: the formats of the library, and PKCS#8 (`BEGIN PRIVATE KEY`, `BEGIN ENCRYPTED PRIVATE KEY`), which
 * OpenSSH reads and the library does not. An error says `no passphrase given` where one is missing.
 */
export function parsePrivateKey(text: string, passphrase?: string): ParsedKey | Error {
  if (!/-{5}BEGIN (?:ENCRYPTED )?PRIVATE KEY-{5}/.test(text)) return ssh2.utils.parseKey(text, passphrase);
  if (passphrase === undefined && text.includes('BEGIN ENCRYPTED')) return new Error('no passphrase given');
  let key: KeyObject;
  try {
    key = createPrivateKey({ key: text, format: 'pem', ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    return error as Error;
  }
  const converted = convert(key);
  return converted === null ? new Error('unsupported type of key') : ssh2.utils.parseKey(converted);
}

function convert(key: KeyObject): string | null {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return key.export({ type: 'pkcs1', format: 'pem' }).toString();
    case 'ec':
      return key.export({ type: 'sec1', format: 'pem' }).toString();
    case 'ed25519':
      return ed25519Text(key);
    default:
      return null;
  }
}

/** In OpenSSH's own format, the only one in which the library reads this type. @source OpenSSH, PROTOCOL.key */
function ed25519Text(key: KeyObject): string {
  const { d = '', x = '' } = key.export({ format: 'jwk' });
  const [seed, point] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  const publicKey = Buffer.concat([field('ssh-ed25519'), field(point)]);
  const check = Buffer.alloc(8);
  const content = Buffer.concat([check, publicKey, field(Buffer.concat([seed, point])), field('')]);
  const padding = Buffer.from(Array.from({ length: -content.length & 7 }, (_, index) => index + 1));
  const whole = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    ...['none', 'none', ''].map(field),
    uint32(1),
    field(publicKey),
    field(Buffer.concat([content, padding])),
  ]);
  const lines = whole.toString('base64').match(/.{1,70}/g) ?? [];
  const label = 'OPENSSH PRIVATE KEY';
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function field(content: Buffer | string): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
