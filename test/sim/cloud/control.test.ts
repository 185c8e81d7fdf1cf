import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askCloud, simCloudRelease, simCloudSend } from '../../../src/lib/sim/control/cloud-commands.ts';
import * as schemas from '../../../src/lib/sim/control/control.result.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { shared } from '../../lifecycle/shared.ts';
import { until } from '../raw-client.ts';
import { type Device, SERIAL, startCloudSim } from './device.ts';

// The commands of `gw sim cloud` through the control port of a running simulator.

const world = shared(await startCloudSim({ with: ['cloud', 'voice'] }));

const signal = new AbortController().signal;
const stopTopic = `gw/${SERIAL}/stop`;

function releaseOf(about: object = {}) {
  const file = join(world.dir, 'package.bin');
  writeFileSync(file, 'content');
  return simCloudRelease(world, { file, version: '2.0.0', allowDowngrade: false, signal, ...about });
}

describe('gw sim cloud', () => {
  it('received: the latest on a topic, and the number of all', async () => {
    const none = { kept: 0, matching: 0, messages: [], topic: null };
    expect(await askCloud(world, { action: 'received', last: 5 })).toMatchObject(none);
    await using device = await world.join();
    for (const text of ['1', '2', '3']) await device.publish('telemetry', text);
    await device.publish('records', Buffer.from([0xff]));
    const found = await askCloud(world, { action: 'received', topic: device.topic('telemetry'), last: 2 });
    expect(schemas.simCloudReceivedSchema.parse(found)).toEqual(found);
    expect([found.kept, found.matching, found.messages.map(({ text }) => text)]).toEqual([4, 3, ['2', '3']]);
    const { messages } = await askCloud(world, { action: 'received', last: 1 });
    expect(messages).toMatchObject([{ text: null, bytes: 1, qos: 1 }]);
  });

  it('stop: a device receives it, and the result says whether it was connected', async () => {
    const without = await askCloud(world, { action: 'stop', reason: 'drill' });
    expect(schemas.simCloudStopSchema.parse(without)).toEqual(without);
    expect(without).toMatchObject({ dir: world.dir, serial: SERIAL, topic: stopTopic, connected: false });
    await using device = await world.connect();
    await device.subscribe('stop');
    const { id, connected } = await askCloud(world, { action: 'stop', reason: 'drill', by: 'A. Person' });
    expect([connected, await device.next('stop')]).toEqual([true, { id, reason: 'drill', by: 'A. Person' }]);
    const other = await askCloud(world, { action: 'stop', serial: 'OTHER' });
    expect(other).toMatchObject({ serial: 'OTHER', topic: 'gw/OTHER/stop', connected: false });
  });

  it('jobs and cancel', async () => {
    expect(await askCloud(world, { action: 'jobs' })).toEqual({ dir: world.dir, jobs: [] });
    const { jobId } = (await releaseOf()).job;
    const listed = await askCloud(world, { action: 'jobs' });
    expect(schemas.simCloudJobsSchema.parse(listed)).toEqual(listed);
    expect(listed.jobs.map((job) => job.jobId)).toEqual([jobId]);
    const cancelled = await askCloud(world, { action: 'cancel', jobId, force: false });
    expect(schemas.simCloudCancelSchema.parse(cancelled)).toEqual(cancelled);
    expect(cancelled.job.status).toBe('CANCELED');
    const again = (id: string) => askCloud(world, { action: 'cancel', jobId: id, force: true });
    await expect(again(jobId)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(again('none')).rejects.toThrow("There is no job 'none'");
  });

  it('release: queues a job, waits for its end, gives up after the timeout, and ends at the signal', async () => {
    const queued = await releaseOf({ stage: 4 });
    expect(schemas.simCloudReleaseSchema.parse(queued)).toEqual(queued);
    expect(queued).toMatchObject({ waited: false, ended: false, job: { status: 'QUEUED' } });
    const late = await releaseOf({ waitMs: 1 });
    expect(late).toMatchObject({ waited: true, ended: false, job: { status: 'QUEUED' } });
    const aborter = new AbortController();
    const interrupted = { signal: aborter.signal, onStatus: () => aborter.abort(new Error('Ctrl-C')) };
    await expect(releaseOf({ waitMs: 60_000, ...interrupted })).rejects.toThrow('Ctrl-C');
    await using device: Device = await world.connect();
    await device.subscribe('jobs/#');
    const seen: string[] = [];
    const onStatus = ({ status }: { status: string }) => seen.push(status);
    const waiting = releaseOf({ waitMs: 60_000, onStatus });
    await until(() => seen.length > 0);
    const body = { status: 'FAILED', statusDetails: { phase: 'rolled-back' } };
    await device.ask(`jobs/${world.cloud.jobs().at(-1)?.jobId}/update`, body);
    expect(await waiting).toMatchObject({ ended: true, job: body });
    expect(seen[0]).toBe('QUEUED');
  });

  it('send: any bytes, also above the limit of a device, retained on request', async () => {
    const file = join(world.dir, 'payload');
    const bytes = Buffer.alloc(300_000, 0xfe);
    writeFileSync(file, bytes);
    const sent = await simCloudSend(world, { topic: stopTopic, file, retain: true });
    const result = { dir: world.dir, topic: stopTopic, bytes: 300_000, retain: true };
    expect(schemas.simCloudSendSchema.parse(sent)).toEqual(result);
    await using device = await world.connect({ clean: true });
    const payload = new Promise<Buffer>((resolve) => device.client.once('message', (_topic, body) => resolve(body)));
    await device.subscribe('stop');
    expect(Buffer.compare(await payload, bytes)).toBe(0);
    expect(device.received[0]?.retain).toBe(true);
    rmSync(file);
    const missing = simCloudSend(world, { topic: stopTopic, file, retain: false });
    await expect(missing).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    for (const wrong of [{ topic: 'a' }, { topic: 'a', payload: 'x', file }, { topic: 'a/+', payload: 'x' }]) {
      await expect(simCloudSend(world, { retain: false, ...wrong })).rejects.toMatchObject({ code: 'USAGE' });
    }
  });

  it('restart: ends connections and accepts new ones', async () => {
    const device = await world.join();
    const restarted = await askCloud(world, { action: 'restart' });
    expect(schemas.simCloudRestartSchema.parse(restarted)).toEqual({ dir: world.dir, connections: 1 });
    await device.closed;
    await using again = await world.join();
    expect(again.client.connected).toBe(true);
  });

  it('needs a running simulator with a cloud', async () => {
    const dir = join(world.dir, 'other');
    await expect(askCloud({ dir }, { action: 'jobs' })).rejects.toMatchObject({ code: 'SIM_NOT_RUNNING' });
    await using _without = await startSim({ dir });
    await expect(askCloud({ dir }, { action: 'jobs' })).rejects.toThrow('This simulator has no cloud.');
  });
});
