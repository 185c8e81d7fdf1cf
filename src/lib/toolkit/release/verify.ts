import { keyFingerprint, readReleaseKeys, verifyPackage } from '../../cloud/index.ts';
import { loadSite } from '../../site/index.ts';
import { releaseOf } from './key.ts';
import type { ReleaseVerify } from './release.result.ts';

/**
 * Verifies a release package with the key of `--key` or of the site file. Throws RELEASE_INVALID with every problem,
 * FILE_UNREADABLE, SITE_FILE_INVALID.
 */
export async function verifyRelease(options: {
  readonly path: string;
  readonly keyFile: string | undefined;
  readonly sitePath: string;
  readonly signal: AbortSignal;
}): Promise<ReleaseVerify> {
  const { path, keyFile, sitePath, signal } = options;
  const file = keyFile ?? releaseOf(await loadSite(sitePath)).keyFile;
  const { manifest, bytes, sha256, signer } = await verifyPackage(path, { keys: await readReleaseKeys(file), signal });
  const { version, minimumVersion, files } = manifest;
  return {
    verdict: 'ok',
    file: path,
    bytes,
    sha256,
    version,
    minimumVersion,
    files: files.length,
    unpackedBytes: files.reduce((sum, file) => sum + file.bytes, 0),
    key: { file, fingerprintSha256: keyFingerprint(signer) },
  };
}
