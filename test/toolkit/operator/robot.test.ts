import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { routes } from '../../../src/lib/operator/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { operatorAccess, robotNamed } from '../../../src/lib/toolkit/operator/access.ts';
import { context, forAll, httpServer } from '../kit.ts';

let server: Awaited<ReturnType<typeof httpServer>>;
/** The serial number that the gateway names; null: none. */
let named: string | null;
let requests: string[];

beforeAll(async () => {
  server = await httpServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers['gw-robot']}`);
    if (named !== null) response.setHeader('gw-robot', named);
    response.setHeader('content-type', 'application/json').end('{}');
  });
});
afterAll(() => server[Symbol.asyncDispose]());

function access(serial: string | undefined = 'SN1') {
  requests = [];
  const site = { operator: { port: server.port }, ...(serial !== '' && { chassis: { serial } }) } as unknown as Site;
  return operatorAccess({ site, dialer: directDialer, clock: systemClock } as never, context());
}
const any = z.unknown();

describe('the robot behind a gateway', () => {
  it('is named in every request, and compared with every answer', async () => {
    named = 'SN1';
    const own = access();
    await own.ask('GET', '/api/health', any);
    await own.ask('POST', '/api/fahrt', any, {});
    expect(requests).toEqual(['GET /api/health SN1', 'POST /api/fahrt SN1']);
    named = 'SN2';
    for (const path of ['/api/health', '/api/chassis/state', '/api/stopp']) {
      await expect(access().ask('GET', path, any)).rejects.toMatchObject({
        code: 'GATEWAY_OTHER_ROBOT',
        message: expect.stringMatching(/SN2.*SN1/),
        exitCode: 4,
      });
    }
  });

  it('is known before an order: a gateway that names another one, or none, receives no order', async () => {
    for (const name of ['SN2', null, 'no serial number']) {
      named = name;
      for (const { method, path } of routes.filter(({ isOrder }) => isOrder)) {
        await expect(access().ask(method, path, any, {})).rejects.toMatchObject({ code: 'GATEWAY_OTHER_ROBOT' });
        expect(requests).toEqual(['GET /api/stopp SN1']);
      }
    }
  });

  it('is not asked for a stop or an end', async () => {
    named = 'SN2';
    for (const { method, path } of routes.filter(({ forAnyRobot }) => forAnyRobot)) {
      await access().answerTo(method, path, {});
      expect(requests).toEqual([`${method} ${path} SN1`]);
    }
    await access('').ask('POST', '/api/fahrt', any, {});
    expect(requests).toEqual(['POST /api/fahrt undefined']);
  });

  it('is named by a serial number only', { tags: 'property' }, () => {
    forAll(fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined)), (value) => {
      const found = robotNamed(value);
      expect(found === null || (found === value && /^[\w:-]{1,128}$/.test(found))).toBe(true);
    });
  });
});
