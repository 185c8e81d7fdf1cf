import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProcess } from '../process.ts';
import { type CloudSim, certificateOf, SERIAL, startCloudSim } from '../sim/cloud/device.ts';
import { hasProgram } from './peer.ts';

// The simulated broker and storage with the clients of mosquitto and with curl.

const env = { PATH: process.env.PATH ?? '' };

/** Arguments of both clients of mosquitto for this device. */
async function login({ dir, cloud }: CloudSim): Promise<string[]> {
  const { key, cert } = await certificateOf(dir);
  writeFileSync(join(dir, 'key.pem'), String(key), { mode: 0o600 });
  writeFileSync(join(dir, 'cert.pem'), String(cert));
  const { host, port } = cloud.places.mqtt;
  const files = ['--cafile', join(dir, 'enrolment-ca.pem'), '--cert', join(dir, 'cert.pem')];
  return ['-h', host, '-p', String(port), ...files, '--key', join(dir, 'key.pem'), '-i', SERIAL, '-q', '1'];
}

describe.skipIf(!hasProgram('mosquitto_sub') || !hasProgram('curl'))('mosquitto clients and curl', () => {
  it('receive a stop and a job in a kept session, and download its package', async () => {
    await using world = await startCloudSim();
    const options = await login(world);
    const topics = ['-t', `gw/${SERIAL}/stop`, '-t', `gw/${SERIAL}/jobs/#`];
    // -E ends after the subscription: the session stays.
    const subscribed = await runProcess('mosquitto_sub', [...options, ...topics, '-c', '-E'], { env, input: '' });
    expect([subscribed.code, subscribed.stderr]).toEqual([0, '']);
    await world.cloud.stop({ id: 'a' });
    await world.cloud.restart();
    const file = join(world.dir, 'site.yaml');
    await world.cloud.release({ file, version: '2.0.0' });
    const words = [...options, ...topics, '-c', '-C', '2', '-W', '20'];
    const { stdout } = await runProcess('mosquitto_sub', words, { env, input: '' });
    const [stop = '', job = ''] = stdout.split('\n');
    expect(JSON.parse(stop)).toEqual({ id: 'a' });
    const { url, bytes } = JSON.parse(job).execution.jobDocument.package;
    const curl = async (range: string, target: string) => {
      const arguments_ = ['-s', '--cacert', join(world.dir, 'enrolment-ca.pem'), '-r', range, '-w', '\n%{http_code}'];
      return (await runProcess('curl', [...arguments_, target], { env, input: '' })).stdout.split('\n');
    };
    expect(await curl('0-20', url)).toEqual(['# Written by gw sim f', '206']);
    expect((await curl(`${bytes}-`, url)).at(-1)).toBe('416');
    expect((await curl('0-20', url.replace('Signature=', 'Signature=0'))).at(-1)).toBe('403');
  });

  it('publish on a topic of their own, and lose the connection on another', async () => {
    await using world = await startCloudSim();
    const options = await login(world);
    const publish = (topic: string) =>
      runProcess('mosquitto_pub', [...options, '-t', topic, '-m', '{"a":1}'], { env, input: '' });
    expect((await publish(`gw/${SERIAL}/telemetry`)).code).toBe(0);
    expect((await publish('gw/SN0007/telemetry')).code).not.toBe(0);
    expect(world.cloud.received().map(({ topic }) => topic)).toEqual([`gw/${SERIAL}/telemetry`]);
  });
});
