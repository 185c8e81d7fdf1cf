import { createServer } from 'node:http';
import { closeServer, listenOn } from '../listen.ts';
import type { PartStart } from './part-start.ts';

/** Minimal HTTP services of the site, each with one path. Their interfaces are not shown by the specification. */
const services = {
  voice: {
    path: '/config',
    answer: { service: 'simulated voice assistant', language: 'de-DE', wakeWord: 'Hallo Robbi', volume: 0.6 },
  },
  building: {
    path: '/status',
    answer: {
      service: 'simulated building module',
      lift: { floor: 0, door: 'closed' },
      doors: [{ name: 'Küchentür', open: false }],
    },
  },
} as const;

/** Starts a service of the site on a free port and returns its URL. */
export async function startSiteService(
  { undo, stages, onEvent }: Pick<PartStart, 'undo' | 'stages' | 'onEvent'>,
  part: keyof typeof services,
): Promise<string> {
  stages.enter(`the port of ${part}`);
  const { url } = undo.use(await serve(services[part]));
  onEvent({ event: 'listening', part, url });
  return url;
}

async function serve({ path, answer }: { readonly path: string; readonly answer: object }) {
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
