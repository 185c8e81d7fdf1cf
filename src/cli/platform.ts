import { readFile } from 'node:fs/promises';
import { release, type } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type VersionResult, versionSchema } from './version.result.ts';

type Platform = Pick<VersionResult, 'node' | 'nodePath' | 'os' | 'kernel' | 'architecture'>;

/** On what gw runs. `osRelease`: where Linux distributions name themselves (os-release(5)). */
export async function readPlatform(osRelease = '/etc/os-release'): Promise<Platform> {
  return {
    node: process.versions.node,
    nodePath: process.execPath,
    os: (await distribution(osRelease)) ?? type(),
    kernel: `${type()} ${release()}`,
    architecture: process.arch,
  };
}

/** What the package in this folder says of itself (scripts/package). */
export async function readOrigin(folder: string): Promise<VersionResult['origin']> {
  try {
    return versionSchema.shape.origin.parse(JSON.parse(await readFile(join(folder, 'origin.json'), 'utf8')));
  } catch {
    return null;
  }
}

async function distribution(path: string): Promise<string | undefined> {
  try {
    return parseEnv(await readFile(path, 'utf8')).PRETTY_NAME || undefined;
  } catch {
    return undefined;
  }
}
