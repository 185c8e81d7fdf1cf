import { describe, expect, it } from 'vitest';
import { loadEvidenceFile } from '../../../src/lib/evidence/index.ts';
import { startSupervised, verdicts } from './supervised.ts';

const holds = (...facts: string[]) => Object.fromEntries(facts.map((fact) => [fact, 'holds']));

describe('trials on a simulated robot without evidence', () => {
  it('open the gate for moves, docking and poses, one after the other, without a restart, where all must be verified', async () => {
    await using robot = await startSupervised({
      site: (site) => ({ ...site, motion: { ...site.motion, requireVerified: true } }),
    });
    const { motion } = robot;
    expect(motion.status().gate.open).toBe(false);

    const stop = await robot.conduct({ kind: 'stop' });
    expect(stop).toMatchObject({ outcome: 'verified', recorded: ['vendor.move.cancel'], alarm: null });
    expect(motion.status().stop.latched).toBe(false);

    const move = await robot.conduct({ kind: 'move', distanceM: 0.6 });
    expect(move.facts).toMatchObject([
      { fact: 'angles.tracked-pose-ori', verdict: 'holds', value: 'degrees' },
      { fact: 'angles.target-ori', verdict: 'holds', value: 'radians' },
      { fact: 'vendor.move.request', verdict: 'holds', value: true },
      { fact: 'vendor.move.state', verdict: 'holds', value: true },
    ]);
    expect(move.outcome).toBe('verified');
    expect(motion.status().gate).toEqual({ open: true, reasons: [] });

    const dock = await robot.conduct({ kind: 'dock' });
    expect(dock).toMatchObject({ outcome: 'verified', recorded: ['vendor.move.charge-target'] });
    expect(robot.sim.state().docked).toBe(true);

    const pose = await robot.conduct({ kind: 'pose' });
    expect(verdicts(pose)).toEqual(holds('angles.pose-ori', 'vendor.pose.request'));
    expect(robot.sim.state().yawRad).toBeCloseTo(Math.PI / 2, 2);
    expect(motion.status()).toMatchObject({ gate: { open: true }, poseAlarm: null });

    const records = await loadEvidenceFile(robot.site.evidenceFile);
    expect(records).toHaveLength(8);
    for (const record of records) {
      expect(record).toMatchObject({ simulated: true, who: 'J. Doe', serial: robot.sim.chassis.serial });
      expect(record.attachment?.file).toMatch(/\.json$/);
    }
    const { samples } = await robot.report(move);
    expect(samples?.poses.length).toBeGreaterThan(20);
    expect(robot.evidence.report().status).toBe('as-read');
  });
});
