import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { sha256 } from '../../lifecycle/index.ts';

const SHOWN = '[access token]';
const HASH_DIGITS = 32;
/** A shorter piece of a token says nothing about the rest of it. */
const PIECE_LENGTH = 12;
const CLIENT_TOKEN_BYTES = 32;

/**
 * A token of the tunnel service, in memory only. Whatever prints it prints `[access token]`; only the environment of the
 * proxy contains its value.
 */
export class AccessToken {
  readonly #value: string;
  /** First 32 hex digits of the SHA-256 of the value. */
  readonly hash: string;

  constructor(value: string) {
    this.#value = value;
    this.hash = sha256(value).slice(0, HASH_DIGITS);
  }

  /** The value, for the environment of the proxy only. */
  reveal(): string {
    return this.#value;
  }

  /** The text without the token and without any piece of it from 12 characters on: a limit may have cut it. */
  scrub(text: string): string {
    const length = Math.min(PIECE_LENGTH, this.#value.length);
    if (length === 0 || text.length < length) return text;
    const pieces = new Set<string>();
    for (let at = 0; at + length <= this.#value.length; at += 1) pieces.add(this.#value.slice(at, at + length));
    let scrubbed = '';
    let hiddenUntil = 0;
    for (let at = 0; at < text.length; at += 1) {
      if (pieces.has(text.slice(at, at + length))) {
        if (at >= hiddenUntil) scrubbed += SHOWN;
        hiddenUntil = at + length;
      }
      if (at >= hiddenUntil) scrubbed += text[at];
    }
    return scrubbed;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}

/**
 * The second secret of one session: with it the proxy may connect again with the same access token. The prefix makes it
 * recognisable where it must not be.
 * @source vendor (HINWEIS): 32 to 128 letters, digits and `-`, unique
 */
export function newClientToken(): AccessToken {
  return new AccessToken(`gwct-${randomBytes(CLIENT_TOKEN_BYTES).toString('hex')}`);
}
