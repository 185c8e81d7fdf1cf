import { describe, expect, it } from 'vitest';
import * as sim from '../../src/cli/render/sim.ts';
import type { SimCloudJob } from '../../src/lib/sim/control/control.result.ts';
import { linesOf } from './shown.ts';

const at = '2026-01-31T12:00:00.000Z';
const dir = '/tmp/robot';

const job = (values: Partial<SimCloudJob> = {}): SimCloudJob => ({
  ...{ jobId: 'j-1', serial: 'SN0007', executionNumber: 1, status: 'QUEUED', statusDetails: {}, versionNumber: 1 },
  ...{ queuedAt: at, updatedAt: at, history: [{ status: 'QUEUED', statusDetails: {}, at }], ...values },
});

describe('gw sim cloud', () => {
  it('stop claims no delivery', () => {
    const stop = { dir, serial: 'SN0007', id: 'a', topic: 'gw/SN0007/stop' };
    const [first, second] = linesOf(sim.renderSimCloudStop({ ...stop, connected: true }));
    expect(first).toBe('Stop published for SN0007; whether the device received it is not checked.');
    expect(second).toBe('The device was connected.');
    const [, away] = linesOf(sim.renderSimCloudStop({ ...stop, connected: false }));
    expect(away).toMatch(/^The device was not connected: the message waits only in a session/);
  });

  it('release claims success only for the status SUCCEEDED', () => {
    const release = (values: Partial<SimCloudJob>, waited: boolean, ended: boolean) =>
      linesOf(sim.renderSimCloudRelease({ dir, job: job(values), connected: true, waited, ended }))[0];
    expect(release({}, false, false)).toBe('Job j-1 for SN0007 is queued; its result is not checked.');
    expect(release({ status: 'SUCCEEDED' }, true, true)).toBe('Job j-1 for SN0007 has ended: SUCCEEDED.');
    expect(release({ status: 'FAILED' }, true, true)).toBe('Job j-1 for SN0007 has ended: FAILED.');
    expect(release({ status: 'IN_PROGRESS' }, true, false)).toMatch(/has not ended within the timeout: IN_PROGRESS\.$/);
  });

  it('release lists the reported phases', () => {
    const history = [
      { status: 'QUEUED' as const, statusDetails: {}, at },
      { status: 'FAILED' as const, statusDetails: { phase: 'rolled-back', reason: 'unhealthy' }, at },
    ];
    const data = { dir, job: job({ status: 'FAILED', history }), connected: false, waited: true, ended: true };
    expect(linesOf(sim.renderSimCloudRelease(data)).at(-1)).toBe(
      `${at}  FAILED  phase: rolled-back, reason: unhealthy`,
    );
  });

  it('send claims no delivery', () => {
    const sent = sim.renderSimCloudSend({ dir, topic: 'a/b', bytes: 1, retain: true });
    expect(sent).toMatch(/^Published 1 byte on a\/b, retained; .* is not checked\.$/);
  });

  it('received counts, and makes payloads safe and short', () => {
    const message = { at, client: 'SN0007', topic: 'a/b', qos: 1, bytes: 3, text: `\u001b[31m${'x'.repeat(500)}` };
    const data = { dir, topic: 'a/b', kept: 9, matching: 4, messages: [message, { ...message, text: null }] };
    const lines = linesOf(sim.renderSimCloudReceived(data));
    expect(lines[0]).toBe('4 messages received on a/b, the last 2 shown.');
    expect(lines[3]).toMatch(/\uFFFD\[31mx+…$/);
    expect(lines[3]?.length).toBeLessThan(300);
    expect(lines[4]).toMatch(/\(not UTF-8\)$/);
    const none = { ...data, matching: 0, messages: [] };
    expect(sim.renderSimCloudReceived(none)).toBe('No message received on a/b; 9 messages on all topics.');
    expect(sim.renderSimCloudReceived({ ...none, topic: null, kept: 0 })).toBe('No message received.');
  });

  it('restart counts the ended connections', () => {
    expect(sim.renderSimCloudRestart({ dir, connections: 2 })).toContain('2 connections ended.');
    expect(sim.renderSimCloudRestart({ dir, connections: 0 })).toContain('no client was connected.');
  });

  it('jobs counts those that have not ended', () => {
    const jobs = [job(), job({ jobId: 'j-2', status: 'SUCCEEDED', statusDetails: { phase: 'confirmed' } })];
    const lines = linesOf(sim.renderSimCloudJobs({ dir, jobs }));
    expect(lines[0]).toBe('2 jobs, 1 not ended.');
    expect(lines[4]).toContain('SUCCEEDED');
    expect(lines[4]).toContain('phase: confirmed');
    expect(sim.renderSimCloudJobs({ dir, jobs: [] })).toBe('No job.');
  });

  it('cancel names a job that was in progress', () => {
    const step = (status: SimCloudJob['status']) => ({ status, statusDetails: {}, at });
    const cancelled = job({ status: 'CANCELED', history: [step('QUEUED'), step('IN_PROGRESS'), step('CANCELED')] });
    expect(sim.renderSimCloudCancel({ dir, job: cancelled })).toContain('It was in progress');
    const waiting = job({ status: 'CANCELED', history: [step('QUEUED'), step('CANCELED')] });
    expect(sim.renderSimCloudCancel({ dir, job: waiting })).toBe('Job j-1 of SN0007 is cancelled.');
  });
});
