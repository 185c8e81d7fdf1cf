import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { DialError, type DialFailure, directDialer, type Endpoint } from '../../../src/lib/net/index.ts';
import type { Site } from '../../../src/lib/site/index.ts';
import { readGatewayHealth } from '../../../src/lib/toolkit/gateway/health.ts';
import { slowDialer } from '../../net/slow-dialer.ts';
import { forAllAsyncOf, httpServer } from '../kit.ts';

type Answer = (response: ServerResponse) => void;

let server: Awaited<ReturnType<typeof httpServer>>;
let answer: Answer;
beforeAll(async () => {
  server = await httpServer((_request, response) => answer(response));
});
afterAll(() => server[Symbol.asyncDispose]());

/** The result of a check against a program that answers like this in place of the operator server. */
async function failureFor(how: Answer, dialer = directDialer): Promise<GwError> {
  answer = how;
  const toolkit = {
    site: { operator: { port: server.port }, stateDir: '/nonexistent' } as Site,
    dialer,
    clock: systemClock,
  };
  const context = { signal: new AbortController().signal, onProgress: () => {} };
  const error = await readGatewayHealth(toolkit, {}, context).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(GwError);
  return error as GwError;
}

describe('a response in place of the operator server', () => {
  it('is reported as not an operator server when it is a web page', async () => {
    const error = await failureFor((response) => response.setHeader('content-type', 'text/html').end('<h1>Hello</h1>'));
    expect(error.code).toBe('OPERATOR_NOT_REACHABLE');
    expect(error.message).toContain('Unexpected answer');
    expect(error.tried).toMatchObject({ address: '127.0.0.1', port: server.port });
  });

  it('is read no further than the largest answer of gw when it never ends', async () => {
    let sent = 0;
    const error = await failureFor((response) => {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536))) sent += 65_536;
      };
      response.on('drain', more);
      more();
    });
    expect(error.message).toContain('Unexpected answer');
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('passes on an error of gw with its code', async () => {
    const body = { error: { code: 'CHASSIS_NOT_CONNECTED', message: 'not connected: nothing answered' } };
    const error = await failureFor((response) => {
      response.statusCode = 503;
      response.end(JSON.stringify(body));
    });
    expect(error).toMatchObject({ code: 'CHASSIS_NOT_CONNECTED', message: 'not connected: nothing answered' });
  });

  it('contains tried addresses only where they have that shape', async () => {
    for (const tried of ['x', 7, { address: 7 }, null, []]) {
      const error = await failureFor((response) => {
        response.statusCode = 503;
        response.end(JSON.stringify({ error: { code: 'CHASSIS_BOOTING', message: 'x', tried } }));
      });
      expect(error.code).toBe('CHASSIS_BOOTING');
      expect(error.tried).toMatchObject({ address: '127.0.0.1', port: server.port });
    }
  });

  it('never makes a check throw, whatever its bytes', { tags: 'property' }, async () => {
    await forAllAsyncOf(60)(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(200, 404, 500),
      async (bytes, status) => {
        const error = await failureFor((response) => {
          response.statusCode = status;
          response.end(bytes);
        });
        expect(error.code).not.toBe('INTERNAL');
      },
    );
  });

  it('that does not come over a slow SSH link is not blamed on the gateway, a refused one is', async () => {
    const failing = (failure: DialFailure) => ({
      ...slowDialer(),
      dial: ({ host }: Endpoint) => Promise.reject(new DialError(failure, { address: host })),
    });
    const unanswered = await failureFor(() => {}, failing('no-answer'));
    expect(unanswered).toMatchObject({ code: 'OPERATOR_NOT_REACHABLE', tried: { slowLink: { medianMs: 300 } } });
    expect(unanswered.remedy).toMatch(/slow SSH link/);
    expect((await failureFor(() => {}, failing('refused'))).remedy).toMatch(/gw serve/);
  });
});
