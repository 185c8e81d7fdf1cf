import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Log } from '../../../src/lib/lifecycle/index.ts';
import { character } from '../../cli/characters.ts';
import { runs } from '../../properties.ts';
import { until } from '../../waiting.ts';
import { parsedRequests } from '../connections/client.ts';
import { ask, type RawAnswer, sendRaw, signIn, startServer, type TestServer } from '../server.ts';

const CRLF = '\r\n';
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.txt"';

function part(head: string, content: string, boundary = 'b'): string {
  return `--${boundary}${CRLF}${head}${CRLF}${CRLF}${content}${CRLF}`;
}

/** Log lines of the operator server at level error: a client must not cause one. */
function errorsOf(): { readonly log: Log; readonly errors: string[] } {
  const errors: string[] = [];
  const note = (_fields: object, message: string) => void errors.push(message);
  return { errors, log: { debug() {}, info() {}, warn() {}, error: note } };
}

describe('an invalid upload', () => {
  const { log, errors } = errorsOf();
  let server: TestServer;
  let cookie: string;

  beforeAll(async () => {
    server = await startServer({ password: true, more: { log } });
    cookie = await signIn(server.full);
  });
  afterAll(() => server[Symbol.asyncDispose]());

  function head(type: string, length: number | 'chunked'): string {
    const lines = ['POST /api/medien HTTP/1.1', 'Host: localhost', `Cookie: ${cookie}`, `Content-Type: ${type}`];
    lines.push(length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`, 'Connection: close');
    return `${lines.join(CRLF)}${CRLF}${CRLF}`;
  }

  async function send(body: string | Buffer, type = 'multipart/form-data; boundary=b'): Promise<RawAnswer> {
    const bytes = Buffer.from(body as string, 'latin1');
    return await sendRaw(server.full, Buffer.concat([Buffer.from(head(type, bytes.length)), bytes]));
  }

  const files = async () => await readdir(join(server.dir, 'media')).catch(() => []);
  /** Until these are the files again, and no part of an upload. */
  const untilOnly = (before: readonly string[]) => until(files, (now) => now.join() === before.join());

  const whole = `${part(FILE, 'content')}--b--${CRLF}`;

  it('is stored when it is valid', async () => {
    expect((await send(whole)).status).toBe(201);
  });

  const field = (name: string, content: string) => part(`Content-Disposition: form-data; name="${name}"`, content);
  const file = (head: string, content = 'x') => `${part(head, content)}--b--${CRLF}`;
  const json = part(`Content-Disposition: form-data; name="f"${CRLF}Content-Type: application/json`, '{');
  const faults: Readonly<Record<string, readonly [body: string, type?: string]>> = {
    'no boundary': [whole, 'multipart/form-data'],
    'an empty boundary': [whole, 'multipart/form-data; boundary='],
    'another boundary than it names': [whole, 'multipart/form-data; boundary=other'],
    'a boundary of 300 characters': [whole, `multipart/form-data; boundary=${'x'.repeat(300)}`],
    'an empty body': [''],
    'only the end': [`--b--${CRLF}`],
    'random bytes': ['\u0000\u00ff--\r\n\r\n--b\u0007'],
    'a part that ends in its header': [`--b${CRLF}Content-Disposition: form-data; name="fi`],
    'a part that ends in its content': [`--b${CRLF}${FILE}${CRLF}${CRLF}half of i`],
    'a file without the closing boundary': [part(FILE, 'content')],
    'no headers': [`--b${CRLF}${CRLF}content${CRLF}--b--${CRLF}`],
    'a header without colon': [file('Content-Disposition form-data')],
    'a header of 200 KB': [file(`X-Long: ${'x'.repeat(200_000)}${CRLF}${FILE}`)],
    'a thousand headers': [file(`${`X-A: 1${CRLF}`.repeat(1_000)}${FILE}`)],
    'ten thousand headers behind those of the file': [file(FILE + `${CRLF}X-A: 1`.repeat(10_000))],
    'a long header behind those of the file': [file(`${FILE}${CRLF}X-Long: ${'x'.repeat(20_000)}`)],
    'bytes before the first part': [`${`x${CRLF}`.repeat(10_000)}${whole}`],
    'bytes behind the last part': [`${whole}${`x${CRLF}`.repeat(10_000)}`],
    'a field and no file': [`${field('file', 'text')}--b--${CRLF}`],
    'two files': [part(FILE, '1') + file(FILE.replace('a.txt', 'b.txt'))],
    'the file in a field of another name': [file(FILE.replace('"file"', '"other"'))],
    'a field with an inherited property name': [file(FILE.replace('"file"', '"__proto__"'))],
    'a text field with an inherited property name': [field('toString', 'x') + whole],
    'more fields than there may be': [field('f', 'x').repeat(50) + whole],
    'a field declared as JSON that is not': [json + whole],
    'a file without name': [file('Content-Disposition: form-data; name="file"; filename=""')],
    'a file name with a path': [file(FILE.replace('a.txt', '.ssh'))],
  };

  for (const [what, [body, type]] of Object.entries(faults)) {
    it(`is 400 with its reason: ${what}`, async () => {
      const before = await files();
      const answer = await send(body, type);
      expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, 'BAD_REQUEST']);
      await untilOnly(before);
      expect(errors).toEqual([]);
    });
  }

  it('is 400 or closed when the body is incomplete, and is not a server error', async () => {
    const before = await files();
    for (const cut of [0, 10, 40, 90, 95, whole.length - 3]) {
      const socket = connect({ host: '127.0.0.1', port: server.full });
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const bytes = head('multipart/form-data; boundary=b', whole.length + 100_000) + whole.slice(0, cut);
      using parsed = parsedRequests();
      socket.write(bytes);
      await until(
        () => parsed.at(-1)?.socket.bytesRead,
        (read) => read === bytes.length,
      );
      socket.resetAndDestroy();
      await closed;
    }
    await untilOnly(before);
    expect(errors).toEqual([]);
    // Once the server has detected that the others are closed.
    await until(
      async () => (await send(whole)).status,
      (status) => status === 201,
    );
  });

  it('that is cut at any byte, in any way, is never listed and leaves nothing behind', {
    tags: 'property',
  }, async () => {
    const listed = async () =>
      (await ask(server.full, '/api/medien')).data.files.map(({ name }: { name: string }) => name);
    const before = await files();
    const body = (bytes: number) => {
      const file = FILE.replace('a.txt', 'cut.bin');
      return Buffer.from(`${part(file, 'x'.repeat(bytes))}--b--${CRLF}`);
    };
    const cuts = fc.record({
      bytes: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 60_000, max: 300_000 })),
      cut: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      pieces: fc.integer({ min: 1, max: 4 }),
      ending: fc.constantFrom('end', 'reset', 'destroy'),
      isHeadWhole: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(cuts, async ({ bytes, cut, pieces, ending, isHeadWhole }) => {
        const sent = body(bytes);
        const whole = Buffer.concat([Buffer.from(head('multipart/form-data; boundary=b', sent.length)), sent]);
        const from = isHeadWhole ? whole.length - sent.length : 0;
        const some = whole.subarray(0, from + Math.floor(cut * (whole.length - from)));
        const socket = connect({ host: '127.0.0.1', port: server.full });
        const closed = new Promise((resolve) => socket.once('close', resolve));
        socket.on('error', () => {});
        socket.resume();
        await new Promise((resolve) => socket.once('connect', resolve));
        for (let piece = 0; piece < pieces; piece += 1) {
          const size = Math.ceil(some.length / pieces);
          socket.write(some.subarray(piece * size, (piece + 1) * size));
          expect(await listed()).not.toContain('cut.bin');
        }
        if (ending === 'end') socket.end();
        else if (ending === 'reset') socket.resetAndDestroy();
        else socket.destroy();
        await closed;
        await untilOnly(before);
        expect(await listed()).not.toContain('cut.bin');
      }),
      { numRuns: runs(60) },
    );
    expect(errors).toEqual([]);
  });

  it('never causes a server error, whatever bytes are sent', { tags: 'property' }, async () => {
    const boundary = fc.constantFrom('b', 'b', 'b', 'other', '-', '');
    const line = fc.oneof(
      fc.constantFrom(
        FILE,
        'Content-Disposition: form-data; name="f"',
        'Content-Disposition: attachment',
        'Content-Type: application/json',
        'Content-Type: multipart/mixed; boundary=c',
        'Content-Transfer-Encoding: base64',
        'Content-Disposition: form-data; name="file"; filename*=UTF-8\'\'%ff%00',
      ),
      fc.string({ unit: character, maxLength: 40 }),
    );
    const lines = fc.array(line, { maxLength: 3 });
    const content = fc.string({ unit: character, maxLength: 40 });
    const piece = fc.oneof(
      fc.tuple(boundary, lines, content).map(([of, head, text]) => part(head.join(CRLF), text, of)),
      fc.constantFrom(`--b--${CRLF}`, '--b', CRLF, '--b--', '--b-'),
      fc.string({ unit: character, maxLength: 60 }),
    );
    const odd = ['=b; boundary=c', '="b\\"', '=-', '="b', '=b', '=b'].map(
      (end) => `multipart/form-data; boundary${end}`,
    );
    const type = fc.constantFrom(...odd, 'multipart/form-data;;boundary=b', 'multipart/mixed; boundary=b');
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 6 }), type, async (pieces, contentType) => {
        const { status } = await send(Buffer.from(pieces.join(''), 'latin1'), contentType);
        expect([201, 400, 413, 415]).toContain(status);
      }),
      { numRuns: runs(300) },
    );
    expect(errors).toEqual([]);
  });
});
