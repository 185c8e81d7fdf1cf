import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { GwError } from '../../../src/lib/error/index.ts';
// Loaded before the clock runs: a request is limited while it loads this.
import '../../../src/lib/net/http/index.ts';
import { directDialer, type Ssh } from '../../../src/lib/net/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { createWaitingClock } from './waiting-clock.ts';

export interface FakePose {
  readonly xM: number;
  readonly yM: number;
  readonly yawDeg: number;
}

/** A scripted operator server, without code of gw behind its routes. */
export interface FakeOperator extends AsyncDisposable {
  readonly toolkit: Toolkit;
  /** Every request as `METHOD path`, in order. */
  readonly requests: string[];
  /** Overrides the answer of a route when it returns one: status and body. */
  override: (request: IncomingMessage, body: string) => readonly [status: number, body: object] | undefined;
  latched: boolean;
  /** Pose of the robot, `ms` after the server started; null: the chassis reports no pose. */
  pose: (ms: number) => FakePose | null;
  moveState: () => string;
  /** What the gateway judges from the poses; null: an older gateway, which does not report it. */
  standstill: () => { readonly verdict: string; readonly reason: string } | null;
  /** What the gateway judges from its poses. */
  standing: () => { readonly verdict: 'stands' | 'moves' | 'not-known'; readonly reason: string };
  /** Age of the newest pose. */
  poseAgeMs: () => number;
  readonly password: string;
  sessions: Set<string>;
  nowMs(): number;
}

/** An SSH login that may open TCP connections only. */
export const forwardingOnly = {
  exec: () => Promise.reject(new GwError('SSH_CHANNEL_REFUSED', 'Program refused.')),
  socketDialer: () => ({ dial: () => Promise.reject(new GwError('SSH_CHANNEL_REFUSED', 'Forwarding refused.')) }),
} as unknown as Ssh;

export const context = () => ({ signal: new AbortController().signal, onProgress: () => {} });

/** It is the gateway of whichever robot its client means. */
const namedRobot = ({ headers }: IncomingMessage): Record<string, string> => {
  const meant = headers['gw-robot'];
  return typeof meant === 'string' ? { 'gw-robot': meant } : {};
};

/** Simulated time for the server and its clients, which a busy machine does not shorten. */
export async function startFakeOperator(): Promise<FakeOperator> {
  const clock = createWaitingClock();
  const nowMs = clock.monotonicMs;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString('utf8')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  const fake: FakeOperator = {
    toolkit: { site: { operator: { port }, stateDir: '/nonexistent' } as Site, dialer: directDialer, clock },
    requests: [],
    override: () => undefined,
    latched: false,
    pose: () => ({ xM: 0, yM: 0, yawDeg: 0 }),
    moveState: () => 'idle',
    standstill: () => ({ verdict: 'stands', reason: 'it moved less than 0.02 m/s' }),
    standing: () => ({ verdict: 'stands', reason: 'it moved less than 0.02 m/s' }),
    poseAgeMs: () => 1,
    password: 'correct horse',
    sessions: new Set(),
    nowMs,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };

  function answer(request: IncomingMessage, response: ServerResponse, body: string): void {
    const { method = '', url = '' } = request;
    fake.requests.push(`${method} ${url}`);
    const send = (status: number, data: object, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...namedRobot(request), ...headers })
        .end(JSON.stringify(data));
    const refuse = (status: number, code: string) => send(status, { error: { code, message: code } });
    const instead = fake.override(request, body);
    if (instead) return void send(...instead);
    const cookie = request.headers.cookie ?? '';
    const isSignedIn = fake.sessions.has(cookie);
    const stop = () => ({ stop: { latched: fake.latched } });
    switch (`${method} ${url}`) {
      case 'POST /api/anmeldung': {
        if ((JSON.parse(body) as { password: string }).password !== fake.password) {
          return void refuse(401, 'SIGN_IN_FAILED');
        }
        const token = `gw_session=t${fake.sessions.size + 1}`;
        fake.sessions.add(token);
        return void send(200, { signedIn: true }, { 'set-cookie': `${token}; HttpOnly; SameSite=Strict` });
      }
      case 'DELETE /api/anmeldung':
        fake.sessions.delete(cookie);
        return void send(200, { signedIn: false });
      case 'GET /api/einstellungen':
        return void (isSignedIn ? send(200, {}) : refuse(401, 'NOT_SIGNED_IN'));
      case 'GET /api/stopp':
        return void send(200, { ...stop(), standstill: fake.standstill() });
      case 'POST /api/stopp':
        fake.latched = true;
        return void send(200, stop());
      case 'DELETE /api/stopp':
        if (!isSignedIn) return void refuse(401, 'NOT_SIGNED_IN');
        fake.latched = false;
        return void send(200, stop());
      case 'POST /api/touren/lauf':
        return void (fake.latched ? refuse(423, 'MOTION_STOPPED') : send(202, { run: { state: 'running' } }));
      case 'GET /api/touren/lauf':
        return void send(200, { run: { state: fake.latched ? 'stopped' : 'running' } });
      case 'GET /api/chassis/state': {
        const pose = fake.pose(nowMs() - fake.poseAgeMs());
        return void send(200, {
          standing: fake.standing(),
          values: {
            pose:
              pose === null
                ? { status: 'not-received' }
                : { status: 'received', ageMs: Math.round(fake.poseAgeMs()), stale: false, value: pose },
            planning: { status: 'received', ageMs: 1, stale: false, value: { moveState: fake.moveState() } },
          },
        });
      }
      default:
        return void refuse(404, 'NOT_FOUND');
    }
  }
  return fake;
}
