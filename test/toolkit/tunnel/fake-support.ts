import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { siteSchema } from '../../../src/lib/site/index.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import type { SessionEntry, SupportView } from '../../../src/lib/tunnel/index.ts';
import { connectedView } from '../../cloud/views.ts';
import { endOf, idOf, linesOf, startOf } from '../../tunnel/records/bodies.ts';
import { startFakeOperator } from '../operator/fake-operator.ts';

export const waiting: SupportView = {
  status: 'waiting',
  detail: 'No support session is running.',
  remedy: null,
  running: null,
  records: { status: 'ok', detail: 'Records are written.', notSentYet: 0 },
  lastRefused: null,
  lastEnded: null,
};

const AT = '2026-11-22T19:00:00.000Z';

export function runningView(session = 's-1', running: Partial<NonNullable<SupportView['running']>> = {}): SupportView {
  return {
    ...waiting,
    status: 'running',
    detail: 'A support session is running.',
    running: {
      session,
      services: ['web'],
      since: AT,
      forMs: 1_000,
      leftMs: 3_599_000,
      state: 'connected',
      reportAgeMs: 400,
      open: 0,
      connections: 0,
      ...running,
    },
  };
}

type Recorded = Extract<SessionEntry, { readonly kind: 'session' }>;

export function recorded(session: string, end: Partial<NonNullable<Recorded['end']>> | null = {}): Recorded {
  return {
    kind: 'session',
    session,
    at: AT,
    region: 'eu-central-1',
    services: ['web'],
    maxS: 3_600,
    end:
      end === null
        ? null
        : {
            at: '2026-11-22T19:12:00.000Z',
            reason: 'ended-on-site',
            detail: 'Ended on site.',
            durationS: 720,
            connections: 4,
            ...end,
          },
  };
}

/** The records of that session on the disk, by the description of their format, as `recorded` lists it. */
export function writeRecords(stateDir: string, change: (lines: readonly string[]) => readonly string[] = (all) => all) {
  const folder = join(stateDir, 'support');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const bodies = [startOf(1), endOf(1, 'ended-on-site', { durationS: 720 })];
  const lines = linesOf(bodies, { serial: 'SN0007', at: AT, stepS: 720 });
  const { seq, hash } = JSON.parse(lines.at(-1) ?? '') as { seq: number; hash: string };
  writeFileSync(join(folder, 'sessions.jsonl'), change(lines).join(''), { mode: 0o600 });
  const head = { format: 'gw/support-session-head/1', seq, hash, firstSeq: 1 };
  writeFileSync(join(folder, 'head.json'), `${JSON.stringify(head)}\n`, { mode: 0o600 });
}

/** The id of the session in those records. */
export const RECORDED_ID = idOf(1);

/** A gateway that a test changes while a check asks it, without code of gw behind its routes. */
export async function startFakeSupport(tunnel: object | null = { host: 'tunnel.example.test' }) {
  const operator = await startFakeOperator();
  const dir = mkdtempSync(join(tmpdir(), 'gw-fake-support-'));
  const stateDir = join(dir, 'state');
  const gateway = {
    operator,
    cloud: connectedView as object,
    view: waiting,
    entries: [] as readonly SessionEntry[],
    hasMore: false,
    proxies: [] as readonly number[],
    /** Lines that ask a person for something. */
    asked: [] as string[],
    onAsked: (_text: string) => {},
    /** Called at every request for the state; the number of such requests before it. */
    onView: (_n: number) => {},
    views: 0,
    /** What the end on site does; the answer. */
    onEnd: (): readonly [status: number, body: object] => {
      const { running } = gateway.view;
      if (running === null) return [200, { ended: false }];
      gateway.view = waiting;
      gateway.entries = [recorded(running.session), ...gateway.entries];
      return [200, { ended: true }];
    },
    onList: (): readonly [status: number, body: object] => [
      200,
      { sessions: gateway.entries, hasMore: gateway.hasMore },
    ],
    context: {
      signal: new AbortController().signal,
      onProgress(text: string) {
        if (!text.endsWith(' now')) return;
        gateway.asked.push(text);
        gateway.onAsked(text);
      },
    },
    async [Symbol.asyncDispose]() {
      await operator[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  operator.override = ({ method, url = '', headers }) => {
    if (url === '/api/cloud') return [200, gateway.cloud];
    if (url.startsWith('/api/wartung/sitzungen')) {
      const isSignedIn = operator.sessions.has(headers.cookie ?? '');
      return isSignedIn ? gateway.onList() : [401, { error: { code: 'NOT_SIGNED_IN', message: 'Sign-in required.' } }];
    }
    if (url !== '/api/wartung/sitzung') return undefined;
    if (method === 'DELETE') return gateway.onEnd();
    gateway.onView(gateway.views);
    gateway.views += 1;
    return [200, gateway.view];
  };
  const written = {
    name: 'Test',
    chassis: { host: '127.0.0.1', serial: 'SN0007' },
    operator: { port: operator.toolkit.site.operator.port },
    cloud: { mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' }, ...(tunnel !== null && { tunnel }) },
  };
  // JSON is YAML.
  const path = join(dir, 'site.yaml');
  writeFileSync(path, JSON.stringify({ ...written, stateDir: 'state' }));
  const site = { ...siteSchema.parse(written), path, dir, stateDir };
  const toolkit = { ...operator.toolkit, site } as Toolkit;
  return Object.assign(gateway, { toolkit });
}
export type FakeSupport = Awaited<ReturnType<typeof startFakeSupport>>;
