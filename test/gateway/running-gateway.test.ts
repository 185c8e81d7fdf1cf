import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { nameHolder } from '../../src/lib/gateway/running-gateway.ts';
import { openLocalListener } from '../../src/lib/operator/operator.ts';
import { localSocketPath, type Site } from '../../src/lib/site/index.ts';
import { createFakeClock, passTime } from '../lifecycle/fake-clock.ts';
import { folderOfEach } from '../lifecycle/folder.ts';

const stateDir = folderOfEach();
let holder: Server | TcpServer | undefined;
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await new Promise<void>((resolve) => (holder === undefined ? resolve() : holder.close(() => resolve())));
  holder = undefined;
});

const site = () => ({ stateDir: stateDir.path, chassis: { serial: 'A-1' }, operator: { port: 1 } }) as Site;

async function portOf(server: Server | TcpServer): Promise<number> {
  holder = server;
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const answering = (headers: Record<string, string>) =>
  createServer((_request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end('{}');
  });

const inUse = (port: number) =>
  new GwError('PORT_IN_USE', `Port ${port} is in use by another program.`, { tried: { address: '::', port } });

describe('the holder of a port in use', () => {
  it('is this robot where a gateway with its serial number answers, and is not to be ended while it drives', async () => {
    const port = await portOf(answering({ 'gw-robot': 'A-1' }));
    const error = await nameHolder(inUse(port), site());
    expect(error).toMatchObject({
      code: 'GATEWAY_RUNNING',
      exitCode: 4,
      message: `gw serve of this robot (A-1) runs already, on port ${port}, process ${process.pid}.`,
      remedy: expect.stringMatching(/Use the running gateway.*when the robot stands/),
    });
  });

  it('is another robot by its own serial number', async () => {
    const port = await portOf(answering({ 'gw-robot': 'B-2' }));
    const expected = { code: 'GATEWAY_RUNNING', message: expect.stringMatching(/another robot \(B-2\).*names A-1/) };
    expect(await nameHolder(inUse(port), site())).toMatchObject(expected);
  });

  it.each([
    ['another web server', answering({ server: 'other' })],
    ['one with a serial number of foreign characters', answering({ 'gw-robot': '\u0080\u009b31m' })],
    ['one that closes at once', createTcpServer((socket) => void socket.destroy())],
    ['one that speaks no HTTP', createTcpServer((socket) => void socket.end('220 hello\r\n'))],
    ['one that never answers', createTcpServer(), 100],
  ] as [string, Server | TcpServer, number?][])('is another program where it is %s', async (_, server, stepMs) => {
    const port = await portOf(server);
    const clock = createFakeClock();
    const named = nameHolder(inUse(port), site(), clock);
    expect(await (stepMs === undefined ? named : passTime(clock, stepMs, named))).toMatchObject({
      code: 'PORT_IN_USE',
      message: `Port ${port} is in use by another program, process ${process.pid}.`,
    });
  });

  it('of the state folder is a gateway by its local socket, whatever its ports; one that hangs is named so', async () => {
    const path = localSocketPath({ stateDir: stateDir.path });
    let isHanging = false;
    const listener = await openLocalListener(
      (_request, response) => {
        if (!isHanging) response.setHeader('gw-robot', 'A-1').end('{}');
      },
      { path, onBroken: () => {} },
    );
    const second = openLocalListener(() => {}, { path, onBroken: () => {} });
    const error = await second.catch((caught: unknown) => caught);
    expect(await nameHolder(error, site())).toMatchObject({
      code: 'GATEWAY_RUNNING',
      message: `gw serve of this robot (A-1) runs already, on the state folder ${stateDir.path}.`,
    });
    isHanging = true;
    const clock = createFakeClock();
    expect(await passTime(clock, 100, nameHolder(error, site(), clock))).toMatchObject({
      code: 'GATEWAY_RUNNING',
      message: expect.stringContaining('does not answer'),
      remedy: expect.stringContaining(path),
    });
    await listener.close(0);
  });

  it('is not asked for any other error', async () => {
    const other = new GwError('PORT_UNUSABLE', 'no', { tried: { address: '::', port: 1 } });
    expect(await nameHolder(other, site())).toBe(other);
  });
});
