import { createHook } from 'node:async_hooks';
import { setTimeout as realSleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

/** Rounds of the event loop without work in flight, after which the world has settled. */
const QUIET_ROUNDS = 3;
/** From then on each further round waits for a moment, so that other processes get the processor. */
const BUSY_ROUNDS = 30;
/** Bytes that no component reads for so many waiting rounds are not on their way: their reader has stopped reading. */
const UNREAD_ROUNDS = 2_000;

/** Jobs of the thread pool that are no request of the event loop: keys, hashes, signatures. */
const jobs = new Map<number, { readonly ondone?: unknown }>();
/** Open TCP connections, both ends of a local one. */
const connections = new Map<number, Connection>();
createHook({
  // Without it the hook would run for every promise.
  ...({ trackPromises: false } as object),
  init(id, type, _trigger, resource) {
    if (type.endsWith('REQUEST')) jobs.set(id, resource as object);
    else if (type === 'TCPWRAP') connections.set(id, { handle: resource as Handle, ends: null, rounds: 0 });
  },
  before: (id) => void jobs.delete(id),
  destroy(id) {
    jobs.delete(id);
    connections.delete(id);
  },
}).enable();

/** The TCP handle of Node.js. */
interface Handle {
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
  getsockname(out: { port?: number }): number;
  getpeername(out: { port?: number }): number;
}

interface Connection {
  readonly handle: Handle;
  /** Its own port and that of its peer, once it is connected. */
  ends: { readonly own: string; readonly peer: string } | null;
  /** Rounds since it is connected without a peer in this process. */
  rounds: number;
}

/** Requests to worker threads without a reply; the threads of gw give one reply to each request. */
let unanswered = 0;
const asked = new WeakMap<Worker, { requests: number }>();
const { postMessage } = Worker.prototype;
// Also the first request, which is sent before a listener of the process learns of the thread.
Worker.prototype.postMessage = function (this: Worker, ...message: Parameters<typeof postMessage>) {
  const own = asked.get(this) ?? count(this);
  own.requests += 1;
  unanswered += 1;
  postMessage.apply(this, message);
};

function count(worker: Worker): { requests: number } {
  const own = { requests: 0 };
  const answered = (replies: number) => {
    own.requests -= replies;
    unanswered -= replies;
  };
  worker.on('message', () => answered(Math.min(own.requests, 1)));
  worker.on('exit', () => answered(own.requests));
  asked.set(worker, own);
  return own;
}

function areJobsRunning(): boolean {
  for (const [id, { ondone }] of jobs) {
    // Without it the job ran synchronously, and is over.
    if (ondone === undefined) jobs.delete(id);
  }
  return jobs.size > 0;
}

/** Modules under way from the main process of the test runner: each module at its first use from each place. */
const areModulesLoading = () =>
  ((globalThis as { __vitest_worker__?: { resolvingModules?: ReadonlySet<string> } }).__vitest_worker__
    ?.resolvingModules?.size ?? 0) > 0;

const isRequest = (name: string) =>
  /^(?:FSReq|FileHandle|Close|GetAddrInfo|TCPConnect|PipeConnect|Write|Shutdown)/.test(name);

/**
 * Resolves when the world of this process has settled: no bytes in a socket buffer, no request of files, names or
 * connections, no job of the thread pool, no request to a worker thread, no module to load. On a slow machine that takes
 * longer.
 */
export async function settled(): Promise<void> {
  let unread = 0;
  for (let round = 0, quiet = 0; quiet < QUIET_ROUNDS; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    const isWorking =
      unanswered > 0 ||
      areJobsRunning() ||
      areModulesLoading() ||
      process.getActiveResourcesInfo().some((name) => isRequest(name));
    unread = areBytesUnread() ? unread + 1 : 0;
    if (isWorking || (unread > 0 && unread < UNREAD_ROUNDS)) {
      quiet = 0;
      if (round > BUSY_ROUNDS) await realSleep(1);
    } else quiet += 1;
  }
}

/** A connection that is not accepted after so many rounds has its other end in another process. */
const ACCEPT_ROUNDS = 20;

/**
 * Whether bytes were written at one end of a connection that were not read at its other end, or a connection was not
 * accepted so far.
 */
function areBytesUnread(): boolean {
  const byPorts = new Map<string, Connection>();
  for (const connection of connections.values()) {
    connection.ends ??= endsOf(connection.handle);
    if (connection.ends !== null) byPorts.set(connection.ends.own, connection);
  }
  let isUnread = false;
  for (const connection of byPorts.values()) {
    const peer = byPorts.get(connection.ends?.peer ?? '');
    if (peer === undefined) {
      connection.rounds += 1;
      if (connection.rounds < ACCEPT_ROUNDS) isUnread = true;
      continue;
    }
    connection.rounds = ACCEPT_ROUNDS;
    const { bytesWritten = 0 } = connection.handle;
    if (bytesWritten !== (peer.handle.bytesRead ?? bytesWritten)) isUnread = true;
  }
  return isUnread;
}

function endsOf(handle: Handle): Connection['ends'] {
  const [own, peer]: { port?: number }[] = [{}, {}];
  if (handle.getsockname(own ?? {}) !== 0 || handle.getpeername(peer ?? {}) !== 0) return null;
  return { own: `${own?.port}-${peer?.port}`, peer: `${peer?.port}-${own?.port}` };
}
