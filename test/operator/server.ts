import { scryptSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { noCloud } from '../../src/lib/gateway/cloud.ts';
import { notListening } from '../../src/lib/gateway/neighbours.ts';
import { openIncidentStore } from '../../src/lib/incident/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createApplication } from '../../src/lib/operator/application.ts';
import type { ConnectionLimits } from '../../src/lib/operator/connections/limits.ts';
import type { OperatorOptions } from '../../src/lib/operator/index.ts';
import { openListeners } from '../../src/lib/operator/operator.ts';
import { createRuns } from '../../src/lib/operator/view/run-view.ts';
import { type Site, siteSchema } from '../../src/lib/site/index.ts';
import { sampleBody, sampleHead } from '../incident/incidents.ts';
import { SERIAL, type StandInClock, standInClock, standInHealth, standInLink, standInMotion } from './stand-ins.ts';

export const PASSWORD = 'correct horse';

export interface SetUp {
  readonly voiceUrl?: string;
  readonly buildingUrl?: string;
  readonly password?: boolean;
  readonly hostName?: string;
  readonly names?: string[];
  readonly tourNeedsSignIn?: boolean;
  readonly disk?: { readonly mediaMb?: number; readonly reserveMb?: number };
  readonly more?: Partial<OperatorOptions>;
  /** A kept incident with number 7. */
  readonly incident?: true;
  /** Changes of the site file, after its check. */
  readonly site?: Partial<Site>;
  /** Limits of both listeners, where they differ from the defaults. */
  readonly limits?: Partial<ConnectionLimits>;
}

/** The application behind a full and a read-only listener, both on ports of the system's choice. */
export async function startServer(setUp: SetUp = {}) {
  const dir = await mkdtemp(join(tmpdir(), 'gw-operator-'));
  const site = await siteIn(dir, setUp);
  await writeFile(join(dir, 'style.css'), 'body { margin: 0 }');
  await writeFile(join(dir, 'main.js'), 'export {};');
  if (setUp.incident) await keepIncident(site.stateDir);
  const link = standInLink();
  const motion = standInMotion();
  const clock: StandInClock = standInClock();
  const health = standInHealth({ version: '0.0.0-test', upForMs: 5_000 });
  const common = { site, clock, log: silentLog };
  const options = {
    ...{ ...common, link, motion },
    health: () => health,
    neighbours: () => notListening,
    cloud: () => noCloud,
    checkCloudPath: null,
    support: null,
    assetsDir: dir,
    contractsDir: fileURLToPath(new URL('../../schemas', import.meta.url)),
    hostName: setUp.hostName ?? 'robot-7',
    ...setUp.more,
  };
  const application = await createApplication(options, createRuns(options));
  const listening = { host: '127.0.0.1', port: 0, clock, ...(setUp.limits && { limits: setUp.limits }) };
  const [full, readOnly] = await openListeners(application, [
    { scope: 'full', ...listening },
    { scope: 'read-only', ...listening },
  ]);
  if (!full || !readOnly) throw new Error('expected two listeners');
  return {
    ...{ dir, site, link, motion, clock, health, application, full: full.port, readOnly: readOnly.port },
    listeners: [full, readOnly],
    async [Symbol.asyncDispose]() {
      application.endStreams();
      const closed = Promise.all([full.close(0), readOnly.close(0)]);
      clock.advance(0);
      await closed;
      await application.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export type TestServer = Awaited<ReturnType<typeof startServer>>;

/** A hash of minimum cost, since tests sign in often. */
export function hashOf(password: string, saltByte = 7): string {
  const salt = Buffer.alloc(16, saltByte);
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  const hash = scryptSync(password, salt, 32, { N: 1_024, r: 1, p: 1 });
  return `$scrypt$ln=10,r=1,p=1$${text(salt)}$${text(hash)}`;
}

async function siteIn(dir: string, setUp: SetUp): Promise<Site> {
  const passwordFile = join(dir, 'password');
  if (setUp.password) await writeFile(passwordFile, `${hashOf(PASSWORD)}\n`, { mode: 0o600 });
  const file = siteSchema.parse({
    name: 'Hotel <Test>',
    chassis: { host: '127.0.0.1', port: 8090, serial: SERIAL },
    operator: {
      names: setUp.names ?? ['bot.example'],
      mediaDir: join(dir, 'media'),
      ...(setUp.password && { passwordFile }),
      ...(setUp.tourNeedsSignIn && { tourNeedsSignIn: true }),
      ...(setUp.voiceUrl && { voice: { url: setUp.voiceUrl } }),
      ...(setUp.buildingUrl && { building: { url: setUp.buildingUrl } }),
    },
    stateDir: join(dir, 'state'),
    ...(setUp.disk && { disk: setUp.disk }),
    stations: { A: { xM: 0, yM: 0 }, B: { xM: 1, yM: 1, yawDeg: 90 } },
    tours: { breakfast: { stations: ['A', 'B'] } },
  });
  return { ...file, path: join(dir, 'site.yaml'), dir, ...setUp.site };
}

async function keepIncident(stateDir: string): Promise<void> {
  const store = openIncidentStore(join(stateDir, 'incidents'), new Date());
  await store.save({ ...sampleHead, id: 7 }, sampleBody);
}

export interface RawAnswer {
  /** 0 without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
  /** Every status on this connection, in order. */
  readonly statuses: readonly number[];
}

/** Sends raw bytes and reads until the peer closes: the last of these requests must end its connection. */
export function sendRaw(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const { promise, resolve } = Promise.withResolvers<RawAnswer>();
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  const done = () => {
    const raw = Buffer.concat(chunks).toString('latin1');
    const end = raw.indexOf('\r\n\r\n');
    const statuses = [...raw.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((match) => Number(match[1]));
    resolve({
      status: statuses[0] ?? 0,
      head: end < 0 ? raw : raw.slice(0, end),
      body: end < 0 ? '' : raw.slice(end + 4),
      statuses,
    });
  };
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  socket.on('close', done);
  socket.on('connect', () => socket.write(bytes));
  return promise;
}

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests say what they expect of it
  readonly data: any;
}

/** A request as a program on the tablet sends it. */
export async function ask(port: number, path: string, init: RequestInit = {}): Promise<JsonAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual', ...init });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, data: isJson ? JSON.parse(text) : text };
}

export function postJson(port: number, path: string, body: unknown, headers: Record<string, string> = {}) {
  return ask(port, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

/** Signs in and gives the Cookie header. */
export async function signIn(port: number): Promise<string> {
  const { status, headers } = await postJson(port, '/api/anmeldung', { password: PASSWORD });
  if (status !== 200) throw new Error(`sign-in answered ${status}`);
  return headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** One request line with the headers that a well-behaved client sends. */
export function get(port: number, target: string, method = 'GET', headers: readonly string[] = []): Promise<RawAnswer> {
  const lines = [`${method} ${target} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Connection: close', ...headers];
  return sendRaw(port, `${lines.join('\r\n')}\r\n\r\n`);
}
