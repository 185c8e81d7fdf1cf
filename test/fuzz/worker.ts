import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import { createMutator } from './mutate.ts';
import type { Parser } from './parser.ts';
import { type FuzzJob, type FuzzMessage, MAX_INPUT_BYTES, type SharedState } from './session.ts';

/** Of this thread on a processor, so that other programs do not count; a slow input is tried again. */
const DEFAULT_MAX_MS = 250;
const ATTEMPTS = 3;
/** What one input may add to the heap and its buffers before they are collected. */
const MAX_ADDED_BYTES = 96 * 1024 * 1024;
/** What all inputs together may leave behind. */
const MAX_KEPT_BYTES = 24 * 1024 * 1024;
const WARM_UP = 2_000;

const state = workerData as SharedState;
const counter = new Int32Array(state.counter);
const bytes = new Uint8Array(state.bytes);

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

/** What buffers occupied is free only after turns of the event loop. */
async function keptBytes(): Promise<number> {
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await new Promise(setImmediate);
  }
  return usedBytes();
}

function post(message: FuzzMessage): void {
  parentPort?.postMessage(message);
}

/** What is wrong with an input; the share of accepted inputs shows that the parser is reached. */
async function problemOf(
  { accepts, maxMs = DEFAULT_MAX_MS }: Parser,
  input: Buffer,
): Promise<{ problem: string | null; isAccepted: boolean }> {
  let isAccepted = false;
  const before = usedBytes();
  for (let attempt = 1; ; attempt += 1) {
    const began = process.threadCpuUsage();
    try {
      const answer = accepts(input);
      isAccepted = typeof answer === 'boolean' ? answer : await answer;
    } catch (error) {
      return { problem: error instanceof Error ? (error.stack ?? error.message) : String(error), isAccepted };
    }
    const { user, system } = process.threadCpuUsage(began);
    const ms = (user + system) / 1000;
    if (ms <= maxMs) break;
    if (attempt === ATTEMPTS) return { problem: `it takes ${Math.round(ms)} ms`, isAccepted };
  }
  const added = usedBytes() - before;
  if (added > MAX_ADDED_BYTES) return { problem: `it takes ${Math.round(added / 1e6)} MB`, isAccepted };
  for (const key in {}) return { problem: `Object.prototype has ${key}`, isAccepted };
  for (const key in []) return { problem: `Array.prototype has ${key}`, isAccepted };
  return { problem: null, isAccepted };
}

async function run({ name, hits, from, to, seed }: FuzzJob): Promise<void> {
  const { parsers } = (await import(state.table)) as typeof import('./parsers.ts');
  const load = parsers[name];
  if (load === undefined) throw new RangeError(`no parser ${name}`);
  const parser = await load();
  let [tried, accepted] = [0, 0];
  let keptAtFirst = 0;
  const judge = async (index: number, input: Buffer) => {
    bytes.set(input.subarray(0, MAX_INPUT_BYTES));
    Atomics.store(counter, 1, input.length);
    Atomics.store(counter, 2, index);
    Atomics.add(counter, 0, 1);
    const { problem, isAccepted } = await problemOf(parser, input);
    tried += 1;
    if (isAccepted) accepted += 1;
    if (problem !== null) post({ kind: 'hit', index, problem, input });
  };
  for (const [at, hit] of hits.entries()) await judge(at - hits.length, Buffer.from(hit));
  const inputOf = createMutator(parser, seed);
  for (let index = from; index < to; index += 1) {
    await judge(index, inputOf(index));
    if (index - from === WARM_UP) keptAtFirst = await keptBytes();
  }
  const kept = to - from > WARM_UP ? (await keptBytes()) - keptAtFirst : 0;
  const problem = kept > MAX_KEPT_BYTES ? `all inputs leave ${Math.round(kept / 1e6)} MB behind` : null;
  await parser[Symbol.asyncDispose]?.();
  post({ kind: 'done', tried, accepted, kept: problem });
}

parentPort?.on('message', (job: FuzzJob) => {
  void run(job).catch((error: unknown) => {
    throw error;
  });
});
