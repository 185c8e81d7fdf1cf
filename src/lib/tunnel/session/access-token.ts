import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { sha256 } from '../../lifecycle/index.ts';
// The daemon must not load the WebSocket, as the index would.
import { withoutTokens } from '../link/redaction.ts';

const SHOWN = '[access token]';
const HASH_DIGITS = 32;
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

  /** The text without the token and without any part of it that a limit may have left. */
  scrub(text: string): string {
    return withoutTokens(text, [this.#value]);
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
