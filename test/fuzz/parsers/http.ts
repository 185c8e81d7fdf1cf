import { strict as assert } from 'node:assert';
import { connect } from 'node:net';
import { join } from 'node:path';
import { openListeners } from '../../../src/lib/operator/operator.ts';
import { startServer } from '../../operator/server.ts';
import type { Parser } from '../parser.ts';

const head = (line: string, ...more: string[]) =>
  `${[`${line} HTTP/1.1`, 'Host: 127.0.0.1:5173', 'Connection: close', ...more].join('\r\n')}\r\n\r\n`;
const withBody = (line: string, type: string, body: string) =>
  head(line, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`) + body;
const chunked = (line: string, ...parts: string[]) =>
  head(line, 'Content-Type: application/json', 'Transfer-Encoding: chunked') +
  [...parts, ''].map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join('');
const upload = [
  '--gw',
  'Content-Disposition: form-data; name="file"; filename="a.png"',
  'Content-Type: image/png',
  '',
  'bytes',
  '--gw--',
  '',
].join('\r\n');

const requests = [
  head('GET /api/chassis/maps/7?x=%41', 'Cookie: gw_session=abc; a="b"', 'Range: bytes=0-1'),
  head('GET /service', 'Accept-Language: de', 'Via: 1.1 a', 'X-Forwarded-For: 1.2.3.4'),
  head('GET /api/medien/a%20b.png', 'Sec-Fetch-Site: same-origin', 'Origin: http://127.0.0.1:5173'),
  withBody('POST /api/touren/lauf', 'application/json', '{"tour":"breakfast"}'),
  withBody('POST /api/fahrt', 'application/json', '{"station":"A"}'),
  withBody('POST /api/pose', 'application/json', '{"xM":1,"yM":-2.5,"yawDeg":90,"confirmed":true}'),
  withBody('POST /api/stopp', 'application/x-www-form-urlencoded', 'reason=Feuer+%C3%A4&a=1'),
  withBody('POST /api/anmeldung', 'application/json', '{"password":"correct horse"}'),
  withBody('POST /api/medien', 'multipart/form-data; boundary=gw', upload),
  chunked('POST /api/touren/lauf', '{"tour":', '"breakfast"}'),
  head('DELETE /api/touren/lauf') + head('OPTIONS *'),
];

const fields = `Transfer-Encoding: chunked|Content-Length: 5|Expect: 100-continue|Upgrade: websocket
Host: a|Content-Encoding: gzip|X-HTTP-Method-Override: POST`.split(/[|\n]/);

/** Turns of the event loop without an answer, after which the client sends its end. */
const QUIET_TURNS = 6;

/** A connection to the operator server: signed in, or read-only, each for half of the inputs. */
export async function http(): Promise<Parser> {
  const server = await startServer({ disk: { mediaMb: 1 } });
  const paths = { local: join(server.dir, 'full.sock'), 'read-only': join(server.dir, 'read.sock') } as const;
  const listeners = await openListeners(server.application, [
    { scope: 'local', path: paths.local },
    { scope: 'read-only', path: paths['read-only'] },
  ]);
  return {
    samples: requests,
    words: [
      ...fields.map((field) => `${field}\r\n`),
      ...'%2e%2e%2f %00 %c3 % HEAD ffffffff ;a=b http://evil.example/ CONNECT TRACE HTTP/1.0 /../'.split(' '),
      ...['\r\n\r\n', '\r\n ', '0\r\n\r\n'],
    ],
    maxBytes: 24 * 1024,
    async accepts(input) {
      const scope = input.length % 2 === 0 ? 'local' : 'read-only';
      const answer = await exchange(paths[scope], input);
      const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map((match) => Number(match[1]));
      for (const status of statuses)
        assert.ok(status < 500 || status === 503 || status === 507, answer.slice(0, 2_000));
      return statuses.some((status) => status < 300);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(listeners.map((listener) => listener.close(200)));
      await server[Symbol.asyncDispose]();
    },
  };
}

function exchange(path: string, input: Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  const socket = connect({ path, allowHalfOpen: true });
  let turns = 0;
  const wait = () => {
    turns += 1;
    if (chunks.length > 0 || turns > QUIET_TURNS) socket.end();
    else setImmediate(wait);
  };
  socket.on('connect', () => socket.write(input, wait));
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('end', () => socket.end());
  socket.on('error', () => {});
  socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  return promise;
}
