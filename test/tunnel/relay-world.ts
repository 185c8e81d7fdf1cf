import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { createCa, type IssuedPair } from '../../src/lib/sim/cloud/certificates.ts';
import { listening } from '../listening.ts';
import { type Relay, type RelayOptions, startRelay } from './second-opinion/relay.ts';

export const tokens = { source: 'token-of-the-source-side', destination: 'token-of-the-destination-side' } as const;

/** One for all relays of this process. */
let issued: Promise<{ readonly caPem: string; readonly pair: IssuedPair }> | undefined;

async function issue() {
  const ca = await createCa({ commonName: 'Second opinion' });
  return { caPem: ca.caPem, pair: await ca.issueServer({ names: ['localhost', '127.0.0.1'] }) };
}

/** A relay with a certificate of a CA made here, and local TCP services; `close` ends everything. */
export async function createWorld() {
  issued ??= issue();
  const { caPem, pair } = await issued;
  const closers: (() => Promise<unknown> | unknown)[] = [];
  return {
    caPem,
    /** Called in reverse order. */
    onClose: (fn: () => Promise<unknown> | unknown) => void closers.push(fn),
    async relay(options: Partial<RelayOptions> & { readonly services: readonly string[] }): Promise<Relay> {
      const relay = await startRelay({ key: pair.keyPem, cert: pair.certificatePem, tokens, ...options });
      closers.push(() => relay.close());
      return relay;
    },
    async service(onSocket: (socket: Socket) => void) {
      const server = createServer(onSocket);
      const running = await listening(server);
      closers.push(() => running[Symbol.asyncDispose]());
      return { ...running, server };
    },
    async close() {
      for (const closer of closers.splice(0).reverse()) await closer();
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;

export const echo = (socket: Socket): void => void socket.pipe(socket);

/** A client that keeps what it receives. */
export function client(port: number) {
  const socket = connect({ host: '127.0.0.1', port });
  const ended = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  const pieces: Buffer[] = [];
  let size = 0;
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    pieces.push(bytes);
    size += bytes.length;
  });
  return {
    socket,
    /** Resolves when the connection is closed, in whatever way. */
    ended,
    received: () => Buffer.concat(pieces),
    async until(bytes: number): Promise<Buffer> {
      while (size < bytes) {
        if (socket.destroyed) throw new Error(`closed after ${size} of ${bytes} bytes`);
        await new Promise<void>((resolve) => {
          const done = () => {
            socket.off('data', done);
            socket.off('close', done);
            resolve();
          };
          socket.on('data', done);
          socket.on('close', done);
        });
      }
      return Buffer.concat(pieces);
    },
  };
}

/** Sends random bytes and returns whether the same bytes come back. */
export async function sameBack(port: number, bytes: number): Promise<boolean> {
  const sent = randomBytes(bytes);
  const { socket, until } = client(port);
  socket.write(sent);
  const back = await until(bytes);
  socket.destroy();
  return back.equals(sent);
}
