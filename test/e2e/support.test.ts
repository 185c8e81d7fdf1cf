import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { openToolkit } from '../../src/lib/toolkit/toolkit.ts';
import { freePort } from '../free-port.ts';
import { routes } from '../operator/http/route-table.ts';
import { type Running, runGw, startGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

/** A support session with `gw serve`, its proxy, the simulated tunnel service and `gw tunnel connect`. */

interface View {
  readonly status: string;
  readonly running: { readonly session: string; readonly state: string; readonly open: number | null } | null;
  readonly lastRefused: { readonly reason: string } | null;
  readonly records: { readonly notSentYet: number | null };
}

const context = { signal: new AbortController().signal, onProgress: () => {} };

async function viewOf({ operatorPort }: Robot): Promise<View> {
  return (await (await fetch(`http://127.0.0.1:${operatorPort}/api/wartung/sitzung`)).json()) as View;
}

/** Lines of the records, oldest first. */
function recordsOf({ dir }: Robot): Record<string, unknown>[] {
  const text = readFileSync(join(dir, 'state', 'support', 'sessions.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Process ids of the proxies of this gateway. */
function proxiesOf(serve: Running): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => readProc(pid, 'status').includes(`\nPPid:\t${serve.child.pid}\n`))
    .filter((pid) => readProc(pid, 'cmdline').includes('\0tunnel\0proxy\0'));
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Files below a folder that contain the text. A gateway that runs replaces files meanwhile: a look in which one was gone
 * before it was read is none, for its content is under a name that may have been read before.
 */
function filesWith(dir: string, text: string): string[] {
  for (let look = 0; look < 100; look += 1) {
    const contents = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => ({ path, content: contentOf(path) }));
    if (contents.some(({ content }) => content === null)) continue;
    return contents.filter(({ content }) => content?.includes(text)).map(({ path }) => path);
  }
  throw new Error(`Files below ${dir} went away during each of 100 looks.`);
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function ask(port: number, method: string, path: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asking = request({ host: '127.0.0.1', port, method, path, agent: false }, (answer) => {
    resolve(answer.statusCode ?? 0);
    answer.destroy();
  });
  asking.on('error', reject).end();
  return promise;
}

describe('a support session', () => {
  let robot: Robot;
  let serve: Running;
  beforeAll(async () => {
    robot = await startRobot({ with: ['enrolment', 'cloud', 'password'] });
    const readCode = () => readSecret(robot.sim.enrolment?.codePath ?? '', 'the one-time code');
    await enrolDevice(await openToolkit(robot.site), { renew: false, readCode }, context);
    serve = await startServe(robot.site);
    await until(
      async () =>
        (await fetch(`http://127.0.0.1:${robot.operatorPort}/api/cloud`)).json() as Promise<{ status: string }>,
      ({ status }) => status === 'connected',
    );
  });
  afterAll(async () => {
    await serve?.[Symbol.asyncDispose]();
    await robot?.[Symbol.asyncDispose]();
  });
  const tunnels = () => {
    if (robot.sim.cloud === null) throw new Error('there is no cloud');
    return robot.sim.cloud.tunnel;
  };
  const open = async () => {
    const before = (await viewOf(robot)).running?.session;
    const opened = await tunnels().open({ services: ['web'], lifetimeMs: 600_000 });
    await until(
      () => viewOf(robot),
      ({ running }) => running?.state === 'connected' && running.session !== before,
    );
    return opened;
  };
  /** Its record follows the end of the session, on a disk of its own pace. */
  const ended = async () => {
    await until(
      () => viewOf(robot),
      ({ running }) => running === null,
    );
    await until(
      async () => recordsOf(robot).at(-1),
      (record) => record?.kind === 'end',
    );
  };
  const connect = async (sourceToken: string, localPort: number) => {
    const { host, port } = tunnels().place;
    const words = [
      '--service',
      'web',
      '--listen',
      `web=${localPort}`,
      '--tunnel-host',
      host,
      '--tunnel-port',
      `${port}`,
    ];
    const source = startGw(['tunnel', 'connect', ...words, '--ca-file', join(robot.dir, 'enrolment-ca.pem')], {
      env: { GW_TUNNEL_TOKEN: sourceToken },
    });
    await source.untilOutput(`http://127.0.0.1:${localPort}/`);
    return source;
  };

  test('reaches the read-only socket and nothing else: every route answers as on 5174', async () => {
    const { tunnel, sourceToken } = await open();
    const port = await freePort();
    await using _source = await connect(sourceToken, port);
    for (const [method, path, , status] of routes) {
      const direct = await ask(5174, method, path);
      expect([method, path, await ask(port, method, path)]).toEqual([method, path, direct]);
      // The map 7 is one of the table's own robot.
      if (path !== '/api/chassis/maps/7') expect([method, path, direct]).toEqual([method, path, status]);
    }
    // Values and their ages change meanwhile.
    const shape = async (at: number) =>
      (await (await fetch(`http://127.0.0.1:${at}/service`)).text()).replaceAll(/-?\d+([.,]\d+)?/g, 'N');
    // So does what waits for the cloud, between two readings of the page.
    await until(
      async () => [await shape(port), await shape(5174)] as const,
      ([through, direct]) => through === direct,
    );
    tunnels().close(tunnel.tunnelId);
    await ended();
    expect(recordsOf(robot).at(-1)).toMatchObject({ kind: 'end', reason: 'closed-by-cloud' });
  });

  test('has its token in exactly one environment, and nowhere else', async () => {
    const { tunnel, destinationToken } = await open();
    const [proxy, ...others] = proxiesOf(serve);
    expect(others).toEqual([]);
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const holding = (file: string) => pids.map(Number).filter((pid) => readProc(pid, file).includes(destinationToken));
    expect(holding('cmdline')).toEqual([]);
    expect(holding('environ')).toEqual([proxy]);
    const names = readProc(proxy as number, 'environ')
      .split('\0')
      .filter(Boolean);
    expect(names.map((entry) => entry.split('=')[0]).sort()).toEqual(
      expect.not.arrayContaining(['HOME', 'GW_SITE', 'NODE_OPTIONS']),
    );
    expect(readProc(proxy as number, 'limits')).toMatch(/Max core file size +0 +0/);
    expect(readProc(proxy as number, 'coredump_filter').trim()).toMatch(/^0+$/);
    tunnels().close(tunnel.tunnelId);
    await ended();
    await until(
      () => viewOf(robot),
      ({ records }) => records.notSentYet === 0,
    );
    expect([serve.stdout(), serve.stderr()].filter((text) => text.includes(destinationToken))).toEqual([]);
    expect(filesWith(robot.dir, destinationToken)).toEqual([]);
  });

  test('is ended on site by the command, and shown to people until then', async () => {
    await open();
    const status = await runGw(['tunnel', 'status', '--site', robot.site]);
    expect([status.code, status.stdout.split('\n')[0]]).toEqual([
      0,
      expect.stringMatching(/^A support session is running: web, connected/),
    ]);
    const page = await (await fetch(`http://127.0.0.1:${robot.operatorPort}/service`)).text();
    expect(page).toContain('web');
    expect((await runGw(['tunnel', 'end', '--site', robot.site])).code).toBe(0);
    await ended();
    expect(recordsOf(robot).at(-1)).toMatchObject({ kind: 'end', reason: 'ended-on-site' });
    expect(proxiesOf(serve)).toEqual([]);
  });

  test('whose gateway is killed loses its proxy, and its record is closed at the next start', async () => {
    await open();
    const [proxy = 0] = proxiesOf(serve);
    expect(proxy).toBeGreaterThan(0);
    await serve.end('SIGKILL');
    await until(
      async () => readProc(proxy, 'cmdline'),
      (words) => words === '',
    );
    expect(recordsOf(robot).at(-1)).toMatchObject({ kind: 'start' });
    serve = await startServe(robot.site);
    await until(
      async () => recordsOf(robot).at(-1),
      (last) => last?.kind === 'end',
    );
    expect(recordsOf(robot).at(-1)).toMatchObject({ reason: 'unclean-shutdown', durationS: null });
  });

  test('leaves records that the audit verifies against the copy of the cloud', async () => {
    await until(
      () => viewOf(robot),
      ({ records }) => records.notSentYet === 0,
    );
    // Its last record is on the disk before head.json names it.
    const written = async (name: string) => readFile(join(robot.dir, 'state', 'support', name), 'utf8');
    await until(
      async () => [
        JSON.parse(await written('head.json')).seq,
        (await written('sessions.jsonl')).split('\n').length - 1,
      ],
      ([seq, lines]) => seq === lines,
    );
    const copy = join(robot.dir, 'cloud-records.jsonl');
    const received = robot.sim.cloud
      ?.received()
      .filter(({ topic }) => topic === 'gw/SIM-0001/records')
      .map(({ payload }) => Buffer.from(payload).toString());
    await writeFile(copy, `${received?.join('\n')}\n`);
    const log = join(robot.dir, 'searched.log');
    await writeFile(log, 'no token\n');
    const audit = ['tunnel', 'audit', '--site', robot.site, '--cloud', copy, '--log', log, '--json'];
    const { code, stdout } = await runGw([...audit, '--accept-undecided']);
    const { data } = JSON.parse(stdout) as { data: object };
    expect([code, data]).toEqual([
      0,
      expect.objectContaining({ verdict: 'not-decided', local: 'ok', findings: [], sessions: 4, uncleanShutdowns: 1 }),
    ]);
    const records = join(robot.dir, 'state', 'support', 'sessions.jsonl');
    const changed = (await readFile(records, 'utf8')).replace('closed-by-cloud', 'own-clock');
    const tampered = join(robot.dir, 'tampered.jsonl');
    await writeFile(tampered, changed);
    const other = await runGw(['tunnel', 'audit', '--records', tampered, '--cloud', copy]);
    expect(other.code).toBe(1);
    expect(other.stdout).toContain('tampered.jsonl:2');
  });
});
