import { describe, expect, it } from 'vitest';
import { shared } from '../../lifecycle/shared.ts';
import { startCloudWorld } from './device.ts';

const world = shared(await startCloudWorld());

async function listening() {
  const device = await world.join();
  await device.subscribe('shadow/#');
  return device;
}

describe('the shadow', () => {
  it('merges what is reported, deletes with null, answers with the changes and a version, and is returned', async () => {
    await using device = await listening();
    expect(await device.ask('shadow/get', '')).toMatchObject({ topic: 'rejected', body: { code: 404 } });
    const state = { reported: { a: 1, b: { c: 2, d: 3 } } };
    const first = await device.ask('shadow/update', { state, clientToken: 't' });
    expect(first).toMatchObject({ topic: 'accepted', body: { state, version: 1, clientToken: 't' } });
    const second = await device.ask('shadow/update', { state: { reported: { b: { c: null } } }, version: 1 });
    expect(second.body).toMatchObject({ state: { reported: { b: { c: null } } }, version: 2 });
    const reported = { a: 1, b: { d: 3 } };
    expect(world.cloud.shadow(device.serial)).toEqual({ reported, desired: {}, version: 2 });
    const read = await device.ask('shadow/get', '');
    expect(read).toMatchObject({ topic: 'accepted', body: { state: { reported }, version: 2 } });
    expect(world.cloud.shadow('OTHER').version).toBe(0);
  });

  it.each([
    [400, '{'],
    [400, { reported: {} }],
    [400, { state: { reported: 1 } }],
    [400, { state: { reported: {} }, extra: 1 }],
    [400, { state: { other: {} } }],
    [400, { state: { reported: { a: { b: { c: { d: { e: { f: { g: { h: { i: 1 } } } } } } } } } } }],
    [409, { state: { reported: {} }, version: 5 }],
    [413, { state: { reported: { text: 'x'.repeat(8_200) } } }],
  ])('rejects with %i: %j', async (code, body) => {
    await using device = await listening();
    const answer = await device.ask('shadow/update', body);
    expect([answer.topic, answer.body.code]).toEqual(['rejected', code]);
    expect(world.cloud.shadow(device.serial).version).toBe(0);
  });

  it('publishes a delta when the cloud desires another value, and none when it is reported', async () => {
    await using device = await listening();
    await device.ask('shadow/update', { state: { reported: { a: 1, b: { c: 1 } } } });
    const desired = JSON.stringify({ state: { desired: { a: 1, b: { c: 2 } } } });
    await world.cloud.send(device.topic('shadow/update'), desired);
    expect(await device.next('shadow/update/delta')).toMatchObject({ state: { b: { c: 2 } }, version: 2 });
    await device.ask('shadow/update', { state: { reported: { b: { c: 2 } } } });
    expect(device.received.filter(({ topic }) => topic.endsWith('/delta'))).toHaveLength(1);
  });

  it('rejects the eleventh unacknowledged request with 429', async () => {
    await using device = await listening();
    world.sim.setFault('cloud-slow', true);
    for (let i = 0; i < 11; i += 1) {
      device.client.publish(device.topic('shadow/update'), JSON.stringify({ state: { reported: { i } } }), { qos: 1 });
    }
    expect(await world.clock.during(device.next('shadow/update/rejected'))).toMatchObject({ code: 429 });
    expect(world.cloud.shadow(device.serial)).toMatchObject({ reported: { i: 9 }, version: 10 });
    world.sim.setFault('cloud-slow', false);
  });
});
