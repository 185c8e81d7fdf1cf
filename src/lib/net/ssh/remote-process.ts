import type { ClientChannel } from 'ssh2';
import { type Clock, onAbort } from '../../lifecycle/index.ts';
import type { RemoteExit, RemoteProcess } from './model.ts';

/** How long a program may take to exit after SIGTERM. */
const END_MS = 3_000;

/**
 * A program that runs on the remote host. Aborting the signal sends SIGTERM. OpenSSH does not deliver signals to root
 * (sessions without privilege separation); then, or when the program ignores it, the channel is closed, so that the
 * program reads the end of its input and its next write fails.
 */
export function remoteProcess(
  channel: ClientChannel,
  {
    clock,
    lost,
    signal,
  }: { readonly clock: Clock; readonly lost: AbortSignal; readonly signal?: AbortSignal | undefined },
): RemoteProcess {
  const exit: { code: number | null; signal: string | null } = { code: null, signal: null };
  const { promise: ended, resolve, reject } = Promise.withResolvers<RemoteExit>();
  // A caller that reads the output only does not await it.
  ended.catch(() => {});
  let timer: Disposable | undefined;
  let isClosed = false;
  const aborting: Disposable[] = [];
  const cleanUp = () => {
    timer?.[Symbol.dispose]();
    for (const listening of aborting) listening[Symbol.dispose]();
  };
  const interrupt = () => {
    if (isClosed || timer !== undefined) return;
    channel.signal('TERM');
    timer = clock.after(END_MS, abandon);
  };
  /** The server confirms the close only once the program has ended, so that is not awaited. */
  const abandon = () => {
    isClosed = true;
    cleanUp();
    channel.close();
    channel.push(null);
    channel.stderr.push(null);
    resolve({ code: null, signal: null });
  };
  const onLost = () => {
    cleanUp();
    reject(lost.reason);
  };
  channel.on('exit', (code: number | null, name?: string) => {
    exit.code = code;
    exit.signal = name ?? null;
  });
  channel.on('close', () => {
    isClosed = true;
    cleanUp();
    resolve({ ...exit });
  });
  channel.on('error', () => {});
  aborting.push(onAbort(lost, onLost));
  if (!lost.aborted) aborting.push(onAbort(signal, interrupt));
  return {
    stdin: channel.stdin,
    stdout: channel.stdout,
    stderr: channel.stderr,
    ended,
    async [Symbol.asyncDispose]() {
      if (isClosed || lost.aborted) return;
      channel.resume();
      channel.stderr.resume();
      interrupt();
      await ended.catch(() => {});
    },
  };
}
