import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, expect, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer, type Endpoint } from '../../src/lib/net/index.ts';
// Loaded before a clock of a test runs: a request is limited while it loads this.
import '../../src/lib/net/http/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import type { Toolkit } from '../../src/lib/toolkit/toolkit.ts';
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

/** One of these for each test, disposed after it. */
export function eachTest<T extends AsyncDisposable>(start: () => Promise<T>, keep: (one: T) => void): void {
  beforeEach(async () => {
    const one = await start();
    onTestFinished(() => one[Symbol.asyncDispose]());
    keep(one);
  });
}

/** A text that contains or matches this one, as a value of toMatchObject. */
export const has = (text: string | RegExp) =>
  typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);

interface About {
  readonly clock?: Clock;
  /** More lines of the key `chassis`. */
  readonly more?: string;
  readonly path?: string;
}

/** A toolkit for the chassis at this address, directly. */
export function toolkitOf(
  { host, port, serial = 'SN-1' }: Endpoint & { readonly serial?: string },
  { clock = systemClock, more = '', path = '/tmp/site.yaml' }: About = {},
): Toolkit {
  const text = `name: test\nchassis:\n  host: ${host}\n  port: ${port}\n  serial: ${serial}\n${more}`;
  return { site: parseSite(text, path), dialer: directDialer, clock };
}
