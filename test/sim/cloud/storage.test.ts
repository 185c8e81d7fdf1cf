import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRange } from '../../../src/lib/sim/cloud/storage/storage.ts';
import { createFakeClock } from '../../lifecycle/fake-clock.ts';
import { type CloudSim, callStorage, startCloudSim } from './device.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const topic = 'gw/SIM-0001/storage';

async function askForUpload(world: CloudSim, bytes: Uint8Array, about: object = {}) {
  await using device = await world.connect();
  await device.client.subscribeAsync(`${topic}/answer`, { qos: 1 });
  const request = { clientToken: 't', method: 'PUT', name: 'maps/a.tar', bytes: bytes.length, sha256: sha256(bytes) };
  const { body } = await device.ask(topic, { ...request, ...about });
  return body as { clientToken: string; url?: string; headers?: Record<string, string>; error?: string };
}

const put = (headers: Record<string, string> = {}, bytes: Uint8Array = Buffer.alloc(0)) => ({
  method: 'PUT',
  headers: { 'content-length': String(bytes.length), ...headers },
});

describe('a download', () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));

  it.each([
    [undefined, 200, [0, 1000], undefined],
    ['bytes=0-9', 206, [0, 10], 'bytes 0-9/1000'],
    ['bytes=990-', 206, [990, 1000], 'bytes 990-999/1000'],
    ['bytes=990-5000', 206, [990, 1000], 'bytes 990-999/1000'],
    ['bytes=-3', 206, [997, 1000], 'bytes 997-999/1000'],
    ['bytes=1-2,5-6', 200, [0, 1000], undefined],
  ] as const)('with Range %s', async (range, status, [from, to], contentRange) => {
    await using world = await startCloudSim();
    const url = world.cloud.storeObject('a b/ü', bytes);
    const answer = await callStorage(world, url, { headers: range === undefined ? {} : { range } });
    expect([answer.status, answer.headers['content-range']]).toEqual([status, contentRange]);
    expect(answer.body).toEqual(bytes.subarray(from, to));
  });

  it('beyond the end is refused with 416 and the length', async () => {
    await using world = await startCloudSim();
    const url = world.cloud.storeObject('a', bytes);
    const answer = await callStorage(world, url, { headers: { range: 'bytes=1000-' } });
    expect([answer.status, answer.headers['content-range']]).toEqual([416, 'bytes */1000']);
  });

  it('of another object than before is whole with If-Range', async () => {
    await using world = await startCloudSim();
    const url = world.cloud.storeObject('a', bytes);
    const { etag } = (await callStorage(world, url)).headers;
    const resume = (tag: string) => callStorage(world, url, { headers: { range: 'bytes=10-', 'if-range': tag } });
    expect((await resume(String(etag))).status).toBe(206);
    world.cloud.storeObject('a', Buffer.from('another'));
    const other = await resume(String(etag));
    expect([other.status, other.body.toString()]).toEqual([200, 'another']);
  });

  it('is refused with 403 in XML for another key, method or signature, and after its end', async () => {
    const clock = createFakeClock({ wall: new Date() });
    await using world = await startCloudSim({ clock, cloud: { urlLifetimeS: 60 } });
    const url = world.cloud.storeObject('a', bytes);
    world.cloud.storeObject('b', bytes);
    const code = async (wanted: string, options = {}) => {
      const { status, headers, body } = await callStorage(world, wanted, options);
      return [status, headers['content-type'], /<Code>(\w+)<.*<Message>([^<]*)</.exec(body.toString())?.slice(1)];
    };
    const mismatch = [403, 'application/xml', ['SignatureDoesNotMatch', expect.any(String)]];
    expect(await code(url.replace('/a?', '/b?'))).toEqual(mismatch);
    expect(await code(url, { method: 'PUT' })).toEqual(mismatch);
    expect(await code(`${url}&x=1`)).toEqual(mismatch);
    expect(await code(url.split('?')[0] ?? '')).toEqual([403, 'application/xml', ['AccessDenied', 'Access Denied']]);
    expect((await callStorage(world, url)).status).toBe(200);
    await clock.advance(60_000);
    expect(await code(url)).toEqual([403, 'application/xml', ['AccessDenied', 'Request has expired']]);
    expect(world.cloud.storageRequests().map(({ status }) => status)).toEqual([403, 403, 403, 403, 200, 403]);
    expect(JSON.stringify(world.cloud.storageRequests())).not.toContain('Signature');
  });
});

describe('an upload', () => {
  const bytes = Buffer.from('an archive');

  it('by the URL of an answer is stored', async () => {
    await using world = await startCloudSim();
    const { clientToken, url = '', headers } = await askForUpload(world, bytes);
    expect([clientToken, url.startsWith(`${world.cloud.places.storageUrl}/`)]).toEqual(['t', true]);
    expect((await callStorage(world, url, put(headers, bytes), bytes)).status).toBe(200);
    expect(world.cloud.uploads()).toMatchObject([{ key: 'devices/SIM-0001/maps/a.tar', sha256: sha256(bytes) }]);
    expect(Buffer.from(world.cloud.uploads()[0]?.bytes ?? [])).toEqual(bytes);
  });

  it('is refused without the signed header, with another size, another content, or without a size', async () => {
    await using world = await startCloudSim();
    const { url = '', headers } = await askForUpload(world, bytes);
    const other = Buffer.from('an archivE');
    const longer = Buffer.from('an archive and more');
    const status = async (options: object, body: Uint8Array) => (await callStorage(world, url, options, body)).status;
    expect(await status(put({}, bytes), bytes)).toBe(403);
    expect(await status(put({ 'x-content-sha256': sha256(other) }, other), other)).toBe(403);
    expect(await status(put(headers, longer), longer)).toBe(403);
    expect(await status(put(headers, other), other)).toBe(400);
    expect(await status({ method: 'PUT', headers: { ...headers, 'transfer-encoding': 'chunked' } }, bytes)).toBe(411);
    expect(world.cloud.uploads()).toEqual([]);
  });

  it.each([
    [{ method: 'GET' }, 'method'],
    [{ name: '../a' }, 'name'],
    [{ name: '/a' }, 'name'],
    [{ name: 'a//b' }, 'name'],
    [{ name: 'a/./b' }, 'name'],
    [{ bytes: 0 }, 'size'],
    [{ bytes: 1.5 }, 'size'],
    [{ bytes: 2 ** 40 }, 'bytes'],
    [{ sha256: 'AB' }, 'sha256'],
    [{ more: 1 }, 'unknown field'],
  ])('request with %o gets an error and no URL', async (about, error) => {
    await using world = await startCloudSim();
    const answer = await askForUpload(world, bytes, about);
    expect(answer).toEqual({ clientToken: 't', error: expect.stringContaining(error) });
  });
});

describe('parsing', () => {
  it('accepts a URL, and none with a changed character', async () => {
    await using world = await startCloudSim();
    const url = world.cloud.storeObject('a/b c', Buffer.from('x'));
    expect((await callStorage(world, url)).status).toBe(200);
    const start = world.cloud.places.storageUrl.length + 1;
    for (let at = start; at < url.length; at += 7) {
      const changed = `${url.slice(0, at)}${url[at] === '0' ? '1' : '0'}${url.slice(at + 1)}`;
      expect((await callStorage(world, changed)).status, changed).toBe(403);
    }
  });

  it('of any Range header yields bytes of the object', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.tuple(fc.nat(50), fc.nat(50)).map(([from, to]) => `bytes=${from}-${to}`),
        ),
        fc.nat(40),
        (header, length) => {
          const range = readRange(header, length);
          if (typeof range === 'string') return;
          expect(range.first >= 0 && range.first <= range.last && range.last < length).toBe(true);
        },
      ),
    );
  });
});
