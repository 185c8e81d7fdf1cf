import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { GwError } from '../../error/index.ts';
import { ensureFolder } from '../../lifecycle/index.ts';
import { type KnownHosts, parseKnownHosts } from './known-hosts.ts';

const MOST_BYTES = 32 * 1024 * 1024;

/**
 * Reads the files of known hosts one after the other; one that is not there is empty. Throws FILE_UNWRITABLE for one
 * that is there and cannot be read: it may say that a key is forbidden or another one.
 */
export async function readKnownHosts(paths: readonly string[]): Promise<KnownHosts> {
  const read = await Promise.all(paths.map(async (path) => parseKnownHosts(await textOf(path), path)));
  return { entries: read.flatMap(({ entries }) => entries), unread: read.flatMap(({ unread }) => unread) };
}

async function textOf(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'latin1');
    if (text.length <= MOST_BYTES) return text;
    throw new GwError('FILE_UNWRITABLE', `${path} is too large for a list of known hosts.`);
  } catch (cause) {
    if (cause instanceof GwError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new GwError('FILE_UNWRITABLE', `The known hosts in ${path} cannot be read.`, { cause });
  }
}

/**
 * Adds a line at the end and makes sure that it is on the disk. One write at the end of the file, since other programs
 * add lines to it too; a last line that lacks its end gets it first.
 */
export async function addKnownHost(path: string, line: string): Promise<void> {
  try {
    await ensureFolder(dirname(path), 0o700);
    await using file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
    const ending = (await endsInLine(file)) ? '' : '\n';
    await file.write(`${ending}${line}`);
    await file.sync();
  } catch (cause) {
    throw new GwError('FILE_UNWRITABLE', `The host cannot be added to ${path}.`, { cause });
  }
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer, bytesRead } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return bytesRead === 1 && buffer[0] === 0x0a;
}
