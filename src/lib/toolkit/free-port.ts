import { createServer } from 'node:net';

/**
 * Binds a port and closes it again: `port`, or any free one for 0; undefined when it is in use. Without a host, on all
 * addresses. Another process may bind it before the caller does.
 */
export function tryPort(host: string | undefined, port: number): Promise<number | undefined> {
  const server = createServer();
  const { promise, resolve: settle } = Promise.withResolvers<number | undefined>();
  server.once('error', () => settle(undefined));
  server.listen({ port, ...(host !== undefined && { host }) }, () => {
    const address = server.address();
    server.close(() => settle(typeof address === 'object' ? address?.port : undefined));
  });
  return promise;
}
