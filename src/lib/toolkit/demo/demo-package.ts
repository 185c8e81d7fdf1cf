import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import { readWhole, replaceFile } from '../../lifecycle/index.ts';
import { copyInstallation } from '../release/installation.ts';
import { makeRelease } from '../release/make.ts';

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

/**
 * Makes a release of this installation (`root`) under another version, whole with its libraries, as `gw release make` does,
 * signed with the key of the simulator in `dir`. Returns the path of the package. Throws FILE_UNREADABLE,
 * FILE_UNWRITABLE, RELEASE_INVALID.
 */
export async function makeDemoPackage(options: {
  readonly root: string;
  readonly dir: string;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (text: string) => void;
}): Promise<string> {
  const { root, dir, version, signal, onProgress = () => {} } = options;
  const folder = await mkdtemp(join(dir, 'release-'));
  try {
    let copied = 0;
    const onFile = () => {
      copied += 1;
      onProgress(`copying this installation, ${copied} files`);
    };
    await copyInstallation(root, folder, { signal, onFile });
    onProgress(`signing the package of ${copied} files`);
    for (const name of ['package.json', 'oclif.manifest.json']) {
      const path = join(folder, name);
      const read = readJsonBytes(await readWhole(path, MAX_MANIFEST_BYTES), 'file');
      if (!read.ok || !isRecord(read.value)) throw new GwError('FILE_UNREADABLE', `${path} is not a JSON object.`);
      await replaceFile(path, JSON.stringify({ ...read.value, version }));
    }
    const keyFile = join(dir, 'secrets', 'release-signing-key.pem');
    const out = join(dir, `gw-${version}.release.tar`);
    const made = await makeRelease({ folder, keyFile, out, minimumVersion: '0.0.0', force: true, signal });
    return made.file;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
