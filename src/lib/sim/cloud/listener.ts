import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { closeServer, listenOn } from '../listen.ts';
import type { Authority, Validity } from './certificates.ts';

/** The cloud of a simulated robot is on this machine, whatever anybody configures. */
export const CLOUD_HOST = '127.0.0.1';
export const CLOUD_NAMES = [CLOUD_HOST, 'localhost'] as const;

/** As a cloud of today has it, whatever the defaults of this process are. Its own: a simulator shares nothing with gw. */
const MIN_TLS = { minVersion: 'TLSv1.2' } as const;

/** What takes over a connection; it never listens itself. */
export type Taker = Pick<Server, 'emit'>;

/** What the certificate of a server says; by default that it is good now, for the addresses of the simulated cloud. */
export interface ServerPapers extends Validity {
  readonly names?: readonly [string, ...string[]];
}

/** TLS with a certificate of this authority for the addresses of the simulated cloud. */
export async function tlsTaker(
  authority: Authority,
  options: TlsOptions,
  onSecure: (socket: TLSSocket) => void,
): Promise<Taker> {
  const { keyPem, certificatePem } = await authority.issueServer({ names: CLOUD_NAMES });
  const server = createTlsServer({ ...options, ...MIN_TLS, key: keyPem, cert: certificatePem }, (socket) => {
    socket.on('error', () => {});
    onSecure(socket);
  });
  server.on('tlsClientError', () => {});
  return server;
}

export async function httpsTaker(
  authority: Authority,
  onRequest: RequestListener,
  papers: ServerPapers = {},
): Promise<Taker> {
  const { keyPem, certificatePem } = await authority.issueServer({ names: CLOUD_NAMES, ...papers });
  const server = createHttpsServer({ ...MIN_TLS, key: keyPem, cert: certificatePem }, onRequest);
  server.on('tlsClientError', () => {});
  return server;
}

export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** Closes the port and everything connected, or opens the same port again. Nothing opens it after its end. */
  setOpen(open: boolean): Promise<void>;
}

/**
 * One port. Who takes a connection is asked at each one, so that a fault that is switched meanwhile counts; undefined:
 * it is accepted and never answered. Throws PORT_IN_USE.
 */
export async function startListener(takerOf: () => Taker | undefined, wantedPort = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  let server = open();
  const port = await listenOn(server, CLOUD_HOST, wantedPort);
  let isEnded = false;
  /** Switching is done in turn. */
  let last = Promise.resolve();

  function open(): Server {
    const fresh = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => {});
      takerOf()?.emit('connection', socket);
    });
    // A connection that could not be taken is lost, and nothing else.
    return fresh.on('error', () => {});
  }

  async function close(): Promise<void> {
    const closed = closeServer(server);
    for (const socket of sockets) socket.destroy();
    await closed;
  }

  return {
    port,
    setOpen(isOpen) {
      const done = last.then(async () => {
        if (isEnded || isOpen === server.listening) return;
        if (!isOpen) return close();
        server = open();
        await listenOn(server, CLOUD_HOST, port);
      });
      // One that failed is told to who waits for it, and does not keep the next from being tried.
      last = done.catch(() => {});
      return done;
    },
    async [Symbol.asyncDispose]() {
      isEnded = true;
      await last;
      if (server.listening) await close();
    },
  };
}
