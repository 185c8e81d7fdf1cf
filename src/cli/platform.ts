import { readFile } from 'node:fs/promises';
import { release, type } from 'node:os';
import { parseEnv } from 'node:util';
import type { VersionResult } from './version.result.ts';

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

async function distribution(path: string): Promise<string | undefined> {
  try {
    return parseEnv(await readFile(path, 'utf8')).PRETTY_NAME || undefined;
  } catch {
    return undefined;
  }
}
