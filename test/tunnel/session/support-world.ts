import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Clock } from '../../../src/lib/lifecycle/index.ts';
import { auditRecords } from '../../../src/lib/tunnel/audit/index.ts';
import type { RunningSession, Support, SupportOptions } from '../../../src/lib/tunnel/model.ts';
import type { SessionRecord } from '../../../src/lib/tunnel/records/schema.ts';
import { createSupport } from '../../../src/lib/tunnel/session/index.ts';
import type { OpenRecords } from '../../../src/lib/tunnel/session/support.ts';
import { createFakeClock, type FakeClock } from '../../lifecycle/fake-clock.ts';
import { isAlive, type Spawned, writeFakeProxy } from './fake-proxy.ts';
import { type SiteOptions, siteOf, TOKEN } from './support-site.ts';

export { TOKEN };

export interface WorldOptions extends SiteOptions {
  readonly openRecords?: OpenRecords;
  readonly sendRecord?: SupportOptions['sendRecord'];
  readonly clock?: Clock;
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
    const limits = {
      serial: site.chassis.serial,
      region: region ?? '',
      services: tunnel?.services ?? [],
      maxMinutes: tunnel?.maxMinutes ?? 0,
    };
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
    offer(
      change: Partial<{
        token: string;
        clientMode: string;
        region: string;
        services: string[];
        isRepeated: boolean;
      }> = {},
      one = support,
    ) {
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
      await Promise.all(
        made.map(async (one) => {
          const stopped = one.stop().then(() => true);
          const within = (ms: number) => new Promise<false>((resolve) => setTimeout(resolve, ms, false));
          // Simulated time passes only for what does not end by itself.
          for (let ms = 2_000; !(await Promise.race([stopped, within(ms)])); ms = 10) await fake.advance(100);
        }),
      );
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
