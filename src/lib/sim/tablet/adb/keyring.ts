import type { Clock } from '../../../lifecycle/index.ts';
import { type HostKey, isSignedBy } from './host-key.ts';

/** Answer of the person at the tablet to 'Allow debugging?': at once, after a delay, or never. */
export type PromptAnswer = 'at-once' | 'never' | { readonly afterMs: number };

const MAX_KEYS = 64;

/** The allowed keys of debugging hosts, and the prompts for further keys. */
export function createKeyring(answer: () => PromptAnswer, clock: Clock) {
  const allowed = new Map<string, HostKey>();
  const unanswered = new Set<() => void>();
  let promptCount = 0;

  return {
    /** Number of prompts shown. */
    prompts: (): number => promptCount,
    allowed: (): readonly HostKey[] => [...allowed.values()],
    /** The allowed key that signed this token, if any. */
    signer: (token: Buffer, signature: Buffer): HostKey | undefined =>
      [...allowed.values()].find((key) => isSignedBy(key, token, signature)),
    /** Removes all allowed keys and prompts. */
    revoke(): void {
      allowed.clear();
      unanswered.clear();
    },
    /** The person allows every pending prompt. */
    allowAll(): void {
      for (const settle of unanswered) settle();
    },
    /** Shows a prompt; `allow` is called when the person allows it. Disposing removes the prompt. */
    prompt(key: HostKey, allow: () => void): Disposable {
      promptCount += 1;
      const settle = () => {
        if (!unanswered.delete(settle)) return;
        if (allowed.size >= MAX_KEYS) allowed.delete(allowed.keys().next().value ?? '');
        allowed.set(key.fingerprint, key);
        allow();
      };
      unanswered.add(settle);
      const reaction = answer();
      const timer =
        reaction === 'never' ? undefined : clock.after(reaction === 'at-once' ? 0 : reaction.afterMs, settle);
      return {
        [Symbol.dispose]() {
          unanswered.delete(settle);
          timer?.[Symbol.dispose]();
        },
      };
    },
  };
}

export type Keyring = ReturnType<typeof createKeyring>;
