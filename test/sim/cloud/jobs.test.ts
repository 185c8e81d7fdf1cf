import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JobExecutionWire } from '../../../src/lib/cloud/wire.ts';
import { shared } from '../../lifecycle/shared.ts';
import { callStorage, startCloudWorld } from './device.ts';

// The job service as seen by a device. Codes and rules are those of a common vendor (HINWEIS).

const world = shared(await startCloudWorld());

/** A device that has subscribed to all its job topics, with jobs of these ids. */
async function listening(...jobIds: string[]) {
  const device = await world.join();
  await device.subscribe('jobs/#');
  const { serial } = device;
  for (const jobId of jobIds) world.cloud.createJob({ any: 'document' }, { jobId, serial });
  return Object.assign(device, {
    jobs: () => world.cloud.jobs().filter((job) => job.serial === serial),
    update: (jobId: string, body: object) => device.ask(`jobs/${jobId}/update`, body),
    cancel: (jobId: string, about: object = {}) => world.cloud.cancel(jobId, { ...about, serial }),
    startNext: (body: object = {}) => device.ask('jobs/start-next', body),
    release: (about: object) => world.cloud.release({ ...about, serial } as never),
  });
}

const executionOf = ({ body }: { body: Record<string, unknown> }) => body.execution as JobExecutionWire;
const urlOf = ({ jobDocument }: JobExecutionWire) => (jobDocument as { package: { url: string } }).package.url;

describe('the queue', () => {
  it('announces a new head with its document, and an empty queue without an execution', async () => {
    await using device = await listening('1');
    const { serial: thingName } = device;
    const numbers = { versionNumber: 1, executionNumber: 1 };
    const head = { jobId: '1', thingName, status: 'QUEUED', jobDocument: { any: 'document' }, ...numbers };
    expect((await device.next('jobs/notify-next')).execution).toMatchObject(head);
    // The head stays the same.
    world.cloud.createJob({}, { jobId: '2', serial: thingName });
    await device.update('1', { status: 'REJECTED' });
    expect((await device.next('jobs/notify-next', 1)).execution).toMatchObject({ jobId: '2' });
    device.cancel('2');
    expect(Object.keys(await device.next('jobs/notify-next', 2))).toEqual(['timestamp']);
    expect(device.jobs().map(({ status }) => status)).toEqual(['REJECTED', 'CANCELED']);
  });

  it('starts the oldest, and returns one in progress before any queued one; times are whole seconds', async () => {
    await using device = await listening('older', 'newer');
    await device.update('newer', { status: 'IN_PROGRESS', statusDetails: { phase: 'a' } });
    const newer = { jobId: 'newer', statusDetails: { phase: 'a' }, versionNumber: 2 };
    const next = await device.startNext({ clientToken: 'x' });
    expect(executionOf(next)).toMatchObject(newer);
    const { queuedAt, startedAt, lastUpdatedAt } = executionOf(next);
    const nowS = world.clock.wall().getTime() / 1_000;
    expect([next.body.timestamp, queuedAt, startedAt, lastUpdatedAt]).toEqual(Array(4).fill(Math.floor(nowS)));
    await device.update('newer', { status: 'SUCCEEDED' });
    const older = { jobId: 'older', status: 'IN_PROGRESS', statusDetails: {} };
    expect(executionOf(await device.startNext())).toMatchObject(older);
  });

  it('is empty for another device, and without jobs', async () => {
    await using device = await listening();
    world.cloud.createJob({}, { serial: 'OTHER' });
    const { topic, body } = await device.startNext({ clientToken: 'x' });
    expect([topic, body]).toEqual(['accepted', { clientToken: 'x', timestamp: expect.any(Number) }]);
  });
});

describe('an update', () => {
  it('keeps status details when it has none, replaces them otherwise, and increments the version', async () => {
    await using device = await listening('j');
    await device.update('j', { status: 'IN_PROGRESS', statusDetails: { a: '1' } });
    await device.update('j', { status: 'IN_PROGRESS' });
    const about = { executionNumber: 1, clientToken: 'c' };
    const { body } = await device.update('j', { status: 'SUCCEEDED', statusDetails: { b: '2' }, ...about });
    expect(body).toEqual({ clientToken: 'c', timestamp: expect.any(Number) });
    const [job] = device.jobs();
    expect(job?.versionNumber).toBe(4);
    expect(job?.history.map(({ status, statusDetails }) => [status, statusDetails])).toEqual([
      ['QUEUED', {}],
      ['IN_PROGRESS', { a: '1' }],
      ['IN_PROGRESS', { a: '1' }],
      ['SUCCEEDED', { b: '2' }],
    ]);
  });

  const detailed = (statusDetails: object) => ({ status: 'IN_PROGRESS', statusDetails });
  it.each([
    ['InvalidJson', 'j/update', '{'],
    ['InvalidJson', 'start-next', '[]'],
    ['InvalidRequest', 'j/update', { status: 'CANCELED' }],
    ['InvalidRequest', 'j/update', detailed({ a: 'two\nlines' })],
    ['InvalidRequest', 'j/update', detailed({ 'a b': 'x' })],
    ['InvalidRequest', 'j/update', detailed({ a: '' })],
    ['InvalidRequest', 'j/update', detailed({ a: 'x'.repeat(1025) })],
    ['InvalidRequest', 'j/update', detailed({ a: 1 })],
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
  ])('is rejected with %s: %s %j', async (code, suffix, body) => {
    await using device = await listening('j');
    const answer = await device.ask(`jobs/${suffix}`, body);
    expect([answer.topic, answer.body.code]).toEqual(['rejected', code]);
    expect(device.jobs()).toMatchObject([{ status: 'QUEUED', versionNumber: 1 }]);
  });

  it('is rejected with the present state in a final state', async () => {
    await using device = await listening('j');
    await device.update('j', { status: 'FAILED' });
    const late = await device.update('j', { status: 'IN_PROGRESS' });
    expect(late.body).toMatchObject({ code: 'InvalidStateTransition', executionState: { status: 'FAILED' } });
    const read = await device.ask('jobs/j/get', {});
    expect(read.body).toMatchObject({ code: 'TerminalStateReached' });
  });
});

describe('a job of the cloud', () => {
  it('is cancelled in progress only by force', async () => {
    await using device = await listening('j');
    await device.startNext();
    expect(() => device.cancel('j')).toThrow('is in progress');
    expect(device.cancel('j', { force: true }).status).toBe('CANCELED');
    expect((await device.update('j', { status: 'SUCCEEDED' })).body).toMatchObject({ code: 'InvalidStateTransition' });
    expect(() => device.cancel('j')).toThrow('CANCELED');
    expect(() => world.cloud.cancel('none')).toThrow("There is no job 'none'");
  });

  it('has a document of at most 32 KiB and a valid id, and runs again as a further execution', () => {
    expect(() => world.cloud.createJob({ text: 'x'.repeat(33_000) })).toThrow('33011 bytes');
    expect(() => world.cloud.createJob({}, { jobId: 'two words' })).toThrow("'two words' is not a job id");
    world.cloud.createJob({}, { jobId: 'again' });
    expect(() => world.cloud.createJob({}, { jobId: 'again' })).toThrow('QUEUED');
    world.cloud.cancel('again');
    expect(world.cloud.createJob({}, { jobId: 'again' }).executionNumber).toBe(2);
  });

  it('has a new pre-signed URL each time it is asked for, and other placeholders as they are', async () => {
    await using device = await listening();
    const file = join(world.dir, 'a.tar');
    const bytes = Buffer.from('package');
    writeFileSync(file, bytes);
    const document = { note: '${' + 'parameter}' };
    const about = { version: '2.0.0', stage: 3, allowDowngrade: true };
    await device.release({ file, ...about, document });
    rmSync(file);
    const { execution } = (await device.next('jobs/notify-next')) as { execution: JobExecutionWire };
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(execution.jobDocument).toMatchObject({
      ...{ schema: 'gw/release-job/1', ...about, ...document },
      package: { bytes: 7, sha256 },
    });
    expect((await callStorage(world, urlOf(execution))).body).toEqual(bytes);
    const again = executionOf(await device.ask(`jobs/${execution.jobId}/get`, {}));
    expect(urlOf(again)).not.toBe(urlOf(execution));
    expect(again.lastUpdatedAt).toBe(execution.lastUpdatedAt);
  });

  it('is rejected without a readable version, and takes that of the manifest', async () => {
    await using device = await listening();
    const file = join(world.dir, 'b.tar');
    writeFileSync(file, 'no tar');
    await expect(device.release({ file })).rejects.toThrow('version');
    await expect(device.release({ file: `${file}-none` })).rejects.toMatchObject({ code: 'FILE_UNREADABLE' });
    const manifest = JSON.stringify({ schema: 'gw/release/1', version: '3.1.4', minimumVersion: '1.0.0', files: [] });
    const header = Buffer.alloc(512);
    header.write('manifest.json', 0);
    header.write(manifest.length.toString(8).padStart(11, '0'), 124);
    writeFileSync(file, Buffer.concat([header, Buffer.from(manifest)]));
    await device.release({ file });
    expect(executionOf(await device.startNext()).jobDocument).toMatchObject({ version: '3.1.4' });
  });
});

describe('answers', () => {
  it('reach only a subscribed device by default, and the asking one without a subscription by an option', async () => {
    await using own = await startCloudWorld({
      cloud: { answersWithoutSubscription: true, topics: { jobs: 'x/<serial>/y' } },
    });
    for (const at of [world, own]) {
      await using device = await at.join();
      const topic = at === own ? `x/${device.serial}/y` : device.topic('jobs');
      await device.client.publishAsync(`${topic}/start-next`, '{"clientToken":"a"}', { qos: 1 });
      await device.subscribe('stop');
      await at.cloud.stop({ id: 'later', serial: device.serial });
      await device.next('stop');
      const answers = at === own ? [`${topic}/start-next/accepted`] : [];
      expect(device.received.map((message) => message.topic)).toEqual([...answers, device.topic('stop')]);
    }
    // The topic templates of the settings are in the site file.
    expect(readFileSync(join(own.dir, 'site.yaml'), 'utf8')).toContain('topics:\n    jobs: x/<serial>/y\n');
  });
});
