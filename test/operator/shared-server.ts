import { afterAll, beforeEach } from 'vitest';
import { type SetUp, startServer, type TestServer } from './server.ts';

/** One server for all tests of a file. Before each of them its robot is as at first, and no call of one is noted. */
export async function sharedServer(setUp?: SetUp): Promise<TestServer> {
  const server = await startServer(setUp);
  beforeEach(() => {
    server.link.reset();
    server.motion.reset();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  return server;
}
