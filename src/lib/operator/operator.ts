import { lstat, unlink } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { dirname } from 'node:path';
import { asGwError, GwError } from '../error/index.ts';
import { ensureFolder, privateFolderProblem, type Service, type ServiceContext } from '../lifecycle/index.ts';
import { localSocketPath } from '../site/index.ts';
import { type Application, createApplication } from './application.ts';
import type { Crowding } from './connections/crowding.ts';
import {
  type Listener,
  type ListenerOptions,
  openListener,
  type RequestHandler,
  type Scope,
} from './connections/listener.ts';
import type { OperatorOptions } from './model.ts';
import { createRuns } from './view/run-view.ts';

/** Size of `sun_path` on Linux without the terminating zero. */
const MAX_PATH_BYTES = 107;

/**
 * The only address that a remote tunnel can reach. A constant: no setting, variable or flag changes it.
 * @source specification, 'Operator server'
 */
export const READ_ONLY_SOCKET = { host: '127.0.0.1', port: 5174 } as const;

/** Time to stop the server, from the request to the last closed connection. */
const STOP_WITHIN_MS = 900;

export interface Operator extends Service {
  /**
   * Opens every socket before the start, which uses them: of two gateways on one machine or one state folder, only the
   * first gets further. Requests wait until the server has started. Throws SITE_FILE_INVALID, PORT_IN_USE,
   * PORT_UNUSABLE. After a start that failed elsewhere, `stop` closes them again.
   */
  reserve(): Promise<void>;
  /** What does not work while it runs, in one sentence; null: everything works. Part of `describe`. */
  trouble(): string | null;
}

/** The operator server: one application on two sockets. Starts with both or with neither. */
export function createOperator(options: OperatorOptions): Operator {
  const { site, log } = options;
  const runs = createRuns(options);
  let application: Application | undefined;
  let listeners: readonly Listener[] = [];
  /** Why there is no socket for local commands; null when there is one. */
  let localTrouble: string | null = null;
  /** Behind the sockets, also while it ends; undefined before the start. */
  let serving: Application | undefined;
  /** Requests that came between the opening of the sockets and the start. */
  let waiting: (() => void)[] = [];
  let broken: Error | undefined;
  let fail = (error: Error) => {
    broken ??= error;
  };

  const front: Pick<Application, 'handle' | 'isUrgent'> = {
    handle(request, response) {
      if (serving === undefined) waiting.push(() => front.handle(request, response));
      else serving.handle(request, response);
    },
    isUrgent: (request) => serving?.isUrgent(request) ?? false,
  };

  /** Optional, except that a running gateway has it: any other failure does not affect the two sockets of the platform. */
  async function openLocal(): Promise<readonly Listener[]> {
    const path = localSocketPath(site);
    try {
      const onBroken = (error: Error) => log.warn({ path, error }, 'socket for local commands failed');
      const listener = await openLocalListener(front.handle, { path, onBroken });
      localTrouble = null;
      return [listener];
    } catch (cause) {
      const error = asGwError(cause);
      if (error.code === 'PORT_IN_USE') throw error;
      localTrouble = error.message;
      log.warn({ path, error: localTrouble }, 'no socket for local commands');
      return [];
    }
  }

  async function reserve(): Promise<void> {
    const { port } = site.operator;
    if (port === READ_ONLY_SOCKET.port) {
      throw new GwError('SITE_FILE_INVALID', `operator.port must not be ${port}: that is the read-only socket.`, {
        remedy: 'Choose another operator.port in the site file.',
      });
    }
    serving = undefined;
    broken = undefined;
    const onBroken = (error: Error) => fail(error);
    const onCrowded = (scope: Scope) => (crowding: Crowding) =>
      log.warn({ scope, ...crowding }, 'connections closed in favour of newer ones');
    listeners = await openListeners(front, [
      { scope: 'full', host: '::', port, onBroken, onCrowded: onCrowded('full') },
      { scope: 'read-only', ...READ_ONLY_SOCKET, onBroken, onCrowded: onCrowded('read-only') },
    ]);
    try {
      listeners = [...listeners, ...(await openLocal())];
    } catch (error) {
      await stop();
      throw error;
    }
  }

  async function stop(): Promise<void> {
    const ending = { application, listeners };
    application = undefined;
    listeners = [];
    ending.application?.endStreams();
    // Requests that still wait are never answered, so their connections are not waited for.
    const withinMs = ending.application === undefined ? 0 : STOP_WITHIN_MS;
    waiting = [];
    await Promise.all(ending.listeners.map((listener) => listener.close(withinMs)));
    await ending.application?.close();
  }

  return {
    name: 'operator',
    reserve,
    async start(context: ServiceContext) {
      try {
        if (listeners.length === 0) await reserve();
        fail = (error) => context.fail(error);
        if (broken !== undefined) throw broken;
        application = await createApplication(options, runs);
        serving = application;
      } catch (error) {
        await stop();
        throw error;
      }
      for (const handle of waiting.splice(0)) handle();
    },
    stop,
    describe: () =>
      [
        ...listeners.map(placeOf),
        ...(localTrouble === null ? [] : [`no socket for local commands: ${localTrouble}`]),
        ...(application?.signInTrouble ? [application.signInTrouble] : []),
      ].join(', '),
    trouble: () => application?.signInTrouble ?? null,
  };
}

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

function placeOf({ scope, host, port }: Listener): string {
  if (scope === 'local') return `local on ${host}`;
  return `${scope} on ${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Opens all of them or none. */
export async function openListeners(
  application: Pick<Application, 'handle'> & Partial<Pick<Application, 'isUrgent'>>,
  wanted: readonly ListenerOptions[],
): Promise<readonly Listener[]> {
  const opened: Listener[] = [];
  try {
    const { handle, isUrgent } = application;
    for (const options of wanted) {
      opened.push(await openListener(handle, { ...(isUrgent && { isUrgent }), ...options }));
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map((listener) => listener.close(0)));
    throw error;
  }
}
