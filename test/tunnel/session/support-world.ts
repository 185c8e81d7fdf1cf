import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Clock } from '../../../src/lib/lifecycle/index.ts';
import { auditRecords } from '../../../src/lib/tunnel/audit/index.ts';
import type { Support, SupportOptions } from '../../../src/lib/tunnel/model.ts';
import { openRecords } from '../../../src/lib/tunnel/records/index.ts';
import type { RecordBody, SessionRecord } from '../../../src/lib/tunnel/records/schema.ts';
import { createSupport } from '../../../src/lib/tunnel/session/index.ts';
import type { OpenRecords } from '../../../src/lib/tunnel/session/support.ts';
import type { RunningSession } from '../../../src/lib/tunnel/view.ts';
import { createFakeClock, type FakeClock } from '../../lifecycle/fake-clock.ts';
import { until } from '../../waiting.ts';
import { type FakeProxy, isAlive, type Spawned, writeFakeProxy } from './fake-proxy.ts';
import { type SiteOptions, siteOf, TOKEN } from './support-site.ts';

export { TOKEN };

export interface WorldOptions extends SiteOptions {
  readonly openRecords?: OpenRecords;
  readonly sendRecord?: SupportOptions['sendRecord'];
  readonly clock?: Clock;
}

/** The real records, with this before each one. */
export function recordsWith(before: (body: RecordBody) => Promise<void>): OpenRecords {
  return async (options) => {
    const real = await openRecords(options);
    const append = async (body: RecordBody) => {
      await before(body);
      return await real.append(body);
    };
    return { ...real, append };
  };
}

interface Offer {
  readonly token?: string;
  readonly clientMode?: string;
  readonly region?: string;
  readonly services?: string[];
  readonly isRepeated?: boolean;
}

export const connected = { event: 'connected', channelId: 'ch-1', localAddress: '127.0.0.1' } as const;

/** That waits for notifications. */
export async function startedWorld(options: WorldOptions = {}, behaviour: FakeProxy = {}) {
  const world = supportWorld(options);
  world.proxy.behave(behaviour);
  await world.start();
  return world;
}

/** With a session whose proxy is connected. */
export async function runningWorld(
  options: WorldOptions = {},
  change: Offer = {},
  behaviour: FakeProxy = { says: [connected] },
) {
  const world = await startedWorld(options, behaviour);
  world.offer(change);
  await world.untilRunning();
  return world;
}

/** Remote support with a program in place of the proxy, a clock that the test advances, and records on a real disk. */
export function supportWorld(options: WorldOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-support-'));
  const stateDir = join(dir, 'state');
  mkdirSync(stateDir, { mode: 0o700 });
  const recordsFile = join(stateDir, 'support', 'sessions.jsonl');
  const proxy = writeFakeProxy(join(dir, 'proxy'), recordsFile);
  const fake = createFakeClock();
  const clock = options.clock ?? fake;
  const site = siteOf(dir, options);
  const logged: { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> }[] = [];
  const log = (level: string) => (fields: object, message: string) =>
    void logged.push({ level, message, fields: { ...fields } });
  const sent: SessionRecord[] = [];
  const failures: unknown[] = [];
  const ending = new AbortController();
  const made: Support[] = [];

  function make(more: Partial<SupportOptions> = {}, openRecords = options.openRecords): Support {
    const support = createSupport(
      {
        site,
        clock,
        log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
        program: proxy.program,
        sendRecord: options.sendRecord ?? (async ({ record }) => void sent.push(record)),
        ...more,
      },
      openRecords,
    );
    made.push(support);
    return support;
  }

  async function audited() {
    if (!existsSync(join(stateDir, 'support'))) return [];
    const logFile = join(dir, 'gw.log');
    writeFileSync(logFile, logged.map((line) => `${JSON.stringify(line)}\n`).join(''));
    const { region, tunnel } = site.cloud ?? {};
    const { services = [], maxMinutes = 0 } = tunnel ?? {};
    const limits = { serial: site.chassis.serial, region: region ?? '', services, maxMinutes };
    const records = join(stateDir, 'support');
    return (await auditRecords({ records, logs: [logFile], limits, now: clock.wall() })).findings;
  }

  const support = make();
  return {
    dir,
    stateDir,
    recordsFile,
    proxy,
    clock: fake as FakeClock,
    support,
    make,
    logged,
    sent,
    failures,
    async start(one = support) {
      await one.start({ signal: ending.signal, fail: (error) => failures.push(error) });
    },
    offer(change: Offer = {}, one = support) {
      const { token = TOKEN, clientMode = 'destination', region = 'eu-central-1', services = ['web'] } = change;
      one.offer({ clientAccessToken: token, clientMode, region, services }, change.isRepeated ?? false);
    },
    records: () => readRecords(recordsFile),
    /** The program that was started as the nth, from 1. */
    async nth(n: number): Promise<Spawned> {
      await expect.poll(() => proxy.spawned().length).toBeGreaterThanOrEqual(n);
      return proxy.spawned()[n - 1] as Spawned;
    },
    async untilRecords(count: number): Promise<SessionRecord[]> {
      await expect.poll(() => readRecords(recordsFile).length).toBeGreaterThanOrEqual(count);
      return readRecords(recordsFile);
    },
    async untilRunning(state: RunningSession['state'] = 'connected', one = support) {
      await expect.poll(() => one.view().running?.state).toBe(state);
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      let areStopped = false;
      const stopping = Promise.all(made.map((one) => one.stop())).finally(() => {
        areStopped = true;
      });
      // A poll takes as long as what passes in it, so that a program has the time to end by itself.
      const pass = async () => {
        if (!areStopped) await fake.advance(10);
        return areStopped;
      };
      await until(pass, Boolean);
      await stopping;
      const findings = await audited();
      const left = proxy.spawned().filter(({ pid }) => isAlive(pid));
      for (const { pid } of left) process.kill(pid, 'SIGKILL');
      rmSync(dir, { recursive: true, force: true });
      expect(left.map(({ pid }) => pid)).toEqual([]);
      expect(fake.pending).toBe(0);
      expect(failures).toEqual([]);
      // Whatever a test does, its records and its log pass the audit of the product.
      expect(findings).toEqual([]);
    },
  };
}

function readRecords(path: string): SessionRecord[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return [];
  }
  return text
    .split('\n')
    .filter((line) => line.endsWith('"}'))
    .map((line) => JSON.parse(line));
}
