import { createPrivateKey } from 'node:crypto';
import { cp, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writePackage } from '../../cloud/index.ts';
import { GwError } from '../../error/index.ts';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import { ensureFolder, readWhole, replaceFile } from '../../lifecycle/index.ts';
import { readSecret } from '../../site/index.ts';

/** What of an installation runs; its libraries are found beside the releases. */
const PARTS = ['bin', 'checklists', 'dist', 'packaging', 'oclif.manifest.json', 'package.json'] as const;
const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

export interface DemoPackageOptions {
  /** Folder of this installation of gw. */
  readonly root: string;
  /** Folder of the demo. */
  readonly dir: string;
  /** Folder of the releases. */
  readonly releasesDir: string;
  readonly version: string;
}

/**
 * Packs this installation under another version, signed with the key of the simulator. The libraries are not packed, which
 * would take minutes: a link beside the releases leads to them. A release for a real gateway contains them. Returns the
 * path of the package. Throws FILE_UNREADABLE, FILE_UNWRITABLE, RELEASE_INVALID.
 */
export async function makeDemoPackage({ root, dir, releasesDir, version }: DemoPackageOptions): Promise<string> {
  const out = join(dir, `gw-${version}.tar`);
  const privateKey = createPrivateKey(
    await readSecret(join(dir, 'secrets', 'release-signing-key.pem'), 'the signing key of the simulator'),
  );
  const content = await mkdtemp(join(dir, 'release-'));
  try {
    for (const part of PARTS) await cp(join(root, part), join(content, part), { recursive: true, dereference: true });
    for (const name of ['package.json', 'oclif.manifest.json']) {
      const path = join(content, name);
      const read = readJsonBytes(await readWhole(path, MAX_MANIFEST_BYTES), 'file');
      if (!read.ok || !isRecord(read.value)) throw new GwError('FILE_UNREADABLE', `${path} is not a JSON object.`);
      await replaceFile(path, JSON.stringify({ ...read.value, version }));
    }
    // The release agent uses no folder that others may write to, as with umask 002.
    await ensureFolder(releasesDir, 0o700);
    await rm(join(releasesDir, 'node_modules'), { force: true });
    await symlink(await librariesOf(root), join(releasesDir, 'node_modules'));
    await writePackage(content, { version, minimumVersion: '0.0.0', privateKey, out });
    return out;
  } finally {
    await rm(content, { recursive: true, force: true });
  }
}

/** The folder in which Node finds the libraries of an installation: its own, or that of a package above it. */
async function librariesOf(root: string): Promise<string> {
  for (let above = root; ; above = dirname(above)) {
    const path = join(above, 'node_modules');
    const names: readonly string[] = await readdir(path).catch(() => []);
    if (names.includes('fastify')) return path;
    if (dirname(above) === above) throw new GwError('FILE_UNREADABLE', `The libraries of ${root} are not found.`);
  }
}
