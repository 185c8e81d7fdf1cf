import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { type ConfigLine, parseSshConfig } from './config.ts';
import { type Environment, expand } from './expand.ts';
import { invalid } from './invalid.ts';
import { hasWildcards, matchesGlob } from './pattern.ts';

const MAX_DEPTH = 8;
const MAX_FILES = 64;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the user's SSH configuration, `.ssh/config` in the home directory, with the files that it includes. Empty when
 * the file does not exist. Throws SSH_CONFIG_INVALID.
 */
export async function readSshConfig(
  homeDir: string,
  environment: Environment = { HOME: homeDir },
): Promise<ConfigLine[]> {
  const folder = join(homeDir, '.ssh');
  let files = 0;

  async function read(path: string, depth: number): Promise<ConfigLine[]> {
    files += 1;
    if (depth > MAX_DEPTH || files > MAX_FILES)
      throw invalid(path, `Include nested deeper than ${MAX_DEPTH}, or more than ${MAX_FILES} files`);
    const text = await textOf(path);
    if (text === null) return [];
    const lines = parseSshConfig(text, path);
    for (const line of lines) {
      if (line.keyword !== 'include') continue;
      const included: ConfigLine[][] = [];
      for (const word of line.words) {
        const place = expand({ value: word.replaceAll('%', '%%'), at: line.at }, {}, environment);
        for (const file of await matchingFiles(placeOf(place, homeDir, folder), line.at)) {
          included.push(await read(file, depth + 1));
        }
      }
      line.included = included;
    }
    return lines;
  }

  return await read(join(folder, 'config'), 0);
}

async function textOf(path: string): Promise<string | null> {
  try {
    const found = await stat(path);
    // As OpenSSH does: a pattern may match folders too.
    if (found.isDirectory()) return null;
    const { size, mode } = found;
    // The file decides which host is connected to; OpenSSH rejects such a file too.
    if ((mode & 0o022) !== 0) throw invalid(path, 'the file is writable by others', `Run: chmod 600 ${path}`);
    if (size > MAX_BYTES) throw invalid(path, `the file is larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof GwError) throw error;
    if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw new GwError('SSH_CONFIG_INVALID', `SSH configuration ${path} cannot be read.`, { cause: error });
  }
}

function placeOf(word: string, homeDir: string, folder: string): string {
  if (word.startsWith('~/')) return join(homeDir, word.slice(2));
  return word.startsWith('/') ? word : join(folder, word);
}

/** Project decision: a pattern of several folders that matches more is a mistake. */
const MAX_MATCHES = 1_024;

/** Files that match the wildcards of each part of an absolute path, sorted by name. */
async function matchingFiles(path: string, at: string): Promise<string[]> {
  let places = ['/'];
  for (const part of path.split('/').filter((one) => one !== '')) {
    if (!hasWildcards(part)) {
      places = places.map((place) => join(place, part));
      continue;
    }
    const found: string[] = [];
    for (const place of places) {
      const names = await readdir(place).catch(() => []);
      found.push(...names.filter((name) => matchesGlob(part, name)).map((name) => join(place, name)));
    }
    if (found.length > MAX_MATCHES) throw invalid(at, `Include matches more than ${MAX_MATCHES} files`);
    places = found;
  }
  return places.toSorted();
}
