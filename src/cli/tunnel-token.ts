import { TOKEN_VARIABLE } from '../lib/tunnel/index.ts';
import { readHidden } from './hidden-prompt.ts';

export interface TunnelTokenOptions {
  readonly streams: { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WritableStream };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** The source access token: from the environment, a hidden prompt, or the first line of stdin. Throws INTERRUPTED. */
export async function readTunnelToken({ streams, environment, signal }: TunnelTokenOptions): Promise<string> {
  const value = environment[TOKEN_VARIABLE];
  if (value !== undefined && value !== '') return value;
  const interrupted = 'Interrupted; the token was not used.';
  return await readHidden({ streams, question: 'Source access token: ', interrupted, signal });
}
