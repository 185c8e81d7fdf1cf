import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobExecutionWire } from '../../../src/lib/cloud/wire.ts';
import { type CloudSim, callStorage, type Device, startCloudSim } from './device.ts';

// The job service as seen by a device. Codes and rules are those of a common vendor (HINWEIS).

const start = 'gw/SIM-0001/jobs';

/** A device that has subscribed to all its job topics. */
async function listening(world: CloudSim): Promise<Device> {
  const device = await world.connect();
  await device.client.subscribeAsync(`${start}/#`, { qos: 1 });
  return device;
}

const executionOf = ({ body }: { body: Record<string, unknown> }) => body.execution as JobExecutionWire;

describe('the queue', () => {
  it('announces a new head with its document, and an empty queue without an execution', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    const { jobId } = world.cloud.createJob({ any: 'document' }, { jobId: 'job-1' });
    const first = await device.next(`${start}/notify-next`);
    expect(first.execution).toMatchObject({
      jobId,
      thingName: 'SIM-0001',
      status: 'QUEUED',
      jobDocument: { any: 'document' },
      versionNumber: 1,
      executionNumber: 1,
    });
    // The head stays the same.
    world.cloud.createJob({}, { jobId: 'job-2' });
    await device.ask(`${start}/job-1/update`, { status: 'REJECTED' });
    expect((await device.next(`${start}/notify-next`, 1)).execution).toMatchObject({ jobId: 'job-2' });
    world.cloud.cancel('job-2');
    expect(Object.keys(await device.next(`${start}/notify-next`, 2))).toEqual(['timestamp']);
    expect(world.cloud.jobs().map(({ jobId: id, status }) => [id, status])).toEqual([
      ['job-1', 'REJECTED'],
      ['job-2', 'CANCELED'],
    ]);
  });

  it('has times in whole seconds', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({});
    const { body } = await device.ask(`${start}/start-next`, { clientToken: 't' });
    const { queuedAt, startedAt, lastUpdatedAt } = executionOf({ body });
    for (const time of [body.timestamp, queuedAt, startedAt, lastUpdatedAt]) {
      expect(Number.isInteger(time) && Math.abs(Number(time) - Date.now() / 1_000) < 60).toBe(true);
    }
  });

  it('starts the oldest, and returns one in progress before any queued one', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({}, { jobId: 'older' });
    world.cloud.createJob({}, { jobId: 'newer' });
    await device.ask(`${start}/newer/update`, { status: 'IN_PROGRESS', statusDetails: { phase: 'a' } });
    const next = await device.ask(`${start}/start-next`, { clientToken: 'x' });
    expect(executionOf(next)).toMatchObject({ jobId: 'newer', statusDetails: { phase: 'a' }, versionNumber: 2 });
    await device.ask(`${start}/newer/update`, { status: 'SUCCEEDED' });
    const older = await device.ask(`${start}/start-next`, {});
    expect(executionOf(older)).toMatchObject({ jobId: 'older', status: 'IN_PROGRESS', statusDetails: {} });
  });

  it('is empty for another device, and without jobs', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({}, { serial: 'SN0007' });
    const { topic, body } = await device.ask(`${start}/start-next`, { clientToken: 'x' });
    expect([topic, Object.keys(body).toSorted(), body.clientToken]).toEqual([
      'accepted',
      ['clientToken', 'timestamp'],
      'x',
    ]);
  });
});

describe('an update', () => {
  it('keeps status details when it has none, replaces them otherwise, and increments the version', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({}, { jobId: 'j' });
    await device.ask(`${start}/j/update`, { status: 'IN_PROGRESS', statusDetails: { a: '1' } });
    await device.ask(`${start}/j/update`, { status: 'IN_PROGRESS' });
    const { body } = await device.ask(`${start}/j/update`, {
      status: 'SUCCEEDED',
      statusDetails: { b: '2' },
      executionNumber: 1,
      clientToken: 'c',
    });
    expect(body).toEqual({ clientToken: 'c', timestamp: expect.any(Number) });
    expect(world.cloud.jobs()[0]?.versionNumber).toBe(4);
    expect(world.cloud.jobs()[0]?.history.map(({ status, statusDetails }) => [status, statusDetails])).toEqual([
      ['QUEUED', {}],
      ['IN_PROGRESS', { a: '1' }],
      ['IN_PROGRESS', { a: '1' }],
      ['SUCCEEDED', { b: '2' }],
    ]);
  });

  it.each([
    ['InvalidJson', 'j/update', '{'],
    ['InvalidJson', 'start-next', '[]'],
    ['InvalidRequest', 'j/update', { status: 'CANCELED' }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', statusDetails: { a: 'two\nlines' } }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', statusDetails: { 'a b': 'x' } }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', statusDetails: { a: '' } }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', statusDetails: { a: 'x'.repeat(1025) } }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', statusDetails: { a: 1 } }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', reason: 'unknown field' }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', stepTimeoutInMinutes: 1 }],
    ['InvalidRequest', 'j/update', { status: 'IN_PROGRESS', executionNumber: '1' }],
    ['InvalidRequest', 'start-next', { clientToken: '' }],
    ['ResourceNotFound', 'other/update', { status: 'IN_PROGRESS' }],
    ['ResourceNotFound', 'other/get', {}],
    ['ResourceNotFound', 'j/update', { status: 'IN_PROGRESS', executionNumber: 2 }],
    ['InvalidTopic', 'j/delete', {}],
    ['InvalidTopic', 'j/update/more', { status: 'IN_PROGRESS' }],
    ['InvalidTopic', '$next/get', {}],
  ])('is rejected with %s: %s', async (code, suffix, body) => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({}, { jobId: 'j' });
    const answer = await device.ask(`${start}/${suffix}`, body);
    expect([answer.topic, answer.body.code]).toEqual(['rejected', code]);
    expect(world.cloud.jobs()[0]).toMatchObject({ status: 'QUEUED', versionNumber: 1 });
  });

  it('is rejected with the present state in a final state', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({}, { jobId: 'j' });
    await device.ask(`${start}/j/update`, { status: 'FAILED' });
    const late = await device.ask(`${start}/j/update`, { status: 'IN_PROGRESS' });
    expect(late.body).toMatchObject({ code: 'InvalidStateTransition', executionState: { status: 'FAILED' } });
    const read = await device.ask(`${start}/j/get`, {});
    expect(read.body).toMatchObject({ code: 'TerminalStateReached' });
  });
});

describe('a job of the cloud', () => {
  it('is cancelled in progress only by force', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.cloud.createJob({}, { jobId: 'j' });
    await device.ask(`${start}/start-next`, {});
    expect(() => world.cloud.cancel('j')).toThrow('is in progress');
    expect(world.cloud.cancel('j', { force: true }).status).toBe('CANCELED');
    const late = await device.ask(`${start}/j/update`, { status: 'SUCCEEDED' });
    expect(late.body).toMatchObject({ code: 'InvalidStateTransition' });
    expect(() => world.cloud.cancel('j')).toThrow('CANCELED');
    expect(() => world.cloud.cancel('none')).toThrow("There is no job 'none'");
  });

  it('has a document of at most 32 KiB and a valid id, and runs again as a further execution', async () => {
    await using world = await startCloudSim();
    expect(() => world.cloud.createJob({ text: 'x'.repeat(33_000) })).toThrow('33011 bytes');
    expect(() => world.cloud.createJob({}, { jobId: 'two words' })).toThrow("'two words' is not a job id");
    world.cloud.createJob({}, { jobId: 'j' });
    expect(() => world.cloud.createJob({}, { jobId: 'j' })).toThrow('QUEUED');
    world.cloud.cancel('j');
    expect(world.cloud.createJob({}, { jobId: 'j' }).executionNumber).toBe(2);
  });

  it('has a new pre-signed URL each time it is asked for, and other placeholders as they are', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    const folder = mkdtempSync(join(tmpdir(), 'gw-package-'));
    const file = join(folder, 'a.tar');
    const bytes = Buffer.from('package');
    writeFileSync(file, bytes);
    const document = { note: '${' + 'parameter}' };
    await world.cloud.release({ file, version: '2.0.0', stage: 3, allowDowngrade: true, document });
    rmSync(folder, { recursive: true });
    const { execution } = (await device.next(`${start}/notify-next`)) as { execution: JobExecutionWire };
    const { url, ...about } = (execution.jobDocument as { package: { url: string } }).package;
    expect(execution.jobDocument).toMatchObject({
      schema: 'gw/release-job/1',
      version: '2.0.0',
      stage: 3,
      allowDowngrade: true,
      ...document,
    });
    expect(about).toEqual({ bytes: 7, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect((await callStorage(world, url)).body).toEqual(bytes);
    const { body } = await device.ask(`${start}/${execution.jobId}/get`, {});
    expect((executionOf({ body }).jobDocument as { package: { url: string } }).package.url).not.toBe(url);
    expect(executionOf({ body }).lastUpdatedAt).toBe(execution.lastUpdatedAt);
  });

  it('is rejected without a readable version, and takes that of the manifest', async () => {
    await using world = await startCloudSim();
    const folder = mkdtempSync(join(tmpdir(), 'gw-package-'));
    const file = join(folder, 'a.tar');
    writeFileSync(file, 'no tar');
    await expect(world.cloud.release({ file })).rejects.toThrow('version');
    await expect(world.cloud.release({ file: join(folder, 'none') })).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
    });
    const manifest = JSON.stringify({ schema: 'gw/release/1', version: '3.1.4', minimumVersion: '1.0.0', files: [] });
    const header = Buffer.alloc(512);
    header.write('manifest.json', 0);
    header.write(manifest.length.toString(8).padStart(11, '0'), 124);
    writeFileSync(file, Buffer.concat([header, Buffer.from(manifest)]));
    await world.cloud.release({ file });
    rmSync(folder, { recursive: true });
    await using device = await listening(world);
    const { body } = await device.ask(`${start}/start-next`, {});
    expect(executionOf({ body }).jobDocument).toMatchObject({ version: '3.1.4' });
  });
});

describe('answers', () => {
  it('reach only a subscribed device by default, and the asking one without a subscription by an option', async () => {
    for (const answersWithoutSubscription of [false, true]) {
      await using world = await startCloudSim({ cloud: { answersWithoutSubscription } });
      await using device = await world.connect();
      await device.client.publishAsync(`${start}/start-next`, '{"clientToken":"a"}', { qos: 1 });
      await device.client.subscribeAsync('gw/SIM-0001/stop', { qos: 1 });
      await world.cloud.stop({ id: 'later' });
      await device.next('gw/SIM-0001/stop');
      expect(device.received.map(({ topic }) => topic)).toEqual([
        ...(answersWithoutSubscription ? [`${start}/start-next/accepted`] : []),
        'gw/SIM-0001/stop',
      ]);
    }
  });

  it('use the topic templates of the settings, which are in the site file', async () => {
    await using world = await startCloudSim({ cloud: { topics: { jobs: 'x/<serial>/y' } } });
    await using device = await world.connect();
    await device.client.subscribeAsync('x/SIM-0001/y/#', { qos: 1 });
    expect((await device.ask('x/SIM-0001/y/start-next', {})).topic).toBe('accepted');
    expect(readFileSync(join(world.dir, 'site.yaml'), 'utf8')).toContain('topics:\n    jobs: x/<serial>/y\n');
  });
});
