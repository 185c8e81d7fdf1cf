import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRange } from '../../../src/lib/sim/cloud/storage/storage.ts';
import { shared } from '../../lifecycle/shared.ts';
import { callStorage, startCloudWorld } from './device.ts';

const world = shared(await startCloudWorld({ cloud: { urlLifetimeS: 60 } }));
const device = shared(await world.join());
await device.subscribe('storage/answer');

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function askForUpload(bytes: Uint8Array, about: object = {}) {
  const request = { clientToken: 't', method: 'PUT', name: 'maps/a.tar', bytes: bytes.length, sha256: sha256(bytes) };
  const { body } = await device.ask('storage', { ...request, ...about });
  return body as { clientToken: string; url?: string; headers?: Record<string, string>; error?: string };
}
const get = (url: string, headers = {}) => callStorage(world, url, { headers });
const put = (url: string, headers: Record<string, string>, bytes: Uint8Array) =>
  callStorage(world, url, { method: 'PUT', headers: { 'content-length': String(bytes.length), ...headers } }, bytes);

describe('a download', () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 251));

  it.each([
    [undefined, 200, 0, 1000, undefined],
    ['bytes=0-9', 206, 0, 10, 'bytes 0-9/1000'],
    ['bytes=990-', 206, 990, 1000, 'bytes 990-999/1000'],
    ['bytes=990-5000', 206, 990, 1000, 'bytes 990-999/1000'],
    ['bytes=-3', 206, 997, 1000, 'bytes 997-999/1000'],
    ['bytes=1-2,5-6', 200, 0, 1000, undefined],
    ['bytes=1000-', 416, 0, 0, 'bytes */1000'],
  ])('with Range %s', async (range, status, from, to, contentRange) => {
    const answer = await get(world.cloud.storeObject('a b/ü', bytes), range === undefined ? {} : { range });
    expect([answer.status, answer.headers['content-range']]).toEqual([status, contentRange]);
    if (status !== 416) expect(answer.body).toEqual(bytes.subarray(from, to));
  });

  it('of another object than before is whole with If-Range', async () => {
    const url = world.cloud.storeObject('a', bytes);
    const { etag } = (await get(url)).headers;
    const resume = () => get(url, { range: 'bytes=10-', 'if-range': String(etag) });
    expect((await resume()).status).toBe(206);
    world.cloud.storeObject('a', Buffer.from('another'));
    const other = await resume();
    expect([other.status, other.body.toString()]).toEqual([200, 'another']);
  });

  it('is refused with 403 in XML for another key, method or signature, and after its end', async () => {
    const url = world.cloud.storeObject('a', bytes);
    world.cloud.storeObject('b', bytes);
    const code = async (wanted: string, options = {}) => {
      const { status, headers, body } = await callStorage(world, wanted, options);
      return [status, headers['content-type'], /<Code>(\w+)<.*<Message>([^<]*)</.exec(body.toString())?.slice(1)];
    };
    const before = world.cloud.storageRequests().length;
    const mismatch = [403, 'application/xml', ['SignatureDoesNotMatch', expect.any(String)]];
    expect(await code(url.replace('/a?', '/b?'))).toEqual(mismatch);
    expect(await code(url, { method: 'PUT' })).toEqual(mismatch);
    expect(await code(`${url}&x=1`)).toEqual(mismatch);
    expect(await code(url.split('?')[0] ?? '')).toEqual([403, 'application/xml', ['AccessDenied', 'Access Denied']]);
    expect((await get(url)).status).toBe(200);
    await world.clock.advance(60_000);
    expect(await code(url)).toEqual([403, 'application/xml', ['AccessDenied', 'Request has expired']]);
    const requests = world.cloud.storageRequests().slice(before);
    expect(requests.map(({ status }) => status)).toEqual([403, 403, 403, 403, 200, 403]);
    expect(JSON.stringify(requests)).not.toContain('Signature');
  });

  it('of any Range header yields bytes of the object', { tags: 'property' }, () => {
    const ranges = fc.tuple(fc.nat(50), fc.nat(50)).map(([from, to]) => `bytes=${from}-${to}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), ranges), fc.nat(40), (header, length) => {
        const range = readRange(header, length);
        return typeof range === 'string' || (range.first >= 0 && range.first <= range.last && range.last < length);
      }),
    );
  });
});

describe('an upload', () => {
  const bytes = Buffer.from('an archive');

  it('is refused without the signed header, with another size or content, or without a size; else stored', async () => {
    const { clientToken, url = '', headers = {} } = await askForUpload(bytes);
    expect([clientToken, url.startsWith(`${world.cloud.places.storageUrl}/`)]).toEqual(['t', true]);
    const other = Buffer.from('an archivE');
    const statuses = [
      await put(url, {}, bytes),
      await put(url, { 'x-content-sha256': sha256(other) }, other),
      await put(url, headers, Buffer.from('an archive and more')),
      await put(url, headers, other),
      await callStorage(world, url, { method: 'PUT', headers: { ...headers, 'transfer-encoding': 'chunked' } }, bytes),
    ].map(({ status }) => status);
    expect([statuses, world.cloud.uploads()]).toEqual([[403, 403, 403, 400, 411], []]);
    expect((await put(url, headers, bytes)).status).toBe(200);
    const key = `devices/${device.serial}/maps/a.tar`;
    expect(world.cloud.uploads()).toMatchObject([{ key, sha256: sha256(bytes) }]);
    expect(Buffer.from(world.cloud.uploads()[0]?.bytes ?? [])).toEqual(bytes);
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
    expect(await askForUpload(bytes, about)).toEqual({ clientToken: 't', error: expect.stringContaining(error) });
  });
});
