import { appendFileSync, chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ServeEvent, serveEventSchema } from '../../src/lib/gateway/serve.result.ts';
import { listeners } from '../listeners.ts';
import { runGw, startGw } from './gw.ts';
import { chassisState, readJson, showUnit, startRobot, startServe, until } from './robot.ts';

const READ_ONLY_PORT = 5174;

interface Runs {
  readonly gate: { readonly open: boolean };
  readonly drive: { readonly state: string } | null;
}

const eventsOf = (stdout: string): ServeEvent[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => serveEventSchema.parse(JSON.parse(line)));

async function health(port: number) {
  const reply = await fetch(`http://127.0.0.1:${port}/api/health`);
  return (await reply.json()) as { status: string; services: { name: string; status: string; detail: string }[] };
}

async function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

async function post(port: number, path: string, body: object, method = 'POST') {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

const motionIn = <S extends { readonly name: string }>(services: readonly S[]) =>
  services.find(({ name }) => name === 'motion');

describe('gw serve', () => {
  it('prints one line per service and ready, logs to stderr, and ends with 0 on SIGTERM', async () => {
    await using robot = await startRobot();
    await using serve = startGw(['serve', '--site', robot.site]);
    await serve.untilOutput('ready');
    const lines = serve.stdout().trim().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual([
      ...['chassis', 'day-list', 'motion', 'evidence', 'operator', 'ready'],
    ]);
    expect(lines[4]).toContain(`:${robot.operatorPort}`);
    expect(lines[4]).toContain(`127.0.0.1:${READ_ONLY_PORT}`);
    for (const line of serve.stderr().trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('msg');

    const { code } = await serve.end('SIGTERM');
    expect(code).toBe(0);
    expect(serve.stdout().trim().split('\n').at(-1)).toBe('ended');
    expect(await listens(robot.operatorPort)).toBe(false);
    expect(await listens(READ_ONLY_PORT)).toBe(false);
    expect(readdirSync(join(robot.dir, 'state')).filter((name) => /\.(new|probe)$/.test(name))).toEqual([]);
  });

  it.each([{ words: ['serve'] }, { words: ['--no-color', 'serve'] }])(
    'as $words ends with 0 after its last line, whatever handles node has open',
    { tags: 'large' },
    async ({ words }) => {
      await using robot = await startRobot();
      await using serve = startGw([...words, '--site', robot.site], {
        node: ['--import', 'data:text/javascript,setInterval(() => {}, 60_000)'],
      });
      await serve.untilOutput('ready');
      const { code } = await serve.end('SIGTERM');
      expect([code, serve.stdout().trim().split('\n').at(-1)]).toEqual([0, 'ended']);
    },
  );

  it('prints the same as one JSON object per line, and reports its health at /api/health', async () => {
    await using robot = await startRobot();
    await using serve = await startServe(robot.site);
    for (const port of [robot.operatorPort, READ_ONLY_PORT]) {
      const answer = await until(
        () => health(port),
        ({ services }) => motionIn(services)?.detail === 'gate open',
      );
      expect(answer).toMatchObject({
        status: 'ok',
        services: [
          { name: 'chassis', status: 'running', detail: `connected: 127.0.0.1:${robot.chassisPort}` },
          { name: 'day-list', status: 'running' },
          { name: 'motion', status: 'running', detail: 'gate open' },
          { name: 'evidence', status: 'running' },
          { name: 'operator', status: 'running' },
        ],
      });
    }
    expect((await serve.end('SIGINT')).code).toBe(0);
    const events = eventsOf(serve.stdout());
    expect(events.find(({ event }) => event === 'ready')).toMatchObject({
      serial: 'SIM-0001',
      ports: { operator: robot.operatorPort, readOnly: READ_ONLY_PORT },
    });
    expect(events.slice(-7).map((event) => ('service' in event ? event.service : event.event))).toEqual([
      'stopping',
      'operator',
      'evidence',
      'motion',
      'day-list',
      'chassis',
      'ended',
    ]);
  });

  it.each(['SIGTERM', 'SIGQUIT'] as const)('ends in time on %s in a tour, and the robot is at rest', async (signal) => {
    await using robot = await startRobot();
    await using serve = await startServe(robot.site);
    await until(
      () => health(robot.operatorPort),
      ({ services }) => motionIn(services)?.detail === 'gate open',
    );
    expect((await post(robot.operatorPort, '/api/touren/lauf', { tour: 'demo' })).status).toBe(202);
    await until(
      () => health(robot.operatorPort),
      ({ services }) => motionIn(services)?.detail.startsWith('tour demo') === true,
    );
    const { code } = await serve.end(signal);
    expect(code).toBe(0);
    const moves = (await (await fetch(`http://127.0.0.1:${robot.chassisPort}/chassis/moves`)).json()) as {
      state: string;
    }[];
    expect(moves[0]?.state).toBe('cancelled');
  });

  it('opens no inspector on SIGUSR1, through which any user could run code as the daemon, and continues', {
    tags: 'large',
  }, async () => {
    await using robot = await startRobot();
    await using serve = await startServe(robot.site);
    const { pid = 0 } = serve.child;
    const before = listeners(pid);
    process.kill(pid, 'SIGUSR1');
    expect(before.length).toBeGreaterThan(0);
    // Node.js handles a signal before the next request that arrives: an inspector would be open by then.
    for (let request = 0; request < 20; request += 1) {
      expect((await health(robot.operatorPort)).status).toBe('ok');
    }
    expect(listeners(pid)).toEqual(before);
    expect(serve.stderr()).not.toContain('Debugger');
  });

  it('ends in time although the chassis never answers', { tags: 'large' }, async () => {
    await using robot = await startRobot();
    await using serve = await startServe(robot.site);
    await robot.fault('silent', 'on');
    await until(
      () => chassisState(robot.operatorPort),
      ({ link }) => link.kind === 'not-connected',
    );
    const { code } = await serve.end('SIGTERM');
    expect(code).toBe(0);
  });

  it('keeps a stop across kill -9', async () => {
    await using robot = await startRobot();
    {
      await using serve = await startServe(robot.site);
      expect((await post(robot.operatorPort, '/api/stopp', { reason: 'person in the way' })).status).toBe(200);
      await serve.end('SIGKILL');
    }
    expect(readJson(join(robot.dir, 'state', 'stop-latch.json'))).toMatchObject({ latched: true });
    await using _again = await startServe(robot.site);
    const refused = await post(robot.operatorPort, '/api/touren/lauf', { tour: 'demo' });
    expect(refused.status).toBe(423);
  });

  it('stops the robot also without a usable state folder, media folder or heartbeat, and reports it', {
    tags: 'large',
  }, async () => {
    await using robot = await startRobot();
    rmSync(join(robot.dir, 'state'), { recursive: true, force: true });
    writeFileSync(join(robot.dir, 'state'), 'a file where the folder should be');
    appendFileSync(robot.site, 'fleet: { keyFile: no-such-key }\n');
    rmSync(join(robot.dir, 'media'), { recursive: true, force: true });
    symlinkSync('media', join(robot.dir, 'media'));
    await using _serve = await startServe(robot.site);
    const found = await health(robot.operatorPort);
    expect(found.status).toBe('degraded');
    expect(found.services.at(-1)).toMatchObject({ name: 'operator', status: 'running' });
    expect(found.services.at(-1)?.detail).toContain('no socket for local commands');
    const stopped = await post(robot.operatorPort, '/api/stopp', { reason: 'person in the way' });
    expect([stopped.status, await stopped.json()]).toMatchObject([200, { stop: { latched: true, saved: false } }]);
    expect((await post(robot.operatorPort, '/api/touren/lauf', { tour: 'demo' })).status).toBe(423);
  });

  it('handles a stop although evidence and device password are unreadable, and names both files', {
    tags: 'large',
  }, async () => {
    await using robot = await startRobot({ with: ['password'] });
    const [, file = ''] = /passwordFile: (.*)/.exec(readFileSync(robot.site, 'utf8')) ?? [];
    chmodSync(join(robot.dir, file), 0o644);
    appendFileSync(join(robot.dir, 'evidence.jsonl'), 'half a rec');
    await using serve = await startServe(robot.site);
    const found = await health(robot.operatorPort);
    expect(found).toMatchObject({
      status: 'degraded',
      evidence: { status: 'unreadable', detail: expect.stringContaining('evidenceFile:') },
    });
    expect(found.services.find(({ name }) => name === 'operator')?.detail).toContain('operator.passwordFile');
    expect((await post(robot.operatorPort, '/api/anmeldung', { password: 'whatever' })).status).toBe(503);
    expect((await post(robot.operatorPort, '/api/fahrt', { station: 'A' })).status).toBe(409);
    const stop = await post(robot.operatorPort, '/api/stopp', { reason: 'test' });
    expect([stop.status, await stop.json()]).toMatchObject([200, { stop: { latched: true } }]);
    // The answer does not wait for a slow disk.
    await until(
      async () => {
        const answer = await fetch(`http://127.0.0.1:${robot.operatorPort}/api/stopp`);
        return (await answer.json()) as { readonly stop: { readonly saved: boolean | 'pending' } };
      },
      ({ stop: { saved } }) => saved === true,
    );
    expect((await serve.end('SIGTERM')).code).toBe(0);
  });

  it('answers a stop that comes while it starts as soon as it can, and never loses it', { tags: 'large' }, async () => {
    await using robot = await startRobot();
    await using _serve = startGw(['serve', '--site', robot.site]);
    const answer = await until(
      () => post(robot.operatorPort, '/api/stopp', { reason: 'early' }).catch(() => null),
      (reply) => reply !== null,
    );
    expect([answer?.status, await answer?.json()]).toMatchObject([200, { stop: { latched: true, reason: 'early' } }]);
    await until(
      () => health(robot.operatorPort),
      ({ services }) => services.some(({ detail }) => detail.includes('stop latched') && detail.includes('early')),
    );
  });
});

describe('gw serve that cannot start', () => {
  it('reports a read-only port in use, in text and in JSON, and leaves nothing open', async () => {
    await using robot = await startRobot();
    const occupied = createServer((socket) => void socket.destroy()).listen(READ_ONLY_PORT, '127.0.0.1');
    try {
      const text = await runGw(['serve', '--site', robot.site, '--log-level', 'error']);
      expect(text.code).toBe(4);
      expect(text.stderr).toContain(String(READ_ONLY_PORT));
      expect(text.stderr).toContain('ss -ltnp');
      expect(text.stdout).not.toContain('ready');
      const json = await runGw(['serve', '--site', robot.site, '--json']);
      expect(json.code).toBe(4);
      const last = JSON.parse(json.stdout.trim().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ schema: 'gw/serve/1', ok: false, data: null, error: { code: 'PORT_IN_USE' } });
      expect(await listens(robot.operatorPort)).toBe(false);
    } finally {
      await new Promise((resolve) => occupied.close(resolve));
    }
  });

  it('because it runs already leaves the drive of the running one alone', { tags: 'large' }, async () => {
    await using robot = await startRobot();
    await using serve = await startServe(robot.site);
    const touren = async () =>
      (await (await fetch(`http://127.0.0.1:${robot.operatorPort}/api/touren`)).json()) as Runs;
    await showUnit(robot);
    await until(touren, ({ gate }) => gate.open);
    const going = runGw(['motion', 'go', 'A', '--site', robot.site, '--robot-will-move', '--json']);
    await until(touren, ({ drive }) => drive?.state === 'running');

    const second = await runGw(['serve', '--site', robot.site]);
    expect([second.code, second.stdout]).toEqual([4, '']);
    expect(second.stderr).toContain('gw serve of this robot (SIM-0001) runs already, on port');
    expect(second.stderr).toContain(`process ${serve.child.pid}`);
    expect(second.stderr).not.toMatch(/cancel(led|ling)|did not order/);

    const go = await going;
    expect([go.code, go.stdout]).toEqual([0, expect.stringContaining('"state": "succeeded"')]);
  });

  it('reports an invalid site file and a secret that others may read', { tags: 'large' }, async () => {
    await using robot = await startRobot({ with: ['password'] });
    const good = readFileSync(robot.site, 'utf8');
    writeFileSync(robot.site, `${good}readOnlyPort: 5175\n`);
    const bad = await runGw(['serve', '--site', robot.site]);
    expect(bad.code).toBe(78);
    expect(bad.stderr).toContain('readOnlyPort');

    writeFileSync(robot.site, good);
    const secret = join(robot.dir, 'chassis-secret.txt');
    writeFileSync(secret, 'of-the-chassis\n', { mode: 0o644 });
    writeFileSync(robot.site, good.replace(/^chassis:\n/m, `chassis:\n  secretFile: ${secret}\n`));
    const open = await runGw(['serve', '--site', robot.site]);
    expect(open.code).toBe(78);
    expect(open.stderr).toContain('chmod 600');
    expect(open.stdout).not.toContain('ready');

    expect((await runGw(['serve', '--site', join(robot.dir, 'none.yaml')])).code).toBe(78);
    expect((await runGw(['serve', '--no-such-flag'])).code).toBe(78);
  });
});
