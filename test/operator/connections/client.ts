import { channel } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import {
  type ListenerOptions,
  openListener,
  type RequestHandler,
} from '../../../src/lib/operator/connections/listener.ts';
import { until } from '../../waiting.ts';
import type { StandInClock } from '../stand-ins.ts';

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
      await until(
        () => condition(text) || isClosed,
        (is) => is,
      );
      return text;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** The requests whose heads are parsed in this process from now on. */
export function parsedRequests(): IncomingMessage[] & Disposable {
  const requests: IncomingMessage[] = [];
  const begun = channel('http.server.request.start');
  const note = (message: unknown) => void requests.push((message as { request: IncomingMessage }).request);
  begun.subscribe(note);
  return Object.assign(requests, { [Symbol.dispose]: () => void begun.unsubscribe(note) });
}

/** An answer on a connection of its own. */
export async function answerTo(port: number, line: string, localAddress: string): Promise<string> {
  using connection = await client(port, localAddress);
  connection.send(head(line, 'Content-Length: 0', 'Connection: close'));
  await connection.closed;
  return connection.text().split('\r\n', 1)[0] ?? '';
}

export async function listener(
  handler: RequestHandler,
  options: Partial<Omit<ListenerOptions, 'path' | 'clock'>> & { readonly clock?: StandInClock } = {},
) {
  const opened = await openListener(handler, { scope: 'full', host: '127.0.0.1', port: 0, ...options });
  return {
    ...opened,
    async [Symbol.asyncDispose]() {
      const closed = opened.close(0);
      options.clock?.advance(0);
      await closed;
    },
  };
}
