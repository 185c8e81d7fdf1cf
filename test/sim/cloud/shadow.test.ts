import { describe, expect, it } from 'vitest';
import { type CloudSim, type Device, startCloudSim } from './device.ts';

const start = 'gw/SIM-0001/shadow';

async function listening(world: CloudSim): Promise<Device> {
  const device = await world.connect();
  await device.client.subscribeAsync(`${start}/#`, { qos: 1 });
  return device;
}

describe('the shadow', () => {
  it('merges what is reported, deletes with null, and answers with the changed fields and a version', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    const first = await device.ask(`${start}/update`, {
      state: { reported: { a: 1, b: { c: 2, d: 3 } } },
      clientToken: 't',
    });
    expect(first).toMatchObject({
      topic: 'accepted',
      body: { state: { reported: { a: 1, b: { c: 2, d: 3 } } }, version: 1, clientToken: 't' },
    });
    const second = await device.ask(`${start}/update`, { state: { reported: { b: { c: null } } }, version: 1 });
    expect(second.body).toMatchObject({ state: { reported: { b: { c: null } } }, version: 2 });
    expect(world.cloud.shadow()).toEqual({ reported: { a: 1, b: { d: 3 } }, desired: {}, version: 2 });
    expect(world.cloud.shadow('SN0007').version).toBe(0);
  });

  it('is returned by get, and 404 without one', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    expect(await device.ask(`${start}/get`, '')).toMatchObject({ topic: 'rejected', body: { code: 404 } });
    await device.ask(`${start}/update`, { state: { reported: { a: 1 } } });
    expect(await device.ask(`${start}/get`, '')).toMatchObject({
      topic: 'accepted',
      body: { state: { reported: { a: 1 } }, version: 1 },
    });
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
  ])('rejects with %i', async (code, body) => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    const answer = await device.ask(`${start}/update`, body);
    expect([answer.topic, answer.body.code]).toEqual(['rejected', code]);
    expect(world.cloud.shadow().version).toBe(0);
  });

  it('rejects the eleventh unacknowledged request with 429', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    world.sim.setFault('cloud-slow', true);
    for (let i = 0; i < 11; i += 1) {
      device.client.publish(`${start}/update`, JSON.stringify({ state: { reported: { i } } }), { qos: 1 });
    }
    expect(await device.next(`${start}/update/rejected`)).toMatchObject({ code: 429 });
    expect(world.cloud.shadow()).toMatchObject({ reported: { i: 9 }, version: 10 });
  });

  it('publishes a delta when the cloud desires another value, and none when it is reported', async () => {
    await using world = await startCloudSim();
    await using device = await listening(world);
    await device.ask(`${start}/update`, { state: { reported: { a: 1, b: { c: 1 } } } });
    await world.cloud.send(`${start}/update`, JSON.stringify({ state: { desired: { a: 1, b: { c: 2 } } } }));
    expect(await device.next(`${start}/update/delta`)).toMatchObject({ state: { b: { c: 2 } }, version: 2 });
    await device.ask(`${start}/update`, { state: { reported: { b: { c: 2 } } } });
    const deltas = device.received.filter(({ topic }) => topic.endsWith('/delta'));
    expect(deltas).toHaveLength(1);
    expect(JSON.parse(deltas[0]?.text ?? '').state).toEqual({ b: { c: 2 } });
  });
});
