import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { directDialer } from '../../../src/lib/net/index.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';

/** What a check works with, on a clock that stands until the test advances it. */
export function toolkit() {
  return { dialer: directDialer, clock: createFakeClock() };
}

/** A context of a check that is never interrupted. */
export const context = { signal: new AbortController().signal, onProgress: () => {} };

/** Listens on 127.0.0.1 for the duration of the test; returns the port. */
export async function listening(server: Server): Promise<number> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {});
    open.add(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A port on which nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A name server with one answer to each question: an IPv4 address, a response code, or silence. */
export async function nameServer(answerOf: (name: string) => string | number | null): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.subarray(at + 1, at + 1 + length).toString('latin1'));
      at += 1 + length;
    }
    const answer = answerOf(labels.join('.'));
    if (answer === null) return;
    const head = Buffer.alloc(12);
    question.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | (typeof answer === 'number' ? answer : 0), 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(typeof answer === 'string' ? 1 : 0, 6);
    const record =
      typeof answer === 'string'
        ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...answer.split('.').map(Number)])
        : Buffer.alloc(0);
    socket.send(Buffer.concat([head, question.subarray(12, at + 5), record]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => {
    socket.close();
  });
  return `127.0.0.1:${socket.address().port}`;
}

/** A folder that is removed at the end of the test. */
export async function tempDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'gw-own-check-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}
