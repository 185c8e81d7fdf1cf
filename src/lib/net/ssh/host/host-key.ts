import { createHash } from 'node:crypto';

/** The key type in the first field of a public key (RFC 4253, 6.6): `ssh-ed25519`. Null: not a key. */
export function keyTypeOf(blob: Uint8Array): string | null {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  if (bytes.length < 5) return null;
  const length = bytes.readUInt32BE(0);
  if (length === 0 || length > 64 || bytes.length < 4 + length) return null;
  const type = bytes.toString('latin1', 4, 4 + length);
  return /^[a-z0-9][a-z0-9@.-]*$/i.test(type) ? type : null;
}

/** `SHA256:…`, as `ssh-keygen -l` prints it. */
export function fingerprintOf(blob: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

/** The host name as in known_hosts: `192.0.2.7`, `[192.0.2.7]:2222`. */
export function knownHostName(host: string, port: number): string {
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}
