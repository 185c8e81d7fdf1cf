import ssh2, { type IdentityCallback, type ParsedKey, type SignCallback, type SigningRequestOptions } from 'ssh2';
import type { Identity } from './identities.ts';

/**
 * One key in the form of an agent: the library asks an agent to sign only once the server wants the key, so that no
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
    const tell = typeof options === 'function' ? options : callback;
    const hash = typeof options === 'function' ? undefined : options.hash;
    this.#identity.sign(data, hash).then(
      (signature) => {
        this.#onSign();
        tell?.(null, signature);
      },
      (error: Error) => tell?.(error),
    );
  }
}
