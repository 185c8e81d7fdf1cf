import { asGwError, GwError } from '../error/index.ts';
import type { Service, ServiceContext } from '../lifecycle/index.ts';
import { localSocketPath } from '../site/index.ts';
import { type Application, createApplication } from './application.ts';
import type { Crowding } from './connections/connections.ts';
import {
  type Listener,
  type ListenerOptions,
  openListener,
  type RequestHandler,
  type Scope,
} from './connections/listener.ts';
import { openLocalListener } from './connections/local-listener.ts';
import type { OperatorOptions } from './model.ts';

/**
 * The only address that a remote tunnel can reach. A constant: no setting, variable or flag changes it.
 * @source specification, 'Operator server'
 */
export const READ_ONLY_SOCKET = { host: '127.0.0.1', port: 5174 } as const;

/** Time to stop the server, from the request to the last closed connection. */
const STOP_WITHIN_MS = 900;

export interface Operator extends Service {
  /** What does not work while it runs, in one sentence; null: everything works. Part of `describe`. */
  trouble(): string | null;
}

/** The operator server: one application on two sockets. Starts with both or with neither. */
export function createOperator(options: OperatorOptions): Operator {
  let application: Application | undefined;
  let listeners: readonly Listener[] = [];
  /** Why there is no socket for local commands; null when there is one. */
  let localTrouble: string | null = null;

  /** Optional: a failure does not affect the two sockets of the platform. */
  async function openLocal(handle: RequestHandler): Promise<readonly Listener[]> {
    const path = localSocketPath(options.site);
    try {
      const onBroken = (error: Error) => options.log.warn({ path, error }, 'socket for local commands failed');
      const listener = await openLocalListener(handle, { path, onBroken });
      localTrouble = null;
      return [listener];
    } catch (error) {
      localTrouble = asGwError(error).message;
      options.log.warn({ path, error: localTrouble }, 'no socket for local commands');
      return [];
    }
  }

  async function stop(): Promise<void> {
    const ending = { application, listeners };
    application = undefined;
    listeners = [];
    ending.application?.endStreams();
    await Promise.all(ending.listeners.map((listener) => listener.close(STOP_WITHIN_MS)));
    await ending.application?.close();
  }

  return {
    name: 'operator',
    async start(context: ServiceContext) {
      const { port } = options.site.operator;
      if (port === READ_ONLY_SOCKET.port) {
        throw new GwError('SITE_FILE_INVALID', `operator.port must not be ${port}: that is the read-only socket.`, {
          remedy: 'Choose another operator.port in the site file.',
        });
      }
      application = await createApplication(options);
      try {
        const onBroken = (error: Error) => context.fail(error);
        const { log } = options;
        const onCrowded = (scope: Scope) => (crowding: Crowding) =>
          log.warn({ scope, ...crowding }, 'connections closed in favour of newer ones');
        listeners = await openListeners(application, [
          { scope: 'full', host: '::', port, onBroken, onCrowded: onCrowded('full') },
          { scope: 'read-only', ...READ_ONLY_SOCKET, onBroken, onCrowded: onCrowded('read-only') },
        ]);
        listeners = [...listeners, ...(await openLocal(application.handle))];
      } catch (error) {
        await stop();
        throw error;
      }
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
