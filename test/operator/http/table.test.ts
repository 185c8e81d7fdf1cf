import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routes as routeTable } from '../../../src/lib/operator/routes.ts';
import { get, startServer, type TestServer } from '../server.ts';
import { routes, specifiedRoutes } from './route-table.ts';

describe('the route table over real sockets, without password, voice service and building module', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  for (const [method, path, full, readOnly] of routes) {
    it(`${method} ${path}: ${full} on the full socket, ${readOnly} on the read-only one`, async () => {
      expect((await get(server.full, path, method)).status).toBe(full);
      expect((await get(server.readOnly, path, method)).status).toBe(readOnly);
    });
  }

  it('answers HEAD as GET, without a body', async () => {
    for (const [method, path, full, readOnly] of specifiedRoutes) {
      if (method !== 'GET') continue;
      const answers = [await get(server.full, path, 'HEAD'), await get(server.readOnly, path, 'HEAD')];
      expect(answers.map(({ status }) => status)).toEqual([full, readOnly]);
      expect(answers.map(({ body }) => body)).toEqual(['', '']);
    }
  });

  it('answers every refusal in one JSON shape', async () => {
    for (const [method, path] of routes) {
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
    for (const [method, path] of routes) {
      if (method !== 'POST' || path !== '/api/stopp') expect(isUrgent(method, path), `${method} ${path}`).toBe(false);
    }
    expect(isUrgent('POST', '/?/api/stopp')).toBe(false);
  });

  it('has every route of the application in the tables of this test', () => {
    const tested = new Set(routes.map(([method, path]) => `${method} ${path}`));
    for (const { method, path } of routeTable) {
      const sample = path
        .replace(/:id\(.*\)\.png$/, '7.png')
        .replace(/:id\(.*\)$/, '7')
        .replace(':name', 'none.png');
      const asTested = sample === '/api/events' ? 'HEAD' : method;
      expect(tested, `${asTested} ${sample}`).toContain(`${asTested} ${sample}`);
    }
  });
});
