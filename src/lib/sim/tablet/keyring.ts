import type { Clock } from '../../lifecycle/index.ts';
import { type HostKey, isSignedBy } from './host-key.ts';

/** What the person at the tablet does with 'Allow debugging?': allows at once, after so many ms, or never answers. */
export type PromptAnswer = 'at-once' | 'never' | { readonly afterMs: number };

const MOST_KEYS = 64;

/** The machines that may debug this tablet, and the question on its screen for those that may not yet. */
export function createKeyring(answer: () => PromptAnswer, clock: Clock) {
  const allowed = new Map<string, HostKey>();
  const unanswered = new Set<() => void>();
  let asked = 0;

  return {
    /** How often the question stood on the screen. */
    prompts: (): number => asked,
    allowed: (): readonly HostKey[] => [...allowed.values()],
    /** The allowed key that signed this token, if one did. */
    signer: (token: Buffer, signature: Buffer): HostKey | undefined =>
      [...allowed.values()].find((key) => isSignedBy(key, token, signature)),
    /** Takes every permission back, and every question away. */
    revoke(): void {
      allowed.clear();
      unanswered.clear();
    },
    /** The person comes after all and says yes to every question that stands there. */
    answerAll(): void {
      for (const settle of unanswered) settle();
    },
    /** Puts the question on the screen; `allow` is called when the person says yes. Disposing takes it away. */
    ask(key: HostKey, allow: () => void): Disposable {
      asked += 1;
      const settle = () => {
        if (!unanswered.delete(settle)) return;
        if (allowed.size >= MOST_KEYS) allowed.delete(allowed.keys().next().value ?? '');
        allowed.set(key.fingerprint, key);
        allow();
      };
      unanswered.add(settle);
      const given = answer();
      const timer = given === 'never' ? undefined : clock.after(given === 'at-once' ? 0 : given.afterMs, settle);
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
