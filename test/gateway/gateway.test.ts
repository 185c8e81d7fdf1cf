import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ServeEvent, serve, startGateway } from '../../src/lib/gateway/index.ts';
import type { Log } from '../../src/lib/lifecycle/index.ts';
import { type Dialer, directDialer } from '../../src/lib/net/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';

const dir = folderOfEach();
let occupied: Server;
let events: ServeEvent[];
let logged: string[];
let dials: number;

beforeEach(async () => {
  events = [];
  logged = [];
  dials = 0;
  occupied = createServer((socket) => void socket.destroy());
  await new Promise<void>((resolve) => occupied.listen(0, '::', resolve));
});
afterEach(async () => {
  await new Promise((resolve) => occupied.close(resolve));
});

const sitePath = () => dir.at('site.yaml');
const occupiedPort = () => (occupied.address() as AddressInfo).port;
const keep = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
const counting: Dialer = {
  way: 'counted',
  dial(endpoint, options) {
    dials += 1;
    return directDialer.dial(endpoint, options);
  },
};

/** The port of its operator server is in use. */
function writeSite(more = ''): void {
  const chassis = 'chassis:\n  host: 127.0.0.1\n  port: 1\n  serial: TEST-1\n';
  writeFileSync(sitePath(), `name: Test\n${chassis}${more}operator:\n  port: ${occupiedPort()}\n`);
}

const clock = createFakeClock();
const parts = () => ({
  ...{
    sitePath: sitePath(),
    assetsDir: dir.path,
    contractsDir: dir.path,
    version: '0.0.0',
    program: ['/none'] as const,
  },
  ...{ clock, log, dialer: counting, onRestart: () => {} },
});

const start = (signal = new AbortController().signal) =>
  startGateway({ ...parts(), onEvent: (event) => events.push(event), signal });

describe('a start that cannot succeed', () => {
  it('because the port is in use names port and process before anything is sent to the chassis or changed', async () => {
    writeSite();
    await expect(start()).rejects.toMatchObject({
      code: 'PORT_IN_USE',
      exitCode: 4,
      message: expect.stringMatching(new RegExp(`Port ${occupiedPort()} .*process ${process.pid}`)),
      remedy: expect.stringContaining('ss -ltnp'),
    });
    expect(events).toEqual([]);
    expect(existsSync(dir.at('state', 'local', 'gw.sock'))).toBe(false);
    expect(readFileSync(sitePath(), 'utf8')).toContain('TEST-1');
    await clock.advance(60_000);
    expect(dials).toBe(0);
  });

  it('because there is no site file fails before any connection', async () => {
    await expect(start()).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND', exitCode: 2 });
    expect(dials).toBe(0);
    expect(events).toEqual([]);
  });

  it.each([
    ['a wrong value', 'name: Test\nchassis: 7\n'],
    ['an unknown key', 'name: Test\nchassis: { host: 127.0.0.1, serial: A }\nreadOnlyPort: 5175\n'],
    ['the read-only port', 'name: T\nchassis: { host: 127.0.0.1, serial: A }\noperator: { port: 5174 }\n'],
    ['a folder of its own', null],
  ])('because the site file is or has %s ends with exit code 2', async (_, text) => {
    if (text === null) mkdirSync(sitePath());
    else writeFileSync(sitePath(), text);
    await expect(start()).rejects.toMatchObject({ exitCode: 2, code: expect.stringMatching(/^SITE_FILE_/) });
    expect(events.every((event) => event.event !== 'ready')).toBe(true);
  });

  it('because a secret is open to others names the file and not its content', async () => {
    writeSite('  secretFile: secret\n');
    writeFileSync(dir.at('secret'), 'secret-content\n', { mode: 0o644 });
    await expect(start()).rejects.toMatchObject({
      code: 'SECRET_UNREADABLE',
      exitCode: 2,
      message: expect.stringContaining(dir.at('secret')),
      remedy: expect.stringContaining('chmod 600'),
    });
    expect(JSON.stringify([events, logged])).not.toContain('secret-content');
    expect(dials).toBe(0);
  });
});

describe('the daemon', () => {
  it('that is stopped before it is ready ends without an error', async () => {
    writeSite();
    const ending = new AbortController();
    ending.abort();
    const options = { ...parts(), onEvent: () => {}, signal: ending.signal };
    expect(await serve(options)).toEqual({ event: 'ended' });
    expect(dials).toBe(0);
  });

  it('that cannot start fails with the reason', async () => {
    writeSite();
    const options = { ...parts(), onEvent: () => {}, signal: new AbortController().signal };
    await expect(serve(options)).rejects.toMatchObject({ code: 'PORT_IN_USE' });
  });
});
