import { createServer } from 'node:net';

/**
 * Locks a name for this process until disposed: an abstract socket, which the kernel of Linux assigns to one process and
 * releases when it ends. Elsewhere there is no lock. Rejects with EADDRINUSE while another one has it, and with other
 * errors of the operating system.
 */
export async function lockName(name: string): Promise<AsyncDisposable> {
  if (process.platform !== 'linux') return { [Symbol.asyncDispose]: async () => {} };
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Stays: what happens to the name after it was given changes nothing.
  server.on('error', reject);
  server.listen(`\0${name}`, resolve);
  await promise;
  server.unref();
  return {
    [Symbol.asyncDispose]: () => new Promise((done) => server.close(() => done())),
  };
}
