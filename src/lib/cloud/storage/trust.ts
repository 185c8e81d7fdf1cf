import { asGwError, GwError } from '../../error/index.ts';
import { type Clock, createBackoff, type Log } from '../../lifecycle/index.ts';
import { readSiteCa } from '../../net/path/index.ts';

const CA_RETRY = { firstMs: 1_000, maxMs: 5_000 };

/** The CA certificates to trust for the object storage: those of `cloud.caFile`. */
export interface StorageTrust {
  /**
   * Their PEM; undefined without the file: the CA certificates of Node and the operating system. Throws
   * STORAGE_NOT_REACHABLE while the file cannot be used: transfers wait for it, and a stop does not.
   */
  pem(): string | undefined;
  /** Reads the file, and again until it can be used. Throws only the reason of the signal. */
  read(signal: AbortSignal): Promise<void>;
}

/** `caFile` is `cloud.caFile` of the site file. */
export function createStorageTrust(options: {
  readonly caFile: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): StorageTrust {
  const { caFile, clock, log } = options;
  let trust: { readonly pem: string | undefined } | { readonly error: GwError } =
    caFile === undefined
      ? { pem: undefined }
      : { error: new GwError('STORAGE_NOT_REACHABLE', 'The CA file of the storage has not been read yet.') };

  return {
    pem() {
      if (!('error' in trust)) return trust.pem;
      const { message, remedy } = trust.error;
      throw new GwError('STORAGE_NOT_REACHABLE', message, { remedy });
    },

    async read(signal) {
      const backoff = createBackoff(CA_RETRY, clock);
      for (;;) {
        try {
          trust = { pem: (await readSiteCa(caFile, 'cloud.caFile'))?.pem };
          return;
        } catch (error) {
          trust = { error: asGwError(error) };
          log.error({ error: trust.error.message }, 'no transfer with the object storage: the CA file is unusable');
          await clock.sleep(backoff.nextMs(), signal);
        }
      }
    },
  };
}
