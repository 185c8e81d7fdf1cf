import { createServer, type ServerResponse } from 'node:http';
import { listening } from '../../../listening.ts';
import { startDestination as start } from '../../../tunnel/second-opinion/destination.ts';

/** Connects with the token of a notification and relays each connection to a local port. */
export function startDestination(
  place: { readonly host: string; readonly port: number },
  about: { readonly ca: string; readonly token: string; readonly service: string; readonly targetPort: number },
): Disposable {
  const { ca, token, service, targetPort } = about;
  const started = start({ ...place, ca, token, targets: { [service]: targetPort } });
  const close = () =>
    started.then(
      (destination) => destination.close(),
      () => {},
    );
  started.catch(() => {});
  return { [Symbol.dispose]: () => void close() };
}

const html = '<!doctype html>\n<html>\n<head><title>Robot  SN0007</title></head>\n\n<body>Hello</body>\n</html>\n';
const htmlHead = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
const pages: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
  '/': (response) => response.writeHead(200, htmlHead).end(html),
  '/big': (response) =>
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' }).end(Buffer.alloc(3_000_000, 7)),
  '/cut': (response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '100' }).write('half\n');
    response.socket?.end();
  },
  '/never': () => {},
};

/** Pages as a device may serve them, on a free port, with the number of connections so far. */
export async function startPages(): Promise<{ port: number; connections(): number } & AsyncDisposable> {
  let count = 0;
  const server = createServer((request, response) => {
    const page = pages[request.url ?? ''];
    if (page !== undefined) page(response);
    else response.writeHead(403, { 'Content-Type': 'application/json' }).end('{"error":{"code":"READ_ONLY"}}');
  });
  server.on('connection', () => {
    count += 1;
  });
  return { ...(await listening(server)), connections: () => count };
}
