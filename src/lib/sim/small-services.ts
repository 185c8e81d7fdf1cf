import { createServer } from 'node:http';
import { closeServer, listenOn } from './listen.ts';

/** A minimal HTTP service of the site with one path. Its interface is not shown by the specification. */
export interface SmallService extends AsyncDisposable {
  readonly url: string;
}

export function startVoiceService(): Promise<SmallService> {
  return startSmallService('/config', {
    service: 'simulated voice assistant',
    language: 'de-DE',
    wakeWord: 'Hallo Robbi',
    volume: 0.6,
  });
}

export function startBuildingModule(): Promise<SmallService> {
  return startSmallService('/status', {
    service: 'simulated building module',
    lift: { floor: 0, door: 'closed' },
    doors: [{ name: 'Küchentür', open: false }],
  });
}

async function startSmallService(path: string, answer: object): Promise<SmallService> {
  const text = JSON.stringify(answer);
  const server = createServer((request, response) => {
    request.resume();
    const known = request.url?.split('?', 1)[0] === path;
    const allowed = request.method === 'GET' || request.method === 'HEAD';
    const [status, body] = known && allowed ? [200, text] : [known ? 405 : 404, '{"error":"not found"}'];
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  });
  const port = await listenOn(server, '127.0.0.1', 0);
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => closeServer(server) };
}
