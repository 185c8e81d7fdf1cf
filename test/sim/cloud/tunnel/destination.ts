import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect as connectTcp, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { framed, hex, SUBPROTOCOL, varint } from './client.ts';

// A destination of its own: it knows stream 1 of one service, and reads only as much protobuf as this needs.

export interface TestDestination extends Disposable {
  readonly ws: WebSocket;
  /** Number of TCP connections made so far. */
  connections(): number;
}

/** Fields 1, 4 and 7 of a message; field 5 is skipped. */
function read(body: Buffer): { type: number; connection: number; payload: Buffer } {
  let at = 0;
  let type = 0;
  let connection = 0;
  let payload: Buffer = Buffer.alloc(0);
  const next = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = body[at++] ?? 0;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < body.length) {
    const key = next();
    const value = next();
    if ((key & 7) === 2) {
      if (key >> 3 === 4) payload = body.subarray(at, at + value);
      at += value;
    } else if (key >> 3 === 1) type = value;
    else if (key >> 3 === 7) connection = value;
  }
  return { type, connection, payload };
}

/** Connects with the token of a notification and relays each connection to a local port. */
export function startDestination(
  place: { readonly host: string; readonly port: number },
  about: { readonly ca: string; readonly token: string; readonly service: string; readonly targetPort: number },
): TestDestination {
  const ws = new WebSocket(`wss://${place.host}:${place.port}/tunnel?local-proxy-mode=destination`, [SUBPROTOCOL], {
    ca: about.ca,
    headers: { 'access-token': about.token },
    perMessageDeflate: false,
  });
  const service = Buffer.concat([Buffer.from([0x2a]), varint(about.service.length), Buffer.from(about.service)]);
  const sockets = new Map<number, Socket>();
  let count = 0;
  let rest = Buffer.alloc(0);
  ws.on('error', () => {});
  ws.on('message', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0);
      handle(read(rest.subarray(2, end)));
      rest = rest.subarray(end);
    }
  });
  function handle({ type, connection, payload }: ReturnType<typeof read>): void {
    const id = Buffer.concat([Buffer.from([0x38]), varint(connection)]);
    if (type === 2 || type === 6) {
      count += 1;
      const socket = connectTcp(about.targetPort, '127.0.0.1');
      sockets.set(connection, socket);
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        for (let at = 0; at < chunk.length; at += 60_000) {
          const part = chunk.subarray(at, at + 60_000);
          const field = Buffer.concat([Buffer.from([0x22]), varint(part.length), part]);
          ws.send(framed(Buffer.concat([hex('08011001'), field, service, id])));
        }
      });
      socket.on('close', () => {
        if (sockets.delete(connection)) ws.send(framed(Buffer.concat([hex('08071001'), service, id])));
      });
    } else if (type === 1) sockets.get(connection)?.write(payload);
    else if (type === 7) {
      const socket = sockets.get(connection);
      sockets.delete(connection);
      socket?.end();
    }
  }
  return {
    ws,
    connections: () => count,
    [Symbol.dispose]() {
      ws.terminate();
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}

/** Pages as a device may serve them, on a free port. */
export async function startPages(): Promise<{ port: number } & AsyncDisposable> {
  const server: Server = createServer((request, response) => {
    if (request.url === '/') {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' });
      response.end(
        '<!doctype html>\n<html>\n<head><title>Robot  SN0007</title></head>\n\n<body>Hello</body>\n</html>\n',
      );
    } else if (request.url === '/big') {
      response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
      response.end(Buffer.alloc(3_000_000, 7));
    } else if (request.url === '/cut') {
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '100' });
      response.write('half\n');
      response.socket?.end();
    } else if (request.url === '/never') {
      // No answer.
    } else {
      response.writeHead(403, { 'Content-Type': 'application/json' });
      response.end('{"error":{"code":"READ_ONLY"}}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
