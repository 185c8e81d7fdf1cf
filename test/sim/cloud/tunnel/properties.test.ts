import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../properties.ts';
import { until } from '../../raw-client.ts';
import { clientToken, connectSide, frames, startTunnel } from './client.ts';

describe('any bytes of a client', () => {
  it('end at most its own connection; the other side and other tunnels stay usable', { tags: 'property' }, async () => {
    await using world = await startTunnel();
    const other = await world.service.open({ services: ['SSH'], lifetimeMs: 60_000 });
    const bystander = await connectSide(world.service, 'destination', { token: other.destinationToken });
    const destination = await world.connect('destination', { clientToken });
    const newSource = async () => {
      const { sourceToken } = await world.service.rotate(world.tunnelId, 'source');
      return connectSide(world.service, 'source', { token: sourceToken ?? '' });
    };
    for (const [i, bytes] of fc.sample(fc.uint8Array({ minLength: 1, maxLength: 200 }), runs(30)).entries()) {
      const source = await newSource();
      // Half of them behind a valid start, half with a length that fits.
      if (i % 2 === 0) source.send(frames.startSsh);
      source.send(i % 4 < 2 ? bytes : Buffer.concat([Buffer.from([0, bytes.length]), bytes]));
      source.ws.ping('answered');
      await until(() => source.closed() !== null || source.pongs.includes('answered'));
      source.ws.terminate();
    }
    expect([destination.closed(), bystander.closed()]).toEqual([null, null]);
    expect(world.violations.length).toBeGreaterThan(0);
    const source = await newSource();
    const before = destination.bytes().length;
    source.send(frames.startSsh + frames.dataHello);
    await until(() => destination.bytes().subarray(before).toString('hex').endsWith(frames.dataHello));
  });
});
