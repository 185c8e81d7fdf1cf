import type { ServerHostKeyAlgorithm } from 'ssh2';
import type { KnownHost } from './known-hosts.ts';

const algorithms: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];

/** Host key algorithms with a known key first, so that the server presents a key that can be compared. */
export function hostKeyAlgorithmsFor(entries: readonly KnownHost[]): ServerHostKeyAlgorithm[] {
  const types = new Set(entries.filter(({ kind }) => kind === 'key').map(({ keyType }) => keyType));
  const isKnown = (algorithm: string) => types.has(algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm);
  return [...algorithms.filter(isKnown), ...algorithms.filter((algorithm) => !isKnown(algorithm))];
}
