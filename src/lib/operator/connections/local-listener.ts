import { lstat, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { GwError } from '../../error/index.ts';
import { ensureFolder, privateFolderProblem } from '../../lifecycle/index.ts';
import { type Listener, openListener, type RequestHandler } from './listener.ts';

/** Size of `sun_path` on Linux without the terminating zero. */
const MAX_PATH_BYTES = 107;

/**
 * Opens the socket for commands on the gateway itself. It is protected by its folder, which only the owner may enter,
 * so it is never open to others, whatever the umask. A stale socket of an earlier process is removed; any other file in
 * its place is kept. Throws PORT_IN_USE, PORT_UNUSABLE, FILE_UNWRITABLE.
 */
export async function openLocalListener(
  application: RequestHandler,
  { path, onBroken }: { readonly path: string; readonly onBroken: (error: Error) => void },
): Promise<Listener> {
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
    throw new GwError(
      'PORT_UNUSABLE',
      `The path ${path} is longer than ${MAX_PATH_BYTES} bytes, the maximum for a Unix socket.`,
      {
        tried: { address: `unix:${path}`, action: 'listen' },
        remedy: 'Set a stateDir with a shorter path in the site file.',
      },
    );
  }
  await ownFolder(dirname(path));
  await removeAbandoned(path);
  return await openListener(application, { scope: 'local', path, onBroken });
}

async function ownFolder(folder: string): Promise<void> {
  const unfit = (why: string, cause?: unknown) =>
    new GwError('FILE_UNWRITABLE', `${folder} cannot hold the socket for local commands: ${why}.`, { cause });
  try {
    await ensureFolder(folder, 0o700);
  } catch (cause) {
    throw unfit((cause as NodeJS.ErrnoException).code ?? 'it cannot be created', cause);
  }
  if ((await lstat(folder)).isSymbolicLink()) throw unfit('it is a symbolic link');
  const problem = await privateFolderProblem(folder);
  if (problem !== null) throw unfit(problem.text);
}

async function removeAbandoned(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return;
  const tried = { address: `unix:${path}`, action: 'listen' };
  if (!stats.isSocket()) {
    throw new GwError('PORT_UNUSABLE', `${path} exists and is not a socket.`, { tried });
  }
  const found = await tryConnect(path);
  if (found === 'answered') {
    throw new GwError('PORT_IN_USE', `The socket ${path} is in use by another program.`, { tried });
  }
  if (found !== 'ECONNREFUSED' && found !== 'ENOENT') {
    throw new GwError('PORT_UNUSABLE', `Whether ${path} is still in use is unknown: ${found}.`, { tried });
  }
  await unlink(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** 'answered', also by a full queue (EAGAIN, unix(7)); otherwise the error code. */
async function tryConnect(path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = createConnection({ path });
  socket.once('connect', () => resolve('answered'));
  socket.once('error', ({ code }: NodeJS.ErrnoException) =>
    resolve(code === 'EAGAIN' ? 'answered' : (code ?? 'unknown reason')),
  );
  const found = await promise;
  socket.destroy();
  return found;
}
