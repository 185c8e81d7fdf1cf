import { z } from 'zod';
import { inspectPackage, keyFingerprint, readReleaseKeys } from '../../cloud/index.ts';
import { readJsonBytes } from '../../json/index.ts';
import type { ReleaseInspect } from './release.result.ts';

const ORIGIN = 'origin.json';
const MAX_ORIGIN_BYTES = 4 * 1024;
const originShape = z.looseObject({ commit: z.string().max(100), sourceTime: z.iso.datetime() });

/**
 * What is in a release package, every file compared with its manifest; whose manifest it is only with `keyFile`. Throws
 * RELEASE_INVALID with every problem, FILE_UNREADABLE.
 */
export async function inspectRelease(options: {
  readonly path: string;
  readonly keyFile: string | undefined;
  readonly signal: AbortSignal;
}): Promise<ReleaseInspect> {
  const { path, keyFile, signal } = options;
  const keys = keyFile === undefined ? null : await readReleaseKeys(keyFile);
  const origin: Uint8Array[] = [];
  const { manifest, bytes, sha256, signer } = await inspectPackage(path, {
    keys,
    signal,
    sink: {
      onManifest: () => {},
      openFile: async (file) => ({
        write: async (chunk) => {
          if (file.path === ORIGIN && file.bytes <= MAX_ORIGIN_BYTES) origin.push(chunk);
        },
        close: async () => {},
      }),
    },
  });
  const { version, minimumVersion, files } = manifest;
  const read = readJsonBytes(Buffer.concat(origin), 'file');
  const { success, data } = originShape.safeParse(read.ok ? read.value : null);
  return {
    verdict: signer === null ? 'not-checked' : 'ok',
    file: path,
    bytes,
    sha256,
    version,
    minimumVersion,
    origin: success ? { commit: data.commit, sourceTime: data.sourceTime } : null,
    unpackedBytes: files.reduce((sum, file) => sum + file.bytes, 0),
    parts: partsOf(files),
    files: files.map(({ path, bytes, sha256, executable = false }) => ({ path, bytes, sha256, executable })),
    key: keyFile === undefined || signer === null ? null : { file: keyFile, fingerprintSha256: keyFingerprint(signer) },
  };
}

/** By the first element of their paths, the largest first. */
function partsOf(files: readonly { readonly path: string; readonly bytes: number }[]): ReleaseInspect['parts'] {
  const parts = new Map<string, { files: number; bytes: number }>();
  for (const { path, bytes } of files) {
    const name = path.includes('/') ? `${path.slice(0, path.indexOf('/'))}/` : path;
    const part = parts.get(name) ?? { files: 0, bytes: 0 };
    parts.set(name, { files: part.files + 1, bytes: part.bytes + bytes });
  }
  return [...parts].map(([path, part]) => ({ path, ...part })).toSorted((a, b) => b.bytes - a.bytes);
}
