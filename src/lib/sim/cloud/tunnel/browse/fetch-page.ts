import { type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';

export interface FetchedPage {
  /** null: no answer. */
  readonly status: number | null;
  /** null: the answer is complete. */
  readonly problem: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: number;
  readonly title: string | null;
  readonly lines: readonly string[];
}

const SHOWN_HEADERS = ['content-type', 'content-length', 'location', 'cache-control'];
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_LINES = 5;
const MAX_LINE_CHARACTERS = 200;

/** One GET over a given connection; redirects are not followed. `path` begins with a slash. Never rejects. */
export function fetchPage(connection: Duplex, path: string, timeoutMs: number): Promise<FetchedPage> {
  const { promise, resolve } = Promise.withResolvers<FetchedPage>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let response: IncomingMessage | null = null;
  const sending = request({
    createConnection: () => connection,
    path,
    headers: { Host: 'localhost', Connection: 'close', 'User-Agent': 'gw-sim-tunnel-browse' },
  });
  const timer = setTimeout(() => sending.destroy(new Error(`no complete answer within ${timeoutMs} ms`)), timeoutMs);
  function end(problem: string | null): void {
    clearTimeout(timer);
    connection.destroy();
    const { statusCode = null, headers = {} } = response ?? {};
    const shown = SHOWN_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []));
    const text = isText(headers['content-type']) ? Buffer.concat(chunks).toString('utf8') : '';
    resolve({
      status: statusCode,
      problem,
      headers: Object.fromEntries(shown),
      bytes,
      title: /<title[^>]*>([^<]*)</i.exec(text)?.[1]?.trim() ?? null,
      lines: firstLines(text),
    });
  }
  sending.on('error', (error) => end(error.message));
  sending.on('response', (answer) => {
    response = answer;
    answer.on('data', (chunk: Buffer) => {
      if (bytes < MAX_TEXT_BYTES) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) sending.destroy(new Error(`the body is longer than ${MAX_BODY_BYTES} bytes`));
    });
    answer.on('error', (error) => end(error.message));
    answer.on('end', () => end(null));
  });
  sending.end();
  return promise;
}

function isText(type: string | undefined): boolean {
  return /^(?:text\/|application\/(?:json|xml|javascript))/.test(type ?? '');
}

function firstLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_CHARACTERS));
}
