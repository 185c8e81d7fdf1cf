import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { tunnelConnectSchema } from '../../src/lib/toolkit/tunnel/tunnel.result.ts';
import { startProcess } from '../process.ts';
import { createWorld, type World } from '../tunnel/relay-world.ts';
import { startDestination } from '../tunnel/second-opinion/destination.ts';

const gw = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const secret = 'SourceToken-7f3a91c04be2d586-abcdefghijklmnop';
const tokens = { source: secret, destination: 'token-of-the-destination-side' };

let world: World;
let caFile: string;
beforeEach(async () => {
  world = await createWorld();
  caFile = join(tmpdir(), `gw-tunnel-connect-${process.pid}.pem`);
  await writeFile(caFile, world.caPem);
});
afterEach(() => world.close());

/** A service with the robot's side connected, which leads to a page. */
async function setUp() {
  const page = createServer((request, response) => response.end(`page ${request.url}`));
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve));
  world.onClose(() => {
    page.closeAllConnections();
    page.close();
  });
  const relay = await world.relay({ services: ['web'], tokens });
  const destination = await startDestination({
    host: 'localhost',
    port: relay.port,
    ca: world.caPem,
    token: tokens.destination,
    targets: { web: (page.address() as AddressInfo).port },
  });
  world.onClose(() => destination.close());
  const args = [
    '--tunnel-host',
    'localhost',
    '--tunnel-port',
    String(relay.port),
    '--ca-file',
    caFile,
    '--service',
    'web',
  ];
  return { relay, args };
}

const start = (args: readonly string[], options: { token?: string; input?: string } = {}) =>
  startProcess(process.execPath, [gw, 'tunnel', 'connect', ...args], {
    env: { ...process.env, NO_COLOR: '1', GW_TUNNEL_TOKEN: options.token },
    ...(options.input !== undefined && { input: options.input }),
  });

test('its first line is the address to open; a page comes through; the token is in one environment only', async () => {
  const { args } = await setUp();
  await using running = start(args, { token: secret });
  await running.untilOutput('Ctrl-C');
  const [first = ''] = running.stdout().split('\n');
  const url =
    /^Open (http:\/\/127\.0\.0\.1:\d+\/) in a browser: read-only page of the robot, through the tunnel\.$/.exec(
      first,
    )?.[1];
  expect(await (await fetch(`${url}service`)).text()).toBe('page /service');
  await running.untilOutput("web: the robot's side answers");
  const { pid } = running.child;
  expect(await readFile(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(secret);
  expect(await readFile(`/proc/${pid}/environ`, 'utf8')).toContain(secret);
  running.child.kill('SIGINT');
  const { code, stdout, stderr } = await running.closed;
  expect(code).toBe(0);
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^Tunnel ended here\. 1 connection, \d+ bytes received/);
  expect(stdout + stderr).not.toContain(secret.slice(0, 12));
});

test('the token from stdin, one JSON object a line, and the end by the service', async () => {
  const { relay, args } = await setUp();
  await using running = start([...args, '--json', '--region', 'eu-central-1'], { input: `${secret}\n` });
  await running.untilOutput('"event":"ready"');
  relay.closeTunnel();
  const { code, stdout } = await running.closed;
  expect(code).toBe(0);
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => tunnelConnectSchema.parse(JSON.parse(line)));
  expect(events.map(({ event }) => event)).toEqual(['ready', 'ended']);
  expect(events[0]).toMatchObject({
    robotSide: 'not-checked',
    region: { expected: 'eu-central-1', status: 'not-checked' },
  });
  expect(events[1]).toMatchObject({ reason: 'closed-by-service' });
});

test('a spent token ends with 4 and says that a token works once, without the token', async () => {
  const { relay, args } = await setUp();
  relay.answers.push({ status: 400, body: `The access token ${secret} was previously used` });
  const { code, stdout, stderr } = await start(args, { token: secret }).closed;
  expect(code).toBe(4);
  expect(stdout).toBe('');
  expect(stderr).toContain('a token works once');
  expect(stderr).toContain(`localhost:${relay.port}`);
  expect(stderr).not.toContain(secret.slice(0, 12));
});

test('another region, a port in use and a foreign service are refused; the first two before the token is used', async () => {
  const { relay, args } = await setUp();
  const elsewhere = await start(
    ['--tunnel-host', 'data.example.eu-west-1.amazonaws.com', '--service', 'web', '--region', 'eu-central-1'],
    { token: secret },
  ).closed;
  expect(elsewhere.code).toBe(2);
  expect(elsewhere.stderr).toContain('eu-west-1');
  const inUse = await start([...args, '--listen', `web=${relay.port}`], { token: secret }).closed;
  expect(inUse.code).toBe(4);
  expect(inUse.stderr).toContain('The token was not used');
  expect(relay.handshakes.filter(({ mode }) => mode === 'source')).toEqual([]);
  const foreign = await start([...args.slice(0, -1), 'other'], { token: secret }).closed;
  expect(foreign.code).toBe(2);
  expect(foreign.stderr).toContain('The tunnel has the services "web", not "other"');
});
