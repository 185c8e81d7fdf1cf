import type { ClientChannel } from 'ssh2';
import { onAbort } from '../../lifecycle/index.ts';
import type { FarExit, FarProcess } from './model.ts';

/** How long a program may take to end in order once it was asked to. */
const END_MS = 3_000;

/**
 * A program that runs at the other end of a channel. Aborting the signal asks it to end. OpenSSH passes signals on for
 * every user but root (sessions without privilege separation); then, or where the program does not heed it, the channel
 * is closed: the program reads the end of its input, and its next word goes to nobody.
 */
export function farProcess(channel: ClientChannel, lost: AbortSignal, signal?: AbortSignal): FarProcess {
  const exit: { code: number | null; signal: string | null } = { code: null, signal: null };
  const { promise: ended, resolve, reject } = Promise.withResolvers<FarExit>();
  // Whoever reads the output only may not look at it.
  ended.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const aborting: Disposable[] = [];
  const cleanUp = () => {
    clearTimeout(timer);
    for (const listening of aborting) listening[Symbol.dispose]();
  };
  const interrupt = () => {
    if (isClosed || timer !== undefined) return;
    channel.signal('TERM');
    timer = setTimeout(leave, END_MS);
  };
  /** The server answers once the program has ended, whenever that is: nobody waits for it. */
  const leave = () => {
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
