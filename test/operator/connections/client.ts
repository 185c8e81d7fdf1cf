import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ListenerOptions,
  openListener,
  type RequestHandler,
} from '../../../src/lib/operator/connections/listener.ts';

export const head = (line: string, ...more: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: localhost', ...more].join('\r\n')}\r\n\r\n`;

/** An observable client: the bytes it received, and when the server closed it. All of 127/8 is this machine. */
export async function client(port: number, localAddress = '127.0.0.1', reads = true) {
  const socket: Socket = connect({ host: '127.0.0.1', port, localAddress });
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let text = '';
  let isClosed = false;
  if (reads) {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
  }
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    resolve();
  });
  await new Promise<void>((connected, failed) => {
    socket.once('connect', connected);
    socket.once('error', failed);
  });
  return {
    socket,
    closed,
    send: (bytes: string) => socket.write(bytes),
    text: () => text,
    isClosed: () => isClosed,
    async until(condition: (text: string) => boolean) {
      while (!condition(text) && !isClosed) await sleep(2);
      return text;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** An answer on a connection of its own. */
export async function answerTo(port: number, line: string, localAddress: string): Promise<string> {
  using connection = await client(port, localAddress);
  connection.send(head(line, 'Content-Length: 0', 'Connection: close'));
  await connection.closed;
  return connection.text().split('\r\n', 1)[0] ?? '';
}

export async function listener(handler: RequestHandler, options: Partial<Omit<ListenerOptions, 'path'>> = {}) {
  const opened = await openListener(handler, { scope: 'full', host: '127.0.0.1', port: 0, ...options });
  return { ...opened, [Symbol.asyncDispose]: () => opened.close(0) };
}
