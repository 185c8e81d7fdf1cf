import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GwError } from '../../../error/index.ts';
import { ensureFolder } from '../../../lifecycle/index.ts';
import { type KnownHosts, parseKnownHosts } from './known-hosts.ts';

const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads known_hosts files; a missing one counts as empty. Throws FILE_UNREADABLE for an existing one that cannot be
 * read, because it may revoke a key or hold another one.
 */
export async function readKnownHosts(paths: readonly string[]): Promise<KnownHosts> {
  const read = await Promise.all(paths.map(async (path) => parseKnownHosts(await textOf(path), path)));
  return {
    entries: read.flatMap(({ entries }) => entries),
    invalidLines: read.flatMap(({ invalidLines }) => invalidLines),
  };
}

async function textOf(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'latin1');
    if (text.length <= MAX_BYTES) return text;
    throw new GwError('FILE_UNREADABLE', `Known hosts file ${path} is larger than ${MAX_BYTES} bytes.`);
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new GwError('FILE_UNREADABLE', `Known hosts file ${path} cannot be read.`, { cause });
  }
}

/**
 * Appends a line and syncs the file. A single appending write, since other programs append to the file too; a last line
 * without a line end gets one first. Throws FILE_UNWRITABLE.
 */
export async function addKnownHost(path: string, line: string): Promise<void> {
  try {
    await ensureFolder(dirname(path), 0o700);
    await using file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    const ending = (await endsInLine(file)) ? '' : '\n';
    await file.write(`${ending}${line}`);
    await file.sync();
  } catch (cause) {
    throw new GwError('FILE_UNWRITABLE', `Host key cannot be added to ${path}.`, { cause });
  }
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === 0x0a;
}
