import type { AnyAuthMethod, AuthenticationType, Prompt } from 'ssh2';
import { foreignText } from './foreign-text.ts';
import type { Identities } from './identities.ts';
import type { SecretQuestion } from './model.ts';
import { OneKeyAgent } from './one-key-agent.ts';

export interface LoginOptions {
  readonly user: string;
  /** `technician@192.0.2.2:22`. */
  readonly where: string;
  readonly identities: Identities;
  /** Null: nobody can be asked. */
  readonly askSecret: ((question: SecretQuestion) => Promise<string | null>) | null;
}

export interface Login {
  /** What is tried next; false: nothing is left. `left`: what the server takes, null before it said so. */
  next(left: readonly AuthenticationType[] | null): Promise<AnyAuthMethod | false>;
  /** What was tried and what the server takes, for the message when nobody was let in. */
  story(): string;
}

const TRIES = 3;
/** A server that asks for more than this plays with the person. */
const MOST_PROMPTS = 20;

/** The order of OpenSSH: keys, then what the server asks for, then a password. Each key is an attempt of its own. */
export function createLogin({ user: username, where, identities, askSecret }: LoginOptions): Login {
  const keys = [...identities.offers];
  const tried: string[] = [];
  let takes: readonly string[] | null = null;
  let isTaken = false;
  let isStale = false;
  let isGivenUp = askSecret === null;
  let questions = 0;
  let passwords = 0;
  let prompted = 0;
  /** Whether the server has asked something in the last round of questions. */
  let wasAsked = true;

  /**
   * The library does not tell that a key was taken and what is wanted beside it: a signature that was not enough does,
   * and what is wanted then is asked for.
   */
  const onSign = () => {
    isTaken = true;
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
      if (prompted > MOST_PROMPTS) isGivenUp = true;
      const text = `${where}${about === '' ? '' : ` (${about})`}: ${foreignText(prompt)} `;
      const answer = isGivenUp ? null : ((await askSecret?.({ text, shown: echo === true })) ?? null);
      if (answer === null) isGivenUp = true;
      given.push(answer ?? '');
    }
    return given;
  }

  async function nextQuestion(): Promise<AnyAuthMethod | null> {
    if (isGivenUp || takes === null) return null;
    if (takes.includes('keyboard-interactive') && questions < TRIES && wasAsked) {
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
    // A server that asked by itself takes the same password both ways.
    if (!takes.includes('password') || passwords >= TRIES || (questions > 0 && wasAsked)) return null;
    passwords += 1;
    const password = (await askSecret?.({ text: `Password of ${where}: `, shown: false })) ?? null;
    if (password !== null) return { type: 'password', username, password };
    isGivenUp = true;
    return null;
  }

  return {
    async next(left) {
      if (isStale || (left === null && takes === null)) {
        isStale = false;
        takes = [];
        return { type: 'none', username };
      }
      takes = left ?? takes ?? [];
      const key = takes.includes('publickey') ? nextKey() : null;
      return key ?? (await nextQuestion()) ?? false;
    },
    story() {
      const parts = [
        tried.length === 0 ? 'no key was offered' : `offered: ${tried.join(', ')}`,
        ...(isTaken ? ['a key was taken, and the server wants more'] : []),
        ...(questions + passwords > 0 ? ['a password was asked for'] : []),
        ...(askSecret === null ? ['nobody can be asked for a password here'] : []),
      ];
      const wants = (takes ?? []).map(foreignText).join(', ');
      return `${parts.join('; ')}${wants === '' ? '' : `; the server takes: ${wants}`}`;
    },
  };
}
