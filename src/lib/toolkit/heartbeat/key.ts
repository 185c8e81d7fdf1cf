import { resolve } from 'node:path';
import { GwError } from '../../error/index.ts';
import { makeKey } from '../../fleet/index.ts';
import { createFile } from '../../lifecycle/index.ts';
import { loadSite } from '../../site/index.ts';
import type { HeartbeatKey } from './key.result.ts';

/**
 * Makes a key for the heartbeat of a site, readable for its owner only, in the file that the site file names or in
 * another one. A file that is there stays: a robot whose key is gone is a stranger to all others. Throws
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
    throw new GwError('FILE_EXISTS', `${file} is there already, and a key that others have must not be lost.`, {
      remedy: 'To change the key of a site, make the new one in another file and accept it everywhere first.',
      cause: error,
    });
  });
  return { file, key: name };
}

const OR_FILE = 'or name a file for the key: gw heartbeat key new FILE.';

async function keyFileOf(sitePath: string): Promise<string> {
  const { path, fleet } = await loadSite(sitePath).catch((error: unknown) => {
    if (!(error instanceof GwError) || error.code !== 'SITE_FILE_NOT_FOUND') throw error;
    throw new GwError(error.code, error.message, { remedy: `Name it with --site FILE, ${OR_FILE}`, cause: error });
  });
  if (fleet !== undefined) return fleet.keyFile;
  throw new GwError('SITE_FILE_INVALID', `${path} names no file for the key of the heartbeat.`, {
    remedy: `Add \`fleet:\` with the line \`keyFile: secrets/heartbeat\`, ${OR_FILE}`,
  });
}
