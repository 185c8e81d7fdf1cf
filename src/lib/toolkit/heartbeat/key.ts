import { resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { makeKey } from '../../fleet/index.ts';
import { createFile } from '../../lifecycle/index.ts';
import { loadSite } from '../../site/index.ts';
import type { HeartbeatKey } from './heartbeat.result.ts';

/**
 * Makes a heartbeat key, readable for its owner only, in the configured key file or another one. An existing file is never
 * replaced, because a robot without the key of the site is rejected by all others. Throws
 * SITE_FILE_NOT_FOUND, SITE_FILE_INVALID, FILE_EXISTS, FILE_UNWRITABLE.
 */
export async function newHeartbeatKey(options: {
  readonly sitePath: string;
  readonly file?: string | undefined;
}): Promise<HeartbeatKey> {
  const file = resolve(options.file ?? (await keyFileOf(options.sitePath)));
  const { text, name } = makeKey();
  await createFile(file, `${text}\n`, { mode: 0o600, folderMode: 0o700 }).catch((error: unknown) => {
    if (!(error instanceof GwError) || error.code !== 'FILE_EXISTS') throw error;
    throw new GwError('FILE_EXISTS', `Key file ${file} exists and is not replaced.`, {
      remedy:
        'For a key rotation make the new key in another file: gw heartbeat key new FILE; then see docs/heartbeat.md.',
      cause: error,
    });
  });
  return { file, key: name };
}

const OR_FILE = 'or give a file: gw heartbeat key new FILE';

async function keyFileOf(sitePath: string): Promise<string> {
  const { path, fleet } = await loadSite(sitePath).catch((error: unknown) => {
    if (!(error instanceof GwError) || error.code !== 'SITE_FILE_NOT_FOUND') throw error;
    throw new GwError(error.code, error.message, {
      remedy: `Give the site file with --site FILE, ${OR_FILE}`,
      cause: error,
    });
  });
  if (fleet !== undefined) return fleet.keyFile;
  throw new GwError('SITE_FILE_INVALID', `No fleet.keyFile in ${path}.`, {
    remedy: `Add \`fleet:\` with the line \`keyFile: secrets/heartbeat\`, ${OR_FILE}`,
  });
}
