import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writePackage } from '../../../src/lib/cloud/release/write-package.ts';

/** A scratch folder that is removed at the end of the scope. */
export function scratch() {
  const dir = mkdtempSync(join(tmpdir(), 'gw-release-'));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/** A path with 150 characters, which needs more than one field of a tar header. */
export const longPath = `lib/${'deep-folder/'.repeat(12)}module.js`;

/** Writes files below a folder; `bin/` is executable. */
export async function writeTree(dir: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), content);
    await chmod(join(dir, path), path.startsWith('bin/') ? 0o755 : 0o644);
  }
}

export function makeKeys(): { publicKey: KeyObject; privateKey: KeyObject; publicPem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  return { publicKey, privateKey, publicPem: String(publicKey.export({ type: 'spki', format: 'pem' })) };
}

export interface MadePackage {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Makes a package of the given files, by default those of a small program. */
export async function makePackage(
  dir: string,
  privateKey: KeyObject,
  {
    version,
    minimumVersion = '0.0.1',
    files = {},
  }: { version: string; minimumVersion?: string; files?: Readonly<Record<string, string | Uint8Array>> },
): Promise<MadePackage> {
  const tree = join(dir, `tree-${version}-${crypto.randomUUID()}`);
  await writeTree(tree, {
    'bin/run.js': `console.log('${version}');\n`,
    'package.json': JSON.stringify({ name: 'gw', version, type: 'module' }),
    'docs/Grüße.md': 'Grüße\n',
    'dist/empty.js': '',
    [longPath]: 'export {};\n',
    ...files,
  });
  const out = join(dir, `gw-${version}-${crypto.randomUUID()}.tar`);
  const { bytes, sha256 } = await writePackage(tree, { version, minimumVersion, privateKey, out });
  await rm(tree, { recursive: true });
  return { path: out, bytes, sha256 };
}
