import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, onTestFinished } from 'vitest';
import { runs } from '../properties.ts';

/** A context of a check that is never interrupted. */
export const context = () => ({ signal: new AbortController().signal, onProgress: (_text: string) => {} });

const newFolder = () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-toolkit-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
};

/** A folder that the tests of a file share, or those of a describe. */
export function sharedFolder(): string {
  const { dir, remove } = newFolder();
  afterAll(remove);
  return dir;
}

/** A folder of one test; also in its beforeEach. */
export function ownFolder(): string {
  const { dir, remove } = newFolder();
  onTestFinished(remove);
  return dir;
}

/** An HTTP server on a port or socket of its own. */
export async function httpServer(listener: RequestListener, path?: string) {
  const server = createServer(listener);
  if (path === undefined) server.listen(0, '127.0.0.1');
  else server.listen(path);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The verdict of each finding by its id. */
export const verdictsOf = (findings: readonly { readonly id: string; readonly verdict: string }[]) =>
  Object.fromEntries(findings.map(({ id, verdict }) => [id, verdict]));

/** Any UTF-16 text, lone surrogates too; without the tables of fast-check, which take a second to build. */
export const anyText = (maxLength = 20) =>
  fc
    .array(fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0xffff })), { maxLength })
    .map((units) => String.fromCharCode(...units));

type Values = [unknown, ...unknown[]];
type Arbitraries<Ts extends Values> = { [K in keyof Ts]: fc.Arbitrary<Ts[K]> };

/** A property that holds for all of these values; `Of`: with another number of cases than `npm run test:all` has by default. */
export const forAllOf =
  (all: number) =>
  <Ts extends Values>(...args: [...Arbitraries<Ts>, (...values: Ts) => unknown]) => {
    const holds = args.pop() as (...values: Ts) => unknown;
    const predicate = (...values: Ts) => holds(...values) !== false;
    fc.assert(fc.property(...(args as unknown as Arbitraries<Ts>), predicate), { numRuns: runs(all) });
  };
export const forAllAsyncOf =
  (all: number) =>
  async <Ts extends Values>(...args: [...Arbitraries<Ts>, (...values: Ts) => Promise<unknown>]) => {
    const holds = args.pop() as (...values: Ts) => Promise<unknown>;
    const predicate = async (...values: Ts) => (await holds(...values)) !== false;
    await fc.assert(fc.asyncProperty(...(args as unknown as Arbitraries<Ts>), predicate), { numRuns: runs(all) });
  };
export const forAll = forAllOf(100);
export const forAllAsync = forAllAsyncOf(100);
