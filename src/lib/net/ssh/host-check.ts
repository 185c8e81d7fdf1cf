import { randomBytes } from 'node:crypto';
import type { ErrorCode } from '../../error/index.ts';
import { foreignText } from './foreign-text.ts';
import { fingerprintOf, keyTypeOf } from './host-key.ts';
import { judgeHostKey, type KnownHost, knownHostLine } from './known-hosts.ts';
import { addKnownHost } from './known-hosts-file.ts';
import type { HostKeyQuestion } from './model.ts';

export interface HostCheckOptions {
  /** As known_hosts writes it. */
  readonly name: string;
  readonly entries: readonly KnownHost[];
  readonly refuse: (code: ErrorCode, message: string, details: Record<string, unknown>) => void;
  readonly tell: (text: string) => void;
  /** Null: an unknown host is refused. */
  readonly ask: ((question: HostKeyQuestion) => Promise<boolean>) | null;
  readonly remember: { readonly file: string | null; readonly hashesNames: boolean };
}

export interface HostCheck {
  /** Whether the host may be spoken to; why not was handed to `refuse`. */
  verify(key: Buffer): Promise<boolean>;
  /** Writes down a host that was trusted now; called once the server has proven that it holds the key. */
  remember(): Promise<void>;
}

/** Looks at the key that a host shows, and keeps looking: keys are exchanged anew now and then. */
export function createHostCheck({ name, entries, refuse, tell, ask, remember }: HostCheckOptions): HostCheck {
  let trusted: Buffer | undefined;
  let line: string | undefined;
  return {
    async verify(key) {
      if (trusted !== undefined) return trusted.equals(key);
      const keyType = foreignText(keyTypeOf(key) ?? 'unknown');
      const fingerprint = fingerprintOf(key);
      const verdict = judgeHostKey(entries, name, key);
      const details = { host: name, keyType, fingerprint };
      const shown = `${keyType} key ${fingerprint}`;
      switch (verdict.kind) {
        case 'known':
          break;
        case 'revoked':
          refuse('SSH_HOST_KEY_REVOKED', `${name} shows the ${shown}, which ${verdict.at} forbids.`, details);
          return false;
        case 'changed': {
          const known = verdict.known.map((entry) => ({ at: entry.at, fingerprint: fingerprintOf(entry.blob) }));
          refuse('SSH_HOST_KEY_CHANGED', changedText(name, shown, verdict.known), { ...details, known });
          return false;
        }
        case 'unknown': {
          const [authority] = verdict.authorities;
          if (authority !== undefined) {
            tell(`${authority} lets an authority vouch for ${name}; gw checks keys only, not certificates.`);
          }
          if (ask === null || !(await ask({ host: name, keyType, fingerprint }))) {
            refuse('SSH_HOST_KEY_UNKNOWN', `${name} is not known here. It shows the ${shown}.`, details);
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
        tell(`${error.message} It will be asked about again.`);
      });
    },
  };
}

function changedText(name: string, shown: string, known: readonly KnownHost[]): string {
  const lines = known.map(({ at, keyType, blob }) => `${at} (${keyType} ${fingerprintOf(blob)})`).join(', ');
  return `${name} shows another key than the one that is known: the ${shown}, but known is ${lines}. Either the machine was set up anew, or another one stands in its place.`;
}
