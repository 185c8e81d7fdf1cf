import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { packTar } from 'modern-tar';
import { sha256 } from '../../lifecycle/index.ts';
import type { BundleManifest } from './bundle.result.ts';

const compress = promisify(gzip);

export interface BundleFile {
  readonly name: string;
  readonly holds: string;
  readonly text: string;
  readonly redacted: number;
}

type Contents = Omit<BundleManifest, 'format' | 'files'>;

/** The manifest first, with the sum of each file, then the files; readable for their owner only. */
export async function packBundle(files: readonly BundleFile[], contents: Contents) {
  const bodies = files.map(({ text, ...file }) => ({ ...file, body: Buffer.from(text) }));
  const manifest: BundleManifest = {
    format: 'gw/support-bundle/1',
    ...contents,
    files: bodies.map(({ body, ...file }) => ({ ...file, bytes: body.byteLength, sha256: sha256(body) })),
  };
  const mtime = new Date(contents.createdAt);
  const first = { name: 'manifest.json', body: Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`) };
  const entries = [first, ...bodies].map(({ name, body }) => ({
    header: { name, size: body.byteLength, mode: 0o600, uid: 0, gid: 0, mtime },
    body,
  }));
  return { manifest, bytes: await compress(await packTar(entries)) };
}
