import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** The cable to an SSH server, which can go silent, be reset, or be slow. */
export interface Link extends AsyncDisposable {
  readonly port: number;
  /** Nothing passes any more, and no connection ends: a radio link that is gone. */
  freeze(): void;
  reset(): void;
  /** Bytes from the server so far. */
  received(): number;
}

/** A radio link at the edge of its range; milliseconds. */
export interface Slowness {
  /** Of every byte in each direction. */
  readonly delayMs: number;
  /** Nothing passes for this long at the end of each period. */
  readonly stallMs: number;
  readonly everyMs: number;
}

export async function startLink(to: number, slowness?: Slowness, port = 0): Promise<Link> {
  let isFrozen = false;
  let received = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(to, '127.0.0.1');
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        if (!isFrozen) for (const one of [near, far]) one.destroy();
      });
    }
    const there = laneTo(far, slowness);
    const back = laneTo(near, slowness);
    near.on('data', (chunk) => isFrozen || there(chunk));
    far.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (!isFrozen) back(chunk);
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const reset = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as { port: number }).port,
    freeze() {
      isFrozen = true;
    },
    reset,
    received: () => received,
    async [Symbol.asyncDispose]() {
      isFrozen = false;
      reset();
      server.close();
    },
  };
}

/** Writes to a socket, in order, when each chunk has passed the link. */
function laneTo(socket: Socket, slowness: Slowness | undefined): (chunk: Uint8Array) => void {
  if (slowness === undefined) return (chunk) => void socket.write(chunk);
  const { delayMs, stallMs, everyMs } = slowness;
  const waiting: { chunk: Uint8Array; atMs: number }[] = [];
  const release = () => {
    const first = waiting[0];
    if (first === undefined || socket.destroyed) return;
    const now = performance.now();
    const intoPeriodMs = now % everyMs;
    const stalledForMs = intoPeriodMs > everyMs - stallMs ? everyMs - intoPeriodMs : 0;
    const waitMs = Math.max(first.atMs - now, stalledForMs);
    if (waitMs > 0.5) {
      setTimeout(release, waitMs);
      return;
    }
    waiting.shift();
    socket.write(first.chunk);
    release();
  };
  return (chunk) => {
    waiting.push({ chunk, atMs: performance.now() + delayMs });
    if (waiting.length === 1) release();
  };
}
