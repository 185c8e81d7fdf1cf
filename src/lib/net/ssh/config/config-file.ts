import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { type ConfigLine, invalid, matchesPattern, parseSshConfig } from './config.ts';

const MAX_DEPTH = 8;
const MAX_FILES = 64;
const MAX_BYTES = 1024 * 1024;

/**
 * Reads the user's SSH configuration, `.ssh/config` in the home directory, with the files that it includes. Empty when
 * the file does not exist. Throws SSH_CONFIG_INVALID.
 */
export async function readSshConfig(homeDir: string): Promise<ConfigLine[]> {
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
        for (const file of await matchingFiles(placeOf(word, homeDir, folder), line.at)) {
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
    // The file decides which host is connected to; OpenSSH rejects such a file too.
    if ((mode & 0o022) !== 0) throw invalid(path, 'the file is writable by others', `Run: chmod 600 ${path}`);
    if (size > MAX_BYTES) throw invalid(path, `the file is larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof GwError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new GwError('SSH_CONFIG_INVALID', `SSH configuration ${path} cannot be read.`, { cause: error });
  }
}

function placeOf(word: string, homeDir: string, folder: string): string {
  if (word.startsWith('~/')) return join(homeDir, word.slice(2));
  return word.startsWith('/') ? word : join(folder, word);
}

/** Files that match a wildcard in the last path component, sorted by name. */
async function matchingFiles(path: string, at: string): Promise<string[]> {
  if (/[*?]/.test(dirname(path))) throw invalid(at, 'wildcards are supported in the last path component only');
  if (!/[*?]/.test(basename(path))) return [path];
  const names = await readdir(dirname(path)).catch(() => []);
  const matching = names.filter((name) => !name.startsWith('.') && matchesPattern(basename(path), name));
  return matching.toSorted().map((name) => join(dirname(path), name));
}
