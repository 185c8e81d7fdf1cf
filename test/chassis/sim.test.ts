import { expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { createChassisClient } from '../../src/lib/chassis/index.ts';
import { movesOf } from '../../src/lib/chassis/moves.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { startSim } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { until as waitUntil } from '../waiting.ts';

it('a degree-valued charge order would end with 103, and gw never sends one', async () => {
  const clock = createPacedClock();
  await using sim = await startSim({ clock });
  const { serial: expectedSerial } = sim.chassis;
  await using client = createChassisClient({ endpoint: sim.chassis, dialer: directDialer, expectedSerial, clock });
  const moves = movesOf(client);
  const { moveId } = await moves.move({ type: 'charge', xM: 1, yM: 1, yawDeg: degrees(180) });
  await clock.until('a verdict or a move', () => sim.state().moving, 2_000).catch(() => 0);
  expect((await moves.readMove(moveId)).failReason).not.toBe(103);
  // The same number unconverted, written by hand, as the specification measured it.
  const response = await fetch(`http://${sim.chassis.host}:${sim.chassis.port}/chassis/moves`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ creator: 'test', type: 'charge', target_x: 1, target_y: 1, target_ori: 180 }),
  });
  const { id } = (await response.json()) as { id: number };
  await waitUntil(
    async () => (await moves.readMove(id)).failReason,
    (failReason) => failReason === 103,
  );
});
