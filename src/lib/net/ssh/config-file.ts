import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GwError } from '../../error/index.ts';
import { type ConfigLine, invalid, matchesPattern, parseSshConfig } from './config.ts';

const MOST_DEPTH = 8;
const MOST_FILES = 64;
const MOST_BYTES = 1024 * 1024;

/**
 * The configuration of SSH of a person, `.ssh/config` in the home folder, with the files that it includes. None is
 * no error. Throws SSH_CONFIG_INVALID.
 */
export async function readSshConfig(homeDir: string): Promise<ConfigLine[]> {
  const folder = join(homeDir, '.ssh');
  let files = 0;

  async function read(path: string, depth: number): Promise<ConfigLine[]> {
    files += 1;
    if (depth > MOST_DEPTH || files > MOST_FILES) throw invalid(path, 'the files include each other without end');
    const text = await textOf(path);
    if (text === null) return [];
    const lines = parseSshConfig(text, path);
    for (const line of lines) {
      if (line.keyword !== 'include') continue;
      const included: ConfigLine[][] = [];
      for (const word of line.words) {
        for (const file of await filesOf(placeOf(word, homeDir, folder), line.at)) {
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
    const { size, mode } = await stat(path);
    // It may name the machine to go through; OpenSSH does not read such a file either.
    if ((mode & 0o022) !== 0) throw invalid(path, 'others may write this file', `Close it: chmod 600 ${path}`);
    if (size > MOST_BYTES) throw invalid(path, 'this is too large for a configuration of SSH');
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof GwError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new GwError('SSH_CONFIG_INVALID', `${path} cannot be read.`, { cause: error });
  }
}

function placeOf(word: string, homeDir: string, folder: string): string {
  if (word.startsWith('~/')) return join(homeDir, word.slice(2));
  return word.startsWith('/') ? word : join(folder, word);
}

/** Files by a pattern in the last part of the path, in the order of their names. */
async function filesOf(path: string, at: string): Promise<string[]> {
  if (/[*?]/.test(dirname(path))) throw invalid(at, 'a pattern is understood in the last part of a path only');
  if (!/[*?]/.test(basename(path))) return [path];
  const names = await readdir(dirname(path)).catch(() => []);
  const fitting = names.filter((name) => !name.startsWith('.') && matchesPattern(basename(path), name));
  return fitting.toSorted().map((name) => join(dirname(path), name));
}
