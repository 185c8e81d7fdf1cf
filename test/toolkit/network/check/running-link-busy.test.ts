import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlannedPath } from '../../../../src/lib/toolkit/network/check/plans.ts';
import { provenByRunningLink } from '../../../../src/lib/toolkit/network/check/running-link.ts';
import type { Toolkit } from '../../../../src/lib/toolkit/toolkit.ts';
import { createPacedClock } from '../../../lifecycle/paced-clock.ts';
import { context } from '../../kit.ts';

const plans = [{ id: 'mqtt-direct' }] as PlannedPath[];

/** A gateway whose socket for local commands refuses as often as this, as while another check is running. */
async function startGateway(refusals: number) {
  const stateDir = mkdtempSync(join(tmpdir(), 'gw-link-'));
  mkdirSync(join(stateDir, 'local'));
  let asked = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1;
      const [status, body] =
        asked <= refusals
          ? [503, { error: { code: 'BUSY', message: 'Too many concurrent requests of this kind.' } }]
          : [200, { step: null, outcome: { verdict: 'ok', detail: 'accepted' } }];
      response.writeHead(status as number, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(join(stateDir, 'local', 'gw.sock'));
  await once(server, 'listening');
  return {
    toolkit: { site: { stateDir }, clock: createPacedClock() } as unknown as Toolkit,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

describe('a path that the running link proves', () => {
  it('is asked for again while the gateway proves one for another check', async () => {
    await using gateway = await startGateway(3);
    const proven = await provenByRunningLink(gateway.toolkit, context(), plans);
    expect(proven.get('mqtt-direct')).toEqual({ verdict: 'ok', detail: 'accepted' });
    expect(gateway.asked()).toBe(4);
  });

  it('is not checked where the gateway stays busy', async () => {
    await using gateway = await startGateway(Number.POSITIVE_INFINITY);
    const proven = await provenByRunningLink(gateway.toolkit, context(), plans);
    expect(proven.get('mqtt-direct')).toEqual({
      verdict: 'not-checked',
      detail: 'the running gateway did not check it: Too many concurrent requests of this kind.',
    });
    expect(gateway.asked()).toBeGreaterThan(10);
  });
});
