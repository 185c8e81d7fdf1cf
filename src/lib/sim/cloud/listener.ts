import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { closeServer, listenOn } from '../listen.ts';
import type { CertificateAuthority, ServerCertificateOptions } from './certificates.ts';

/** A constant, so that the simulated cloud is never reachable from the network. */
export const CLOUD_HOST = '127.0.0.1';
export const CLOUD_NAMES = [CLOUD_HOST, 'localhost'] as const;

/** Set explicitly, independent of the defaults of this process. */
const MIN_TLS = { minVersion: 'TLSv1.2' } as const;

/** A server that handles accepted connections and does not listen itself. */
export type ConnectionHandler = Pick<Server, 'emit'>;

/** TLS with a certificate of this CA for the addresses of the simulated cloud. */
export async function createTlsHandler(
  ca: CertificateAuthority,
  options: TlsOptions,
  onSecure: (socket: TLSSocket) => void,
): Promise<ConnectionHandler> {
  const { keyPem, certificatePem } = await ca.issueServer({ names: CLOUD_NAMES });
  const server = createTlsServer({ ...options, ...MIN_TLS, key: keyPem, cert: certificatePem }, (socket) => {
    socket.on('error', () => {});
    onSecure(socket);
  });
  server.on('tlsClientError', () => {});
  return server;
}

interface HttpsOptions {
  /** For requests to upgrade; without it they are handled as others. */
  readonly onUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Limit of request line and headers; 431 above it. */
  readonly maxRequestBytes?: number;
  /** CA of the client certificates that it asks for; a client may have none, or one of another CA. */
  readonly clientCa?: string;
}

export async function createHttpsHandler(
  ca: CertificateAuthority,
  onRequest: RequestListener,
  fields: Partial<ServerCertificateOptions> = {},
  { onUpgrade, maxRequestBytes, clientCa }: HttpsOptions = {},
): Promise<ConnectionHandler> {
  const { keyPem, certificatePem } = await ca.issueServer({ names: CLOUD_NAMES, ...fields });
  const limits = maxRequestBytes === undefined ? {} : { maxHeaderSize: maxRequestBytes };
  const asks = clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientCa };
  const server = createHttpsServer({ ...MIN_TLS, ...limits, ...asks, key: keyPem, cert: certificatePem }, onRequest);
  if (onUpgrade !== undefined) server.on('upgrade', onUpgrade);
  server.on('tlsClientError', () => {});
  return server;
}

export interface Listener extends AsyncDisposable {
  readonly port: number;
  /** Closes the port and all connections, or opens the same port again. No effect after disposal. */
  setOpen(open: boolean): Promise<void>;
}

/**
 * One port. `handlerOf` is called for each connection, so that a changed fault takes effect; undefined: accepted and
 * never answered. Throws PORT_IN_USE.
 */
export async function startListener(handlerOf: () => ConnectionHandler | undefined, wantedPort = 0): Promise<Listener> {
  const sockets = new Set<Socket>();
  let server = open();
  const port = await listenOn(server, CLOUD_HOST, wantedPort);
  let isEnded = false;
  /** Serialises opening and closing. */
  let last = Promise.resolve();

  function open(): Server {
    const fresh = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      socket.on('error', () => {});
      handlerOf()?.emit('connection', socket);
    });
    // A failed accept affects that connection only.
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
      // The caller receives a failure; the next change is still attempted.
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
