import type {
  AnyAuthMethod,
  AuthenticationType,
  IdentityCallback,
  ParsedKey,
  Prompt,
  SignCallback,
  SigningRequestOptions,
} from 'ssh2';
import ssh2 from 'ssh2';
import { foreignText } from '../foreign-text.ts';
import type { SecretQuestion } from '../model.ts';
import type { Identities, Identity } from './identities.ts';

export interface LoginOptions {
  readonly user: string;
  /** `technician@192.0.2.2:22`. */
  readonly where: string;
  readonly identities: Identities;
  /** Null: no terminal to ask at. */
  readonly askSecret: ((question: SecretQuestion) => Promise<string | null>) | null;
}

export interface Login {
  /** The next method; false: none left. `left`: the methods that the server accepts; null before its first reply. */
  next(left: readonly AuthenticationType[] | null): Promise<AnyAuthMethod | false>;
  /** The methods tried and those that the server accepts, for the error message. */
  attempts(): string;
}

const MAX_ATTEMPTS = 3;
/** Bound for prompts of a hostile server. */
const MAX_PROMPTS = 20;

/** OpenSSH's order: publickey, keyboard-interactive, password. Each key is an attempt of its own. */
export function createLogin({ user: username, where, identities, askSecret }: LoginOptions): Login {
  const keys = [...identities.offers];
  const tried: string[] = [];
  let accepts: readonly string[] | null = null;
  let isPartialSuccess = false;
  let isStale = false;
  let isGivenUp = askSecret === null;
  let questions = 0;
  let passwords = 0;
  let prompted = 0;
  /** Whether the last keyboard-interactive round had prompts. */
  let wasAsked = true;

  /**
   * The library does not report partial success. A signature that did not complete the login implies it; the methods
   * that can continue are then queried with `none`.
   */
  const onSign = () => {
    isPartialSuccess = true;
    isStale = true;
  };

  function nextKey(): AnyAuthMethod | null {
    const key = keys.shift();
    if (key === undefined) return null;
    tried.push(key.label);
    return { type: 'agent', username, agent: new OneKeyAgent(key, onSign) };
  }

  async function answers(instructions: string, prompts: readonly Prompt[]): Promise<string[]> {
    const about = foreignText(instructions);
    const given: string[] = [];
    for (const { prompt, echo } of prompts) {
      wasAsked = true;
      prompted += 1;
      if (prompted > MAX_PROMPTS) isGivenUp = true;
      const text = `${where}${about === '' ? '' : ` (${about})`}: ${foreignText(prompt)} `;
      const answer = isGivenUp ? null : ((await askSecret?.({ text, echo: echo === true })) ?? null);
      if (answer === null) isGivenUp = true;
      given.push(answer ?? '');
    }
    return given;
  }

  async function nextQuestion(): Promise<AnyAuthMethod | null> {
    if (isGivenUp || accepts === null) return null;
    if (accepts.includes('keyboard-interactive') && questions < MAX_ATTEMPTS && wasAsked) {
      questions += 1;
      wasAsked = false;
      return {
        type: 'keyboard-interactive',
        username,
        prompt: (_name, instructions, _language, prompts, finish) => {
          void answers(instructions, prompts).then(finish, () => finish([]));
        },
      };
    }
    // With prompts in keyboard-interactive, the password method would ask for the same password.
    if (!accepts.includes('password') || passwords >= MAX_ATTEMPTS || (questions > 0 && wasAsked)) return null;
    passwords += 1;
    const password = (await askSecret?.({ text: `Password for ${where}: `, echo: false })) ?? null;
    if (password !== null) return { type: 'password', username, password };
    isGivenUp = true;
    return null;
  }

  return {
    async next(left) {
      if (isStale || (left === null && accepts === null)) {
        isStale = false;
        accepts = [];
        return { type: 'none', username };
      }
      accepts = left ?? accepts ?? [];
      const key = accepts.includes('publickey') ? nextKey() : null;
      return key ?? (await nextQuestion()) ?? false;
    },
    attempts() {
      const parts = [
        tried.length === 0 ? 'no key was offered' : `offered: ${tried.join(', ')}`,
        ...(isPartialSuccess ? ['partial success with a key, further authentication required'] : []),
        ...(questions + passwords > 0 ? ['password tried'] : []),
        ...(askSecret === null ? ['no terminal to ask for a password'] : []),
      ];
      const accepted = (accepts ?? []).map(foreignText).join(', ');
      return `${parts.join('; ')}${accepted === '' ? '' : `; the server accepts: ${accepted}`}`;
    },
  };
}

/**
 * One key wrapped as an agent: the library asks an agent to sign only once the server accepts the public key, so that no
 * passphrase is asked for in vain.
 */
class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #identity: Identity;
  readonly #onSign: () => void;

  constructor(identity: Identity, onSign: () => void) {
    super();
    this.#identity = identity;
    this.#onSign = onSign;
  }

  override getIdentities(callback: IdentityCallback<ParsedKey>): void {
    this.#identity.publicKey().then(
      (key) => callback(null, [key]),
      (error: Error) => callback(error),
    );
  }

  override sign(
    _key: ParsedKey,
    data: Buffer,
    options: SigningRequestOptions | SignCallback,
    callback?: SignCallback,
  ): void {
    const done = typeof options === 'function' ? options : callback;
    const hash = typeof options === 'function' ? undefined : options.hash;
    this.#identity.sign(data, hash).then(
      (signature) => {
        this.#onSign();
        done?.(null, signature);
      },
      (error: Error) => done?.(error),
    );
  }
}
