import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderTourRun } from '../../src/cli/render/motion.ts';
import { createChassisLink } from '../../src/lib/chassis/index.ts';
import { fixedEvidence, loadEvidenceFile } from '../../src/lib/evidence/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { createMotion, createTrialStore } from '../../src/lib/motion/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { startSim } from '../../src/lib/sim/index.ts';
import { loadSite } from '../../src/lib/site/index.ts';
import { readGatewayHealth } from '../../src/lib/toolkit/gateway/health.ts';
import { checkSockets } from '../../src/lib/toolkit/operator/check.ts';
import { tourRunSchema } from '../../src/lib/toolkit/tour/run.result.ts';
import { runTour } from '../../src/lib/toolkit/tour/run.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { until } from '../waiting.ts';
import { ask, startServer } from './server.ts';

const context = { signal: new AbortController().signal, onProgress() {} };

/** The operator server in front of a simulated robot, with the real link and the real motion. */
async function startRobot() {
  await using stack = new AsyncDisposableStack();
  const dir = await mkdtemp(join(tmpdir(), 'gw-robot-'));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  const clock = createPacedClock();
  const sim = stack.use(await startSim({ dir, clock }));
  if (sim.sitePath === null) throw new Error('expected no folder');
  const site = { ...(await loadSite(sim.sitePath)), tours: { short: { stations: ['A'] } } };
  const base = { clock, log: silentLog, site };
  const endpoint = { host: sim.chassis.host, port: sim.chassis.port };
  const link = createChassisLink({ ...base, endpoint, expectedSerial: sim.chassis.serial, dialer: directDialer });
  const ledger = { adopt: () => {}, adoptFile: async () => ({ records: 0, adopted: [], revoked: [] }) };
  const trialStore = createTrialStore({ path: site.evidenceFile, log: silentLog, ledger });
  const evidence = fixedEvidence(await loadEvidenceFile(site.evidenceFile));
  const motion = createMotion({ ...base, link, trialStore, evidence });
  for (const service of [link, motion]) {
    await service.start({ signal: new AbortController().signal, fail() {} });
    stack.defer(() => service.stop());
  }
  const { full, readOnly } = stack.use(await startServer({ site, more: { ...base, link, motion } }));
  const here = { ...site, operator: { ...site.operator, port: full } };
  const all = stack.move();
  return {
    ...{ sim, clock, link, full, readOnly },
    toolkit: { site: here, dialer: directDialer, clock },
    state: async () => (await ask(full, '/api/chassis/state')).data,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

describe('the operator server in front of a simulated robot', () => {
  let robot: Awaited<ReturnType<typeof startRobot>>;
  beforeAll(async () => {
    robot = await startRobot();
    await connected();
  });
  afterAll(() => robot[Symbol.asyncDispose]());
  const connected = () => until(robot.state, ({ summary }) => summary === 'connected');

  it('passes every row and every rule of gw operator check', async () => {
    const { full, readOnly, toolkit } = robot;
    const sockets = { full: { host: '127.0.0.1', port: full }, readOnly: { host: '127.0.0.1', port: readOnly } };
    const result = await checkSockets(toolkit, sockets, context);
    expect(result.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([]);
  });

  it('reports its health', async () => {
    expect(await readGatewayHealth(robot.toolkit, {}, context)).toMatchObject({ status: 'ok', version: '0.0.0-test' });
  });

  it('drives a tour, and the reported poses match in every unit on the way', { tags: 'large' }, async () => {
    const result = await runTour(robot.toolkit, { tour: 'short', withinMs: 40_000 }, context);
    expect(result).toMatchObject({ state: 'succeeded', at: 'A', end: { expected: { yawDeg: 90 } } });
    expect(result.findings.map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'ok']);
    expect(tourRunSchema.parse(result)).toEqual(result);
    expect(renderTourRun(result)).toContain('the reported final pose matches');
  });

  it('passes on the reason why a tour was not started', async () => {
    const start = (tour: string) => runTour(robot.toolkit, { tour, withinMs: 1_000 }, context);
    await expect(start('none')).rejects.toMatchObject({ code: 'TOUR_UNKNOWN', details: { status: 404 } });
    await ask(robot.full, '/api/stopp', { method: 'POST' });
    await expect(start('short')).rejects.toMatchObject({ code: 'MOTION_STOPPED', details: { status: 423 } });
  });

  it('reports not connected with the address within two seconds of a cut, and recovers by itself', async () => {
    const { clock, link } = robot;
    let lostMs = Number.NaN;
    using _watching = link.subscribe(() => {
      if (link.snapshot().link.kind === 'not-connected' && Number.isNaN(lostMs)) lostMs = clock.monotonicMs();
    });
    const cutMs = clock.monotonicMs();
    robot.sim.setFault('cut', true);
    await until(robot.state, ({ summary }) => /^not connected/.test(summary));
    expect(lostMs - cutMs).toBeLessThan(2_000);
    const { status, data } = await ask(robot.full, '/api/chassis/device/info');
    expect([status, data.error.tried]).toMatchObject([503, { address: '127.0.0.1', port: robot.sim.chassis.port }]);
    const page = (await ask(robot.full, '/service')).data;
    expect(page).toContain('not connected');
    expect(page).toContain(`127.0.0.1:${robot.sim.chassis.port}`);
    robot.sim.setFault('cut', false);
    await connected();
    expect((await ask(robot.full, '/api/chassis/device/info')).status).toBe(200);
  });

  it('never shows the data of another robot at the address', async () => {
    robot.sim.setFault('wrong-serial', true);
    await until(robot.state, ({ link }) => link.failure === 'wrong-device');
    expect((await ask(robot.full, '/api/chassis/device/info')).status).toBe(503);
    robot.sim.setFault('wrong-serial', false);
    await connected();
  });
});
