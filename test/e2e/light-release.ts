import { createPrivateKey } from 'node:crypto';
import { cp, mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { writePackage } from '../../src/lib/cloud/index.ts';

const PARTS = ['bin', 'checklists', 'dist', 'packaging', 'oclif.manifest.json', 'package.json'];

/**
 * A release of this checkout, signed with the key of the simulator in `dir`, without its libraries: a link beside the
 * releases leads to them, which saves ten seconds in every world. The demo installs a whole one.
 */
export async function makeLightRelease(root: string, dir: string, version: string): Promise<string> {
  const releasesDir = join(dir, 'releases');
  const content = join(dir, 'light-release');
  for (const part of PARTS) await cp(join(root, part), join(content, part), { recursive: true });
  await mkdir(releasesDir, { recursive: true, mode: 0o700 });
  await symlink(join(root, 'node_modules'), join(releasesDir, 'node_modules'));
  const privateKey = createPrivateKey(await readFile(join(dir, 'secrets', 'release-signing-key.pem'), 'utf8'));
  const out = join(dir, `gw-${version}.tar`);
  await writePackage(content, { version, minimumVersion: '0.0.0', privateKey, out });
  await rm(content, { recursive: true });
  return out;
}
