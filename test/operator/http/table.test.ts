import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { get, startServer, type TestServer } from '../server.ts';

/** The specification's table, row by row: method, path, full socket, read-only socket. */
const specified = [
  ['GET', '/', 200, 200],
  ['GET', '/service', 200, 200],
  ['GET', '/api/nachbarn', 200, 200],
  ['GET', '/api/chassis/device/info', 200, 200],
  ['GET', '/api/chassis/maps/7.png', 200, 403],
  ['GET', '/api/medien', 200, 403],
  ['GET', '/api/chatbot/config', 409, 403],
  ['GET', '/api/uiot/status', 409, 403],
  ['GET', '/anmeldung', 200, 403],
  ['POST', '/api/touren/lauf', 400, 403],
  ['POST', '/api/anmeldung', 409, 403],
  ['DELETE', '/api/anmeldung', 200, 403],
] as const;

/** Further routes of gw. */
const ours = [
  ['GET', '/api/chassis/state', 200, 200],
  ['GET', '/api/chassis/maps', 200, 200],
  ['GET', '/api/chassis/maps/7', 200, 200],
  ['GET', '/api/health', 200, 200],
  ['GET', '/api/cloud', 200, 403],
  ['POST', '/api/cloud/pruefung', 401, 403],
  ['HEAD', '/api/events', 200, 200],
  ['GET', '/assets/style.css', 200, 200],
  ['GET', '/assets/live.js', 200, 200],
  ['GET', '/assets/other.css', 404, 403],
  ['GET', '/api/einstellungen', 401, 401],
  ['GET', '/api/protokolle', 401, 401],
  ['GET', '/api/wartung/sitzungen', 401, 401],
  ['GET', '/api/wartung/sitzung', 200, 200],
  ['DELETE', '/api/wartung/sitzung', 409, 403],
  ['POST', '/api/wartung/sitzung/ende', 409, 403],
  ['GET', '/api/touren', 200, 403],
  ['GET', '/api/touren/lauf', 200, 403],
  ['DELETE', '/api/touren/lauf', 200, 403],
  ['GET', '/api/fahrt', 200, 403],
  ['POST', '/api/fahrt', 400, 403],
  ['DELETE', '/api/fahrt', 200, 403],
  ['GET', '/api/stopp', 200, 403],
  ['POST', '/api/stopp', 200, 403],
  ['DELETE', '/api/stopp', 401, 403],
  ['POST', '/api/stopp/freigabe', 401, 403],
  ['POST', '/api/abmeldung', 303, 403],
  ['DELETE', '/api/anmeldung/alle', 401, 403],
  ['POST', '/api/abmeldung/alle', 401, 403],
  ['POST', '/api/pose', 401, 403],
  ['GET', '/api/versuch', 401, 403],
  ['POST', '/api/versuch', 401, 403],
  ['DELETE', '/api/versuch', 401, 403],
  ['POST', '/api/versuch/lebenszeichen', 401, 403],
  ['POST', '/api/evidenz/uebernahme', 401, 403],
  ['POST', '/api/medien', 401, 403],
  ['GET', '/api/medien/none.png', 404, 403],
  ['DELETE', '/api/medien/none.png', 401, 403],
  ['GET', '/api/chassis/maps/99', 404, 404],
  ['GET', '/api/chassis/maps/99.png', 404, 403],
  ['GET', '/api/unknown', 404, 403],
  ['GET', '/favicon.ico', 404, 403],
  ['PUT', '/api/nachbarn', 404, 403],
  ['OPTIONS', '/', 404, 403],
] as const;

describe('the route table over real sockets, without password, voice service and building module', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  for (const [method, path, full, readOnly] of [...specified, ...ours]) {
    it(`${method} ${path}: ${full} on the full socket, ${readOnly} on the read-only one`, async () => {
      expect((await get(server.full, path, method)).status).toBe(full);
      expect((await get(server.readOnly, path, method)).status).toBe(readOnly);
    });
  }

  it('answers HEAD as GET, without a body', async () => {
    for (const [method, path, full, readOnly] of specified) {
      if (method !== 'GET') continue;
      const answers = [await get(server.full, path, 'HEAD'), await get(server.readOnly, path, 'HEAD')];
      expect(answers.map(({ status }) => status)).toEqual([full, readOnly]);
      expect(answers.map(({ body }) => body)).toEqual(['', '']);
    }
  });

  it('answers every refusal in one JSON shape', async () => {
    for (const [method, path] of [...specified, ...ours]) {
      for (const port of [server.full, server.readOnly]) {
        const { status, body, head } = await get(port, path, method);
        if (status < 400 || method === 'HEAD') continue;
        expect(head.toLowerCase()).toContain('content-type: application/json');
        const { error } = JSON.parse(body);
        expect(error).toMatchObject({ code: expect.stringMatching(/^[A-Z_]+$/), message: expect.any(String) });
        expect(Object.keys(error).every((key) => ['code', 'message', 'tried', 'remedy'].includes(key))).toBe(true);
      }
    }
  });

  it('sends the security headers with every answer', async () => {
    for (const path of ['/', '/api/health', '/api/unknown', '/api/chassis/device/info', '/api/anmeldung']) {
      for (const port of [server.full, server.readOnly]) {
        const { head } = await get(port, path, path === '/api/anmeldung' ? 'POST' : 'GET');
        expect(head).toMatch(/content-security-policy: default-src 'self';.*frame-ancestors 'none'/i);
        expect(head).toMatch(/x-content-type-options: nosniff/i);
        expect(head).toMatch(/cross-origin-resource-policy: same-origin/i);
        expect(head).toMatch(/referrer-policy: same-origin/i);
      }
    }
  });

  it('gives a stop priority, whatever follows its path, and no other request', () => {
    const isUrgent = (method: string, url: string) => server.application.isUrgent({ method, url } as IncomingMessage);
    for (const end of ['', '?', '?from=/tablet', '?a=1&b=2']) expect(isUrgent('POST', `/api/stopp${end}`)).toBe(true);
    for (const [method, path] of [...specified, ...ours]) {
      if (method !== 'POST' || path !== '/api/stopp') expect(isUrgent(method, path), `${method} ${path}`).toBe(false);
    }
    expect(isUrgent('POST', '/?/api/stopp')).toBe(false);
  });

  it('has every route of the application in the tables of this test', () => {
    const tested = new Set([...specified, ...ours].map(([method, path]) => `${method} ${path}`));
    for (const { method, path } of server.application.routes) {
      const sample = path
        .replace(/:id\(.*\)\.png$/, '7.png')
        .replace(/:id\(.*\)$/, '7')
        .replace(':name', 'none.png');
      const asTested = sample === '/api/events' ? 'HEAD' : method;
      expect(tested, `${asTested} ${sample}`).toContain(`${asTested} ${sample}`);
    }
  });
});
