import { createHash } from 'node:crypto';
import type { ReleaseDocumentWire } from '../../../cloud/wire.ts';
import { isRecord } from '../../chassis/maps/map-store.ts';
import { placeholderFor } from './executions.ts';

/** Changes to the document of a release; a value of undefined removes a field. */
export type DocumentChanges = Readonly<Record<string, unknown>>;

/** The document of a release job with a placeholder for the URL. */
export function releaseDocument(options: {
  readonly bytes: Uint8Array;
  readonly key: string;
  readonly version: string;
  readonly stage?: number | undefined;
  readonly allowDowngrade?: boolean | undefined;
  readonly changes?: DocumentChanges | undefined;
}): object {
  const { bytes, key, version, stage, allowDowngrade, changes = {} } = options;
  const document: ReleaseDocumentWire = {
    schema: 'gw/release-job/1',
    version,
    package: {
      url: placeholderFor(key),
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    },
    ...(allowDowngrade && { allowDowngrade }),
    ...(stage !== undefined && { stage }),
  };
  const packageChanges = isRecord(changes.package) ? { package: { ...document.package, ...changes.package } } : {};
  return { ...document, ...changes, ...packageChanges };
}

const TAR_BLOCK_BYTES = 512;

/** The version in the manifest of a package, its first entry; null when it cannot be read. */
export function readPackageVersion(bytes: Uint8Array): string | null {
  const text = (from: number, to: number) =>
    Buffer.from(bytes.subarray(from, to))
      .toString('latin1')
      .replace(/[\0 ].*$/s, '');
  if (text(0, 100) !== 'manifest.json') return null;
  const size = Number.parseInt(text(124, 136), 8);
  try {
    const end = TAR_BLOCK_BYTES + size;
    const manifest: unknown = JSON.parse(Buffer.from(bytes.subarray(TAR_BLOCK_BYTES, end)).toString('utf8'));
    return isRecord(manifest) && typeof manifest.version === 'string' ? manifest.version : null;
  } catch {
    return null;
  }
}
