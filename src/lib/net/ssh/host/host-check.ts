import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '../../../error/index.ts';
import { foreignText } from '../foreign-text.ts';
import type { HostKeyQuestion } from '../model.ts';
import {
  addKnownHost,
  fingerprintOf,
  type HostKeyVerdict,
  judgeHostKey,
  type KnownHost,
  keyTypeOf,
  knownHostLine,
} from './known-hosts.ts';

export interface HostCheckOptions {
  /** As known_hosts writes it. */
  readonly name: string;
  readonly entries: readonly KnownHost[];
  /** The file of `RevokedHostKeys` that has this key; null: none. */
  readonly revokedBy: (key: Uint8Array) => string | null;
  readonly refuse: (code: ErrorCode, message: string, details: Record<string, unknown>) => void;
  readonly notify: (text: string) => void;
  /** Null: an unknown host key is rejected. */
  readonly ask: ((question: HostKeyQuestion) => Promise<boolean>) | null;
  readonly remember: { readonly file: string | null; readonly hashesNames: boolean };
}

export interface HostCheck {
  /** Whether the host key is trusted; the reason against it is passed to `refuse`. */
  verify(key: Buffer): Promise<boolean>;
  /** Adds a newly trusted host to known_hosts; called once the server has proven possession of the key. */
  remember(): Promise<void>;
}

/** Verifies the host key, also at each rekeying of the connection. */
export function createHostCheck({
  name,
  entries,
  revokedBy,
  refuse,
  notify,
  ask,
  remember,
}: HostCheckOptions): HostCheck {
  let trusted: Buffer | undefined;
  let line: string | undefined;
  return {
    async verify(key) {
      if (trusted !== undefined) return trusted.equals(key);
      const keyType = foreignText(keyTypeOf(key) ?? 'unknown');
      const fingerprint = fingerprintOf(key);
      const revokedIn = revokedBy(key);
      const verdict: HostKeyVerdict =
        revokedIn === null ? judgeHostKey(entries, name, key) : { kind: 'revoked', at: revokedIn };
      const details = { host: name, keyType, fingerprint };
      const shown = `${keyType} key ${fingerprint}`;
      switch (verdict.kind) {
        case 'known':
          break;
        case 'revoked':
          refuse('SSH_HOST_KEY_REVOKED', `Host key of ${name} is revoked by ${verdict.at}: ${shown}.`, details);
          return false;
        case 'changed': {
          const known = verdict.known.map((entry) => ({ at: entry.at, fingerprint: fingerprintOf(entry.blob) }));
          refuse('SSH_HOST_KEY_CHANGED', changedText(name, shown, verdict.known), { ...details, known });
          return false;
        }
        case 'unknown': {
          const [certAuthority] = verdict.certAuthorities;
          if (certAuthority !== undefined) {
            notify(
              `${certAuthority} names a @cert-authority for ${name}; gw verifies host keys, not host certificates.`,
            );
          }
          if (ask === null || !(await ask({ host: name, keyType, fingerprint }))) {
            refuse('SSH_HOST_KEY_UNKNOWN', `Host key of ${name} is unknown and was not confirmed: ${shown}.`, details);
            return false;
          }
          line = knownHostLine(name, key, remember.hashesNames ? randomBytes(20) : null);
        }
      }
      trusted = key;
      return true;
    },
    async remember() {
      const written = line;
      line = undefined;
      if (written === undefined || remember.file === null) return;
      await addKnownHost(remember.file, written).catch((error: Error) => {
        notify(`${error.message} The next connection asks again.`);
      });
    },
  };
}

function changedText(name: string, shown: string, known: readonly KnownHost[]): string {
  const lines = known.map(({ at, keyType, blob }) => `${at} (${keyType} ${fingerprintOf(blob)})`).join(', ');
  return `Host key of ${name} has changed: received ${shown}, known ${lines}. Either the host was reinstalled, or another host answers at its address.`;
}
