import { describe, expect, it } from 'vitest';
import { gatewayHealthSchema } from '../../src/lib/operator/index.ts';
import { runGw } from './gw.ts';
import { type Robot, startRobot, startServe, until } from './robot.ts';

const health = async (port: number) =>
  gatewayHealthSchema.parse(await (await fetch(`http://127.0.0.1:${port}/api/health`)).json());
const motionOf = (answer: Awaited<ReturnType<typeof health>>) =>
  answer.services.find(({ name }) => name === 'motion')?.detail ?? '';
const gateOpen = (robot: Robot) =>
  until(
    () => health(robot.operatorPort),
    (answer) => motionOf(answer) === 'gate open',
  );

async function startTour(port: number) {
  const reply = await fetch(`http://127.0.0.1:${port}/api/touren/lauf`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tour: 'demo' }),
  });
  return { status: reply.status, text: await reply.text() };
}

const tourState = async (port: number) => (await fetch(`http://127.0.0.1:${port}/api/touren/lauf`)).text();

const record = (robot: Robot, fact: string, found: string) =>
  runGw(['evidence', 'record', fact, found, '--how', 'drove it', '--who', 'T.', '--site', robot.site]);

describe('evidence that is revoked while gw serve runs', () => {
  it('closes the gate within a second, ends the current tour, reports it, and opens only after a restart', async () => {
    await using robot = await startRobot();
    {
      await using _serve = await startServe(robot.site);
      await gateOpen(robot);
      expect((await startTour(robot.operatorPort)).status).toBe(202);

      const recorded = await record(robot, 'vendor.move.request', '--does-not-hold');
      expect(recorded.code).toBe(0);
      expect(recorded.stdout).toContain('closes its gate within a second');
      const answer = await until(
        () => health(robot.operatorPort),
        ({ evidence }) => evidence.status === 'revoked',
      );
      expect(answer).toMatchObject({
        status: 'degraded',
        evidence: {
          detail: expect.stringContaining('vendor.move.request'),
          revoked: [{ fact: 'vendor.move.request', serial: 'SIM-0001', how: 'contradicted' }],
          waiting: [],
        },
      });
      await until(
        () => tourState(robot.operatorPort),
        (text) => text.includes('"state":"stopped"') && text.includes('evidence was revoked'),
      );
      const refused = await startTour(robot.operatorPort);
      expect(refused.status).toBe(409);
      expect(refused.text).toContain('vendor.move.request was contradicted on this device');

      expect((await record(robot, 'vendor.move.request', '--holds')).stdout).toContain('counts after a restart');
      await until(
        () => health(robot.operatorPort),
        ({ evidence }) => evidence.waiting.length === 1 && evidence.detail.includes('counts after a restart'),
      );
      expect((await startTour(robot.operatorPort)).status).toBe(409);
    }
    await using _anew = await startServe(robot.site);
    await gateOpen(robot);
    expect(await health(robot.operatorPort)).toMatchObject({ status: 'ok', evidence: { status: 'as-read' } });
    expect((await startTour(robot.operatorPort)).status).toBe(202);
  });
});
