import { afterEach, beforeEach, expect, test } from 'vitest';
import { startDestination } from './second-opinion/destination.ts';
import { startSource } from './second-opinion/source.ts';
import { createWorld, echo, sameBack, seeded, tokens, type World } from './second-opinion/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world.close());

test('itself: two services, concurrent connections, 2 MB both ways, cut anew', async () => {
  const random = seeded(7);
  const relay = await world.relay({ services: ['web', 'api'], chunkMax: 5_000, random });
  const { port } = await world.service(echo);
  const common = { host: 'localhost', port: relay.port, ca: world.caPem };
  const destination = await startDestination({
    ...common,
    token: tokens.destination,
    targets: { web: port, api: port },
  });
  const source = await startSource({ ...common, token: tokens.source, services: ['web', 'api'] });
  world.onClose(() => source.close());
  world.onClose(() => destination.close());
  const results = await Promise.all(
    [source.ports.web, source.ports.api, source.ports.web, source.ports.web].map((at) =>
      sameBack(at as number, 2_000_000),
    ),
  );
  expect(results).toEqual([true, true, true, true]);
  expect(relay.breaches).toEqual([]);
});
