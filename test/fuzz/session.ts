import { hash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

/** Above `maxBytes` of every parser. */
export const MAX_INPUT_BYTES = 1024 * 1024;
/** Without another input for so long, the thread is ended: nothing else ends a parser that never returns. */
const DEFAULT_STUCK_MS = 20_000;
const DEFAULT_HEAP_MB = 256;

const hitsDir = fileURLToPath(new URL('./hits/', import.meta.url));

/** Read by the main thread while the other one is busy: number of inputs, length of the present one, its index. */
export interface SharedState {
  /** Address of the module with the parsers. */
  readonly table: string;
  readonly counter: SharedArrayBuffer;
  readonly bytes: SharedArrayBuffer;
}

export interface FuzzJob {
  readonly name: string;
  /** Hits of earlier runs, tried before the others. */
  readonly hits: readonly Uint8Array[];
  /** Indices of the inputs. */
  readonly from: number;
  readonly to: number;
  readonly seed: number;
}

export type FuzzMessage =
  | { readonly kind: 'hit'; readonly index: number; readonly problem: string; readonly input: Uint8Array }
  | { readonly kind: 'done'; readonly tried: number; readonly accepted: number; readonly kept: string | null };

export interface Hit {
  /** Below 0: a hit of an earlier run. */
  readonly index: number;
  readonly problem: string;
  readonly input: Uint8Array;
}

export interface FuzzResult {
  /** Inputs, with the hits of earlier runs. */
  readonly tried: number;
  readonly accepted: number;
  readonly seconds: number;
  readonly hits: readonly Hit[];
}

/** How an attempt ended: with what was counted, or with the thread. */
type Ended = { readonly tried: number; readonly accepted: number } | { readonly lost: string };

/** The thread is started again so often. */
const MAX_LOST = 5;

/** Of several hits at one place in the source, only the first is of interest. */
function placeOf(problem: string): string {
  return problem.split('\n').find((line) => /^ +at .*\/(src|parsers)\//.test(line)) ?? problem.replaceAll(/\d+/g, '');
}

function hitsOf(name: string): Uint8Array[] {
  const folder = join(hitsDir, name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((file) => readFileSync(join(folder, file)));
}

export function keepHit(name: string, { input }: Hit): string {
  const folder = join(hitsDir, name);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, hash('sha256', input).slice(0, 16));
  writeFileSync(path, input);
  return path;
}

/** One thread for the inputs, with limits of time and memory that no input can evade. */
export function startSession({
  table,
  stuckMs = DEFAULT_STUCK_MS,
  heapMb = DEFAULT_HEAP_MB,
}: {
  /** Other parsers, of a module that needs no JSX. */
  readonly table?: URL;
  readonly stuckMs?: number;
  readonly heapMb?: number;
} = {}) {
  let worker: Worker | undefined;
  const state: SharedState = {
    table: (table ?? new URL('./parsers.ts', import.meta.url)).href,
    counter: new SharedArrayBuffer(12),
    bytes: new SharedArrayBuffer(MAX_INPUT_BYTES),
  };
  const counter = new Int32Array(state.counter);

  /** Runs a job until its end, or until the thread ends. */
  async function attempt(job: FuzzJob, hits: Hit[]): Promise<Ended> {
    worker ??= new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: state,
      execArgv: table === undefined ? ['--import', new URL('./jsx.ts', import.meta.url).href] : [],
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    const thread = worker;
    const { promise, resolve } = Promise.withResolvers<Ended>();
    const onMessage = (message: FuzzMessage) => {
      if (message.kind === 'hit') {
        if (!hits.some(({ problem }) => placeOf(problem) === placeOf(message.problem))) hits.push(message);
      } else {
        if (message.kept !== null) hits.push({ index: job.to, problem: message.kept, input: new Uint8Array() });
        resolve(message);
      }
    };
    const onError = (error: Error) => resolve({ lost: error.stack ?? error.message });
    thread.on('message', onMessage);
    thread.on('error', onError);
    const first = Atomics.load(counter, 0);
    let last = first;
    const watch = setInterval(() => {
      const now = Atomics.load(counter, 0);
      // Before the first input, modules are loaded.
      if (now === last && now !== first) resolve({ lost: `not finished after ${stuckMs} ms` });
      last = now;
    }, stuckMs);
    thread.postMessage(job);
    const result = await promise;
    clearInterval(watch);
    thread.off('message', onMessage);
    thread.off('error', onError);
    if ('lost' in result) {
      worker = undefined;
      // What a thread that ends still reports belongs to no test.
      thread.on('error', () => {});
      await thread.terminate();
    }
    return result;
  }

  return {
    async run({ name, inputs, seed }: { name: string; inputs: number; seed: number }): Promise<FuzzResult> {
      const began = performance.now();
      const hits: Hit[] = [];
      let [tried, accepted, from] = [0, 0, 0];
      let earlier: readonly Uint8Array[] = hitsOf(name);
      for (let lost = 0; lost < MAX_LOST; lost += 1) {
        const result = await attempt({ name, hits: earlier, from, to: inputs, seed }, hits);
        if ('accepted' in result) {
          tried += result.tried;
          accepted += result.accepted;
          break;
        }
        const bytes = new Uint8Array(state.bytes).slice(0, Atomics.load(counter, 1));
        const index = Atomics.load(counter, 2);
        hits.push({ index, problem: result.lost, input: bytes });
        from = Math.max(0, index + 1);
        earlier = [];
      }
      return { tried, accepted, seconds: (performance.now() - began) / 1000, hits };
    },
    async [Symbol.asyncDispose]() {
      await worker?.terminate();
    },
  };
}
