import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/lib/cloud/gate/model.ts';
import { createUploads } from '../../../src/lib/cloud/storage/uploads.ts';
import { silentLog } from '../../../src/lib/lifecycle/index.ts';
import { packArchive } from '../../../src/lib/maps/archive/archive.ts';
import { localSocketPath, siteSchema } from '../../../src/lib/site/index.ts';
import { cloudUploadSchema } from '../../../src/lib/toolkit/cloud/cloud.result.ts';
import { uploadArchive } from '../../../src/lib/toolkit/cloud/upload.ts';
import { storageServer, trust } from '../../cloud/storage/storage-server.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { sampleArchive } from '../../maps/samples.ts';
import { httpServer, sharedFolder } from '../kit.ts';
import { context } from '../operator/fake-operator.ts';

const home = sharedFolder();
let file: string;

beforeAll(async () => {
  file = join(home, 'maps-SN0007.tar.gz');
  await writeFile(
    file,
    await packArchive(sampleArchive({ chassis: { serial: 'SN0007', software: null, model: null } })),
  );
});

interface World {
  readonly answer?: Answer;
  readonly hasCloud?: boolean;
  readonly isConnected?: boolean;
}

/** A gateway: its socket for local commands, and uploads to a real HTTPS server. */
async function gateway({ answer, hasCloud = true, isConnected = true }: World = {}) {
  const dir = await mkdtemp(join(home, 'gw-'));
  const clock = createPacedClock();
  const bodies: Buffer[] = [];
  const storage = await storageServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    bodies.push(Buffer.concat(chunks));
    response.writeHead(200).end();
  });
  const stateDir = join(dir, 'state');
  const parsed = siteSchema.parse({
    name: 'Test',
    chassis: { host: '127.0.0.1', serial: 'SN0007' },
    stateDir,
    disk: { reserveMb: 1 },
    ...(hasCloud && { cloud: { mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' } } }),
  });
  const site = { ...parsed, path: join(dir, 'site.yaml'), dir };
  const uploads = createUploads({
    dir: join(stateDir, 'cloud', 'uploads'),
    requester: { ask: async () => answer ?? { kind: 'storage', storage: { url: storage.url } } },
    topic: 'gw/SN0007/storage',
    storageUrl: undefined,
    trust: () => trust,
    connected: () => isConnected,
    clock,
    log: silentLog,
  });
  const base = isConnected ? connectedView : lostView;
  await mkdir(join(stateDir, 'local'), { recursive: true });
  const server = await httpServer(
    (_request, response) => response.end(JSON.stringify({ ...base, uploads: uploads.view() })),
    localSocketPath(site),
  );
  const ending = new AbortController();
  const running = uploads.run(ending.signal);
  return {
    toolkit: { site, clock },
    bodies,
    spool: join(stateDir, 'cloud', 'uploads'),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await running;
      await server[Symbol.asyncDispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

describe('gw cloud upload', () => {
  it('adds a verified backup, which the running gateway uploads byte for byte', async () => {
    await using world = await gateway();
    const data = await uploadArchive(world.toolkit, { file, waitMs: 60_000 }, context());
    expect(cloudUploadSchema.parse(data)).toMatchObject({
      isNew: true,
      upload: { name: 'maps/maps-SN0007.tar.gz', state: 'uploaded' },
      link: { status: 'connected' },
    });
    expect(world.bodies.map((body) => body.equals(Buffer.from([])))).toEqual([false]);
    expect(world.bodies[0]).toEqual(await readFile(file));
    expect((await readdir(world.spool)).filter((name) => name.endsWith('.data'))).toEqual([]);
  });

  it('uploads no backup of another robot, and says where it can be', async () => {
    await using world = await gateway();
    const other = join(await mkdtemp(join(home, 'other-')), 'maps.tar.gz');
    await writeFile(other, await packArchive(sampleArchive()));
    const error = await uploadArchive(world.toolkit, { file: other }, context()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'ARCHIVE_FOREIGN', remedy: expect.stringContaining('gateway of "SN-1"') });
    expect(world.bodies).toEqual([]);
  });

  it('says of an incomplete backup that it is one', async () => {
    await using world = await gateway();
    const half = join(await mkdtemp(join(home, 'half-')), 'maps.tar.gz');
    const chassis = { serial: 'SN0007', software: null, model: null };
    await writeFile(half, await packArchive(sampleArchive({ chassis, complete: false })));
    expect(await uploadArchive(world.toolkit, { file: half }, context())).toMatchObject({ complete: false });
  });

  it('adds without waiting, and says that the link is missing', async () => {
    await using world = await gateway({ isConnected: false });
    const data = await uploadArchive(world.toolkit, { file }, context());
    expect(data).toMatchObject({ upload: { state: 'waiting' }, link: { status: 'not-connected' }, waitedMs: null });
    expect(await uploadArchive(world.toolkit, { file }, context())).toMatchObject({ isNew: false });
  });

  it('is not uploaded after the time is over, and says what it waits for', async () => {
    await using world = await gateway({ isConnected: false });
    const data = await uploadArchive(world.toolkit, { file, waitMs: 8_000 }, context());
    expect(data.upload).toMatchObject({ state: 'waiting', detail: 'waits for the link to the cloud' });
    expect(data.waitedMs).toBeGreaterThanOrEqual(8_000);
  });

  it('ends the wait with a refusal and its reason', async () => {
    await using world = await gateway({ answer: { kind: 'storage', storage: { error: 'quota exceeded' } } });
    const data = await uploadArchive(world.toolkit, { file, waitMs: 60_000 }, context());
    expect(data.upload.state).toBe('refused');
    expect(data.upload.detail).toContain('quota exceeded');
  });

  it('refuses a file that is no backup, or a damaged one, and adds nothing', async () => {
    await using world = await gateway();
    const damaged = join(home, 'damaged.tar.gz');
    const bytes = await readFile(file);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    await writeFile(damaged, bytes);
    await expect(uploadArchive(world.toolkit, { file: damaged }, context())).rejects.toMatchObject({
      code: 'ARCHIVE_INVALID',
    });
    await expect(uploadArchive(world.toolkit, { file: join(home, 'none') }, context())).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
    });
    expect(await readdir(world.spool).catch(() => [])).toEqual([]);
  });

  it('refuses without a cloud, without a running gateway, and through SSH, and adds nothing', async () => {
    {
      await using world = await gateway({ hasCloud: false });
      await expect(uploadArchive(world.toolkit, { file }, context())).rejects.toMatchObject({
        code: 'SITE_FILE_INVALID',
      });
    }
    await using world = await gateway();
    const options = { file, via: 'technician@192.0.2.2' };
    await expect(uploadArchive(world.toolkit, options, context())).rejects.toMatchObject({
      code: 'NEEDS_GATEWAY',
      remedy: 'Copy it with scp to technician@192.0.2.2, then run there: gw cloud upload maps-SN0007.tar.gz',
    });
    const elsewhere = { ...world.toolkit, site: { ...world.toolkit.site, stateDir: join(home, 'laptop') } };
    await expect(uploadArchive(elsewhere, { file }, context())).rejects.toMatchObject({ code: 'NEEDS_GATEWAY' });
    expect(await readdir(home)).not.toContain('laptop');
    expect(await readdir(world.spool).catch(() => [])).toEqual([]);
  });

  it('refuses while the gateway that left its socket does not answer', async () => {
    const world = await gateway();
    await world[Symbol.asyncDispose]();
    await mkdir(join(world.toolkit.site.stateDir, 'local'), { recursive: true });
    await writeFile(localSocketPath(world.toolkit.site), '');
    await expect(uploadArchive(world.toolkit, { file }, context())).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
    });
  });
});
