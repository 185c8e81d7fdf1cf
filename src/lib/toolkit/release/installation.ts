import { cp, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import { readWhole } from '../../lifecycle/index.ts';

/** What of an installation runs, beside its libraries. */
const PARTS = ['bin', 'checklists', 'dist', 'docs', 'packaging', 'schemas', 'oclif.manifest.json', 'package.json'];
const MAX_MANIFEST_BYTES = 1024 * 1024;
const SOURCE_MAP = /\.map$/;
/** Of libraries: links of npm to their programs, since links are no part of a package, and what only developers read. */
const LEFT_OUT = /\/(\.bin|\.github|\.yarn|tests?|__tests__|benchmarks?|examples?)$|\.(d\.[cm]?ts|map|md)$/;
/** That of the base installation runs every release. */
const RUNTIME = /^node-(linux|bin)-/;

/**
 * Copies an installation of gw, whole with the libraries that it needs when it runs, to a folder from which a release is
 * made. What only developers use is left out. Throws FILE_UNREADABLE for an installation without
 * its libraries. Rejects when aborted.
 */
export async function copyInstallation(
  root: string,
  into: string,
  { signal, onFile = () => {} }: { readonly signal?: AbortSignal; readonly onFile?: (path: string) => void } = {},
): Promise<void> {
  const without = (pattern: RegExp) => ({
    recursive: true,
    dereference: true,
    filter: (path: string) => {
      signal?.throwIfAborted();
      onFile(path);
      return !pattern.test(path);
    },
  });
  for (const part of PARTS) await cp(join(root, part), join(into, part), without(SOURCE_MAP));
  const modules = await modulesOf(root);
  for (const name of await namesFrom(root, modules)) {
    await cp(join(modules, name), join(into, 'node_modules', name), without(LEFT_OUT));
  }
}

/** The folder in which Node finds the libraries of an installation: its own, or that of a package above it. */
async function modulesOf(root: string): Promise<string> {
  for (let above = root; ; above = dirname(above)) {
    const path = join(above, 'node_modules');
    const names: readonly string[] = await readdir(path).catch(() => []);
    if (names.includes('fastify')) return path;
    if (dirname(above) === above) throw new GwError('FILE_UNREADABLE', `The libraries of ${root} are not found.`);
  }
}

/** The libraries in `modules` that this package needs, by their dependencies; nested ones come with their library. */
async function namesFrom(root: string, modules: string): Promise<readonly string[]> {
  const names = new Set<string>();
  const search = async (folder: string): Promise<void> => {
    for (const name of await dependenciesOf(folder)) {
      if (RUNTIME.test(name) || names.has(name)) continue;
      const nested = join(folder, 'node_modules', name);
      if (folder !== root && (await isPackage(nested))) await search(nested);
      else if (await isPackage(join(modules, name))) {
        names.add(name);
        await search(join(modules, name));
      }
    }
  };
  await search(root);
  return [...names].toSorted();
}

async function isPackage(folder: string): Promise<boolean> {
  return (await readManifest(folder)) !== null;
}

async function dependenciesOf(folder: string): Promise<readonly string[]> {
  const { dependencies, optionalDependencies, peerDependencies } = (await readManifest(folder)) ?? {};
  return [dependencies, optionalDependencies, peerDependencies].flatMap((each) =>
    isRecord(each) ? Object.keys(each) : [],
  );
}

async function readManifest(folder: string): Promise<Readonly<Record<string, unknown>> | null> {
  const bytes = await readWhole(join(folder, 'package.json'), MAX_MANIFEST_BYTES).catch(() => null);
  const read = bytes === null ? null : readJsonBytes(bytes, 'file');
  return read?.ok && isRecord(read.value) ? read.value : null;
}
