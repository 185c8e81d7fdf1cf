import { describe, expect, it } from 'vitest';
import { securityHeaders } from '../../../src/lib/operator/http/security-headers.ts';
import { get, sendRaw } from '../server.ts';
import { sharedServer } from '../shared-server.ts';

const server = await sharedServer();
const browser = ['Accept: text/html,application/xhtml+xml,*/*;q=0.8'];

describe('an address without a page', () => {
  it('is a page in the language of the browser, with the way to the surface, the status and the headers of a refusal', async () => {
    for (const [language, title] of [
      ['de', 'Seite nicht gefunden'],
      ['en', 'Page not found'],
    ]) {
      for (const [port, status] of [
        [server.full, 404],
        [server.readOnly, 403],
      ] as const) {
        const answer = await get(port, '/nosuch?x=1', 'GET', [...browser, `Accept-Language: ${language}`]);
        expect(answer.status).toBe(status);
        expect(answer.head).toContain('content-type: text/html; charset=utf-8');
        for (const [name, value] of securityHeaders) expect(answer.head).toContain(`${name}: ${value}`);
        expect(answer.body).toContain(`<html lang="${language}">`);
        expect(answer.body).toContain(`<h1>${title}</h1>`);
        expect(answer.body).toContain('<a class="button" href="/">');
        expect(answer.body).not.toMatch(/nosuch|style=/);
        // A stop is refused on the read-only socket, so its pages have neither a button for it nor the script that repeats it.
        const parts = ['action="/api/stopp"', '<script'].map((part) => answer.body.includes(part));
        expect(parts).toEqual([port === server.full, port === server.full]);
      }
    }
  });

  it.each([
    ['a program', '/nosuch', 'GET', []],
    ['a client of any type', '/nosuch', 'GET', ['Accept: */*']],
    ['a browser at the interface', '/api/nosuch', 'GET', browser],
    ['a change', '/nosuch', 'POST', [...browser, 'Content-Length: 0']],
  ])('stays JSON for %s', async (_who, path, method, headers) => {
    const answer = await get(server.full, path, method, headers);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('stays JSON under a foreign name of the gateway, which reveals nothing of the site', async () => {
    const lines = ['GET /nosuch HTTP/1.1', 'Host: evil.example', 'Connection: close', ...browser];
    const answer = await sendRaw(server.full, `${lines.join('\r\n')}\r\n\r\n`);
    expect(answer.status).toBe(421);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'WRONG_HOST' } });
  });
});
