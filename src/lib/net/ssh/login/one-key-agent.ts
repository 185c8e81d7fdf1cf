import ssh2, { type IdentityCallback, type ParsedKey, type SignCallback, type SigningRequestOptions } from 'ssh2';
import type { Identity } from './identities.ts';

/**
 * One key wrapped as an agent: the library asks an agent to sign only once the server accepts the public key, so that no
 * passphrase is asked for in vain.
 */
export class OneKeyAgent extends ssh2.BaseAgent<ParsedKey> {
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
