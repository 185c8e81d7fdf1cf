import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askCloud, simCloudRelease, simCloudSend } from '../../../src/lib/sim/control/cloud-commands.ts';
import {
  simCloudCancelSchema,
  simCloudJobsSchema,
  simCloudReceivedSchema,
  simCloudReleaseSchema,
  simCloudRestartSchema,
  simCloudSendSchema,
  simCloudStopSchema,
} from '../../../src/lib/sim/control/control.result.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { until } from '../raw-client.ts';
import { type CloudSim, startCloudSim } from './device.ts';

// The commands of `gw sim cloud` through the control port of a running simulator.

const signal = new AbortController().signal;
const stopTopic = 'gw/SIM-0001/stop';

function packageIn({ dir }: CloudSim): string {
  const file = join(dir, 'package.bin');
  writeFileSync(file, 'content');
  return file;
}

const releaseOf = (world: CloudSim, about: object = {}) =>
  simCloudRelease(world, { file: packageIn(world), version: '2.0.0', allowDowngrade: false, signal, ...about });

describe('gw sim cloud', () => {
  it('stop: a device receives it, and the result says whether it was connected', async () => {
    await using world = await startCloudSim();
    const without = await askCloud(world, { action: 'stop', reason: 'drill' });
    expect(simCloudStopSchema.parse(without)).toEqual(without);
    expect(without).toMatchObject({ dir: world.dir, serial: 'SIM-0001', topic: stopTopic, connected: false });
    await using device = await world.connect();
    await device.client.subscribeAsync(stopTopic, { qos: 1 });
    const { id, connected } = await askCloud(world, { action: 'stop', reason: 'drill', by: 'A. Person' });
    expect(connected).toBe(true);
    expect(await device.next(stopTopic)).toEqual({ id, reason: 'drill', by: 'A. Person' });
    const other = await askCloud(world, { action: 'stop', serial: 'SN0007' });
    expect(other).toMatchObject({ serial: 'SN0007', topic: 'gw/SN0007/stop', connected: false });
  });

  it('release: queues a job, waits for its end, and gives up after the timeout', async () => {
    await using world = await startCloudSim();
    const queued = await releaseOf(world, { stage: 4 });
    expect(simCloudReleaseSchema.parse(queued)).toEqual(queued);
    expect(queued).toMatchObject({ waited: false, ended: false, job: { status: 'QUEUED' } });
    const late = await releaseOf(world, { waitMs: 1 });
    expect(late).toMatchObject({ waited: true, ended: false, job: { status: 'QUEUED' } });
    await using device = await world.connect();
    await device.client.subscribeAsync('gw/SIM-0001/jobs/#', { qos: 1 });
    const seen: string[] = [];
    const waiting = releaseOf(world, {
      waitMs: 60_000,
      onStatus: ({ status }: { status: string }) => seen.push(status),
    });
    await until(() => world.cloud.jobs().length === 3);
    const jobId = world.cloud.jobs()[2]?.jobId;
    await until(() => seen.length > 0);
    const body = { status: 'FAILED', statusDetails: { phase: 'rolled-back' } };
    await device.ask(`gw/SIM-0001/jobs/${jobId}/update`, body);
    expect(await waiting).toMatchObject({
      ended: true,
      job: { status: 'FAILED', statusDetails: { phase: 'rolled-back' } },
    });
    expect(seen[0]).toBe('QUEUED');
  });

  it('release: ends at the signal', async () => {
    await using world = await startCloudSim();
    const aborter = new AbortController();
    const onStatus = () => aborter.abort(new Error('Ctrl-C'));
    await expect(releaseOf(world, { waitMs: 60_000, signal: aborter.signal, onStatus })).rejects.toThrow('Ctrl-C');
  });

  it('jobs and cancel', async () => {
    await using world = await startCloudSim();
    expect(await askCloud(world, { action: 'jobs' })).toEqual({ dir: world.dir, jobs: [] });
    const { job } = await releaseOf(world);
    const listed = await askCloud(world, { action: 'jobs' });
    expect(simCloudJobsSchema.parse(listed)).toEqual(listed);
    expect(listed.jobs.map(({ jobId }) => jobId)).toEqual([job.jobId]);
    const cancelled = await askCloud(world, { action: 'cancel', jobId: job.jobId, force: false });
    expect(simCloudCancelSchema.parse(cancelled)).toEqual(cancelled);
    expect(cancelled.job.status).toBe('CANCELED');
    await expect(askCloud(world, { action: 'cancel', jobId: job.jobId, force: true })).rejects.toMatchObject({
      code: 'USAGE',
    });
    await expect(askCloud(world, { action: 'cancel', jobId: 'none', force: true })).rejects.toThrow(
      "There is no job 'none'",
    );
  });

  it('send: any bytes, also above the limit of a device, retained on request', async () => {
    await using world = await startCloudSim();
    const file = join(world.dir, 'payload');
    const bytes = Buffer.alloc(300_000, 0xfe);
    writeFileSync(file, bytes);
    const sent = await simCloudSend(world, { topic: stopTopic, file, retain: true });
    expect(simCloudSendSchema.parse(sent)).toEqual({ dir: world.dir, topic: stopTopic, bytes: 300_000, retain: true });
    await using device = await world.connect();
    const payload = new Promise<Buffer>((resolve) => device.client.once('message', (_topic, body) => resolve(body)));
    await device.client.subscribeAsync(stopTopic, { qos: 1 });
    expect(Buffer.compare(await payload, bytes)).toBe(0);
    expect(device.received[0]?.retain).toBe(true);
    rmSync(file);
    await expect(simCloudSend(world, { topic: stopTopic, file, retain: false })).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
    });
    for (const wrong of [{ topic: 'a' }, { topic: 'a', payload: 'x', file }, { topic: 'a/+', payload: 'x' }]) {
      await expect(simCloudSend(world, { retain: false, ...wrong })).rejects.toMatchObject({ code: 'USAGE' });
    }
  });

  it('received: the latest on a topic, and the number of all', async () => {
    await using world = await startCloudSim();
    expect(await askCloud(world, { action: 'received', last: 5 })).toMatchObject({
      kept: 0,
      matching: 0,
      messages: [],
      topic: null,
    });
    await using device = await world.connect();
    for (const text of ['1', '2', '3']) await device.client.publishAsync('gw/SIM-0001/telemetry', text, { qos: 1 });
    await device.client.publishAsync('gw/SIM-0001/records', Buffer.from([0xff]), { qos: 1 });
    const found = await askCloud(world, { action: 'received', topic: 'gw/SIM-0001/telemetry', last: 2 });
    expect(simCloudReceivedSchema.parse(found)).toEqual(found);
    expect([found.kept, found.matching, found.messages.map(({ text }) => text)]).toEqual([4, 3, ['2', '3']]);
    expect((await askCloud(world, { action: 'received', last: 1 })).messages).toMatchObject([
      { text: null, bytes: 1, qos: 1 },
    ]);
  });

  it('restart: ends connections and accepts new ones', async () => {
    await using world = await startCloudSim();
    const device = await world.connect();
    const restarted = await askCloud(world, { action: 'restart' });
    expect(simCloudRestartSchema.parse(restarted)).toEqual({ dir: world.dir, connections: 1 });
    await device.closed;
    await using again = await world.connect();
    expect(again.client.connected).toBe(true);
  });

  it('needs a running simulator with a cloud', async () => {
    await using world = await startCloudSim({ with: ['cloud', 'voice'] });
    const dir = join(world.dir, 'other');
    await expect(askCloud({ dir }, { action: 'jobs' })).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING' });
    await using _without = await startSim({ dir });
    await expect(askCloud({ dir }, { action: 'jobs' })).rejects.toThrow('This simulator has no cloud.');
  });
});
