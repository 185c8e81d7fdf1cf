import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../lifecycle/index.ts';
import { DISK_TIMEOUT_MS } from '../limits.ts';
import { failureText } from '../store/failure.ts';
import type { StoreOptions } from '../store/store.ts';
import type { StoreCallName, StoreCalls, StoreFailure, StoreReply, StoreRequest } from './messages.ts';

/**
 * Loads the module and calls its function, since no module of gw does anything when it is loaded. An import that fails
 * ends the thread with that error.
 */
const BOOTSTRAP = `import('node:worker_threads').then(async ({ parentPort, workerData }) => {
  const { runStoreThread } = await import(workerData.module);
  runStoreThread(parentPort, workerData.options);
});`;

/** The thread keeps no message, so a small heap suffices. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 24, maxYoungGenerationSizeMb: 2, stackSizeMb: 1 };

/** What became of a request; 'ended': the thread ended before it answered, so whether it was done is not known. */
type StoreOutcome<K extends StoreCallName> =
  | { readonly kind: 'done'; readonly result: StoreCalls[K]['result'] }
  | { readonly kind: 'failed'; readonly failure: StoreFailure }
  | { readonly kind: 'ended'; readonly text: string };

export interface StoreThreadEvents {
  /** Each reply with its request, before the promise of the request is resolved. */
  readonly onReply: (name: StoreCallName, reply: StoreReply) => void;
  /** No answer for `DISK_TIMEOUT_MS`; the requests stay open. */
  readonly onSilence: () => void;
  /** The thread ended by itself. */
  readonly onEnd: (text: string) => void;
}

/** The worker thread with the database. Ended, it is started again by the next request. */
export interface StoreThread {
  call<K extends StoreCallName>(name: K, request: StoreCalls[K]['request']): Promise<StoreOutcome<K>>;
  /** Closes the database; a disk that does not answer is not waited for. */
  close(): Promise<void>;
}

interface Open {
  readonly name: StoreCallName;
  readonly settle: (outcome: StoreOutcome<StoreCallName>) => void;
}

export function createStoreThread(options: StoreOptions, clock: Clock, events: StoreThreadEvents): StoreThread {
  let worker: Worker | null = null;
  let nextTicket = 1;
  const open = new Map<number, Open>();
  let timer: Disposable | null = null;
  /** Its end is awaited, also after its last reply. */
  let isClosing = false;

  function start(): Worker {
    const started = new Worker(BOOTSTRAP, {
      eval: true,
      workerData: { module: workerUrl().href, options },
      resourceLimits: RESOURCE_LIMITS,
      // Some versions of Node call SQLite experimental at each start.
      execArgv: ['--disable-warning=ExperimentalWarning'],
    });
    let text = 'it ended by itself';
    started.on('message', (reply: StoreReply) => {
      const request = open.get(reply.ticket);
      open.delete(reply.ticket);
      watch();
      if (request === undefined) return;
      events.onReply(request.name, reply);
      request.settle(
        'result' in reply.outcome
          ? { kind: 'done', result: reply.outcome.result }
          : { kind: 'failed', failure: reply.outcome.failure },
      );
    });
    started.on('error', (error) => {
      text = error instanceof Error ? error.message : String(error);
    });
    started.on('exit', () => {
      if (worker === started) worker = null;
      const left = [...open.values()];
      open.clear();
      watch();
      if (left.length > 0) events.onEnd(text);
      for (const { settle } of left) settle({ kind: 'ended', text });
    });
    return started;
  }

  /** One timer for all open requests, started anew by each reply. Without any, the thread keeps no process alive. */
  function watch(): void {
    if (open.size === 0 && !isClosing) worker?.unref();
    else worker?.ref();
    timer?.[Symbol.dispose]();
    timer = open.size === 0 ? null : clock.after(DISK_TIMEOUT_MS, events.onSilence);
  }

  function call<K extends StoreCallName>(name: K, request: StoreCalls[K]['request']): Promise<StoreOutcome<K>> {
    try {
      worker ??= start();
    } catch (error) {
      // The operating system allows no further thread now.
      const text = failureText(error);
      events.onEnd(text);
      return Promise.resolve({ kind: 'ended', text });
    }
    const ticket = nextTicket++;
    const { promise, resolve } = Promise.withResolvers<StoreOutcome<K>>();
    open.set(ticket, { name, settle: resolve as Open['settle'] });
    if (timer === null) watch();
    worker.postMessage({ ticket, name, request, atMs: clock.wall().getTime() } as StoreRequest);
    return promise;
  }

  return {
    call,
    async close() {
      const closing = worker;
      if (closing === null) return;
      isClosing = true;
      const exited = new Promise<void>((resolve) => closing.once('exit', () => resolve()));
      void call('close', null);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      using _limit = clock.after(DISK_TIMEOUT_MS, resolve);
      await Promise.race([exited, late]);
      timer?.[Symbol.dispose]();
      // A thread in a system call ends when that returns, which is not waited for.
      closing.unref();
      void closing.terminate();
    },
  };
}

/** Address of the module with the code of the worker thread: a source file, or its chunk in the build (vite.config.ts). */
function workerUrl(): URL {
  return new URL('./worker.ts', import.meta.url);
}
