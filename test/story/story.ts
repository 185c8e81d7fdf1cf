import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtPages, generatedSchemas } from '../../src/cli/shipped.ts';
import { type ServeEvent, serve } from '../../src/lib/gateway/index.ts';
import type { Log } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type FaultName, type Sim, type SimOptions, startSim } from '../../src/lib/sim/index.ts';
import { loadSite } from '../../src/lib/site/index.ts';
import type { Toolkit } from '../../src/lib/toolkit/index.ts';
import { freePort } from '../free-port.ts';
import { createFakeClock, type FakeClock } from '../lifecycle/fake-clock.ts';
import { until as untilSeen } from '../waiting.ts';
import { settled } from './in-flight.ts';
import { loadLateModules } from './late-modules.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Simulated time after which a state that did not come fails its story. */
const MAX_MS = 300_000;
const STEP_MS = 100;

/**
 * Robot and gateway in this process, on a clock that moves on only when nothing is in flight: a slow machine makes the
 * story longer, and never different. The gateway opens its fixed port, so a story has a network of its own.
 */
export interface Story extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly sim: Sim;
  readonly dir: string;
  readonly sitePath: string;
  readonly operatorPort: number;
  /** What each command opens: site, dialer, and the clock of the story. */
  toolkit(): Promise<Toolkit>;
  /** Log of the gateway, a line each. */
  readonly logged: readonly string[];
  /** Starts the gateway; it ends with the story. Resolves when it is ready. */
  startGateway(): Promise<void>;
  /** Ends the gateway in order. */
  stopGateway(): Promise<void>;
  /** Time passes while this is under way. */
  during<T>(work: Promise<T>): Promise<T>;
  /** Time passes until the value is as expected; fails after 5 simulated minutes. */
  until<T>(read: () => T | Promise<T>, isExpected: (value: T) => boolean): Promise<T>;
  /** A request to the operator server; resolves with the JSON of its answer. */
  operator(path: string, request?: { readonly method: string; readonly body?: object }): Promise<unknown>;
  /** A page of the operator server. */
  page(path: string): Promise<string>;
  /** A request to the chassis itself, as any client on its network. */
  chassis(method: string, path: string, body?: object): Promise<unknown>;
  /** Switches a fault, and waits until it is in effect. */
  fault(name: FaultName, on: boolean): Promise<void>;
}

/** A person who interrupts nothing. */
export const context = (signal = new AbortController().signal) => ({ signal, onProgress: () => {}, onAlarm: () => {} });

export async function startStory(options: Omit<SimOptions, 'dir' | 'operatorPort' | 'clock'> = {}): Promise<Story> {
  await loadLateModules();
  // Certificates are made for the date of the machine.
  const clock = createFakeClock({ settled, wall: new Date() });
  const dir = await mkdtemp(join(tmpdir(), 'gw-story-'));
  const operatorPort = await freePort();
  const logged: string[] = [];
  const keep = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = { debug: () => {}, info: keep, warn: keep, error: keep };

  let stepping: Promise<void> | null = null;
  /** One step at a time, also where several wait. */
  const step = () => {
    stepping ??= clock.step(STEP_MS).finally(() => {
      stepping = null;
    });
    return stepping;
  };

  async function during<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const done = () => {
      isDone = true;
    };
    work.then(done, done);
    const endsMs = clock.monotonicMs() + MAX_MS;
    while (!isDone && clock.monotonicMs() <= endsMs) await step();
    // What waits for no clock may take longer on a busy machine: the time of the story stands for it.
    await untilSeen(
      () => isDone,
      (is) => is,
    );
    return await work;
  }

  async function until<T>(read: () => T | Promise<T>, isExpected: (value: T) => boolean): Promise<T> {
    const endsMs = clock.monotonicMs() + MAX_MS;
    for (;;) {
      const value = await read();
      if (isExpected(value)) return value;
      if (clock.monotonicMs() > endsMs) {
        throw new Error(
          `not seen in ${MAX_MS / 1000} simulated seconds: ${isExpected}; last: ${JSON.stringify(value)}`,
        );
      }
      await step();
    }
  }

  const sim = await during(startSim({ ...options, dir, operatorPort, clock }));
  const sitePath = join(dir, 'site.yaml');
  let gateway: { readonly end: () => Promise<void> } | null = null;

  async function startGateway(): Promise<void> {
    const ending = new AbortController();
    const events: ServeEvent[] = [];
    const served = serve({
      sitePath,
      log,
      clock,
      dialer: directDialer,
      assetsDir: builtPages(root),
      contractsDir: generatedSchemas(root),
      version: '1.0.0',
      program: [process.execPath, join(root, 'bin', 'run.js')],
      onEvent: (event) => events.push(event),
      signal: ending.signal,
    });
    const failed = served.then((last) => {
      throw new Error(`the gateway ended: ${JSON.stringify(last)}`);
    });
    failed.catch(() => {});
    gateway = {
      async end() {
        ending.abort();
        await during(served);
      },
    };
    await Promise.race([
      until(
        () => events,
        (all) => all.some(({ event }) => event === 'ready'),
      ),
      failed,
    ]);
  }

  async function stopGateway(): Promise<void> {
    await gateway?.end();
    gateway = null;
  }

  const request = async (port: number, path: string, method: string, body?: object) => {
    const init = body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const text = await during(
      fetch(`http://127.0.0.1:${port}${path}`, { method, ...init }).then((answer) => answer.text()),
    );
    return text;
  };
  const json = (text: string) => (text === '' ? null : JSON.parse(text));

  return {
    operator: (path, { method, body } = { method: 'GET' }) => request(operatorPort, path, method, body).then(json),
    page: (path) => request(operatorPort, path, 'GET'),
    chassis: (method, path, body) => request(sim.chassis.port, path, method, body).then(json),
    ...{ clock, sim, dir, sitePath, operatorPort, logged, startGateway, stopGateway, during, until },
    toolkit: async () => ({ site: await loadSite(sitePath), dialer: directDialer, clock }),
    async fault(name, on) {
      sim.setFault(name, on);
      await during(sim.settled());
    },
    async [Symbol.asyncDispose]() {
      await stopGateway();
      await during(Promise.resolve(sim[Symbol.asyncDispose]()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}
