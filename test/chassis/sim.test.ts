import { describe, expect, it } from 'vitest';
import { degrees } from '../../src/lib/angle/index.ts';
import { createChassisClient, createChassisLink } from '../../src/lib/chassis/index.ts';
import { movesOf } from '../../src/lib/chassis/moves.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { type FaultName, type Sim, type SimOptions, startSim as startRobot } from '../../src/lib/sim/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { until as waitUntil } from '../waiting.ts';
import { failureOf } from './peers.ts';

/** The clock of every robot here, and of its clients. */
const clock = createPacedClock();
const { until } = clock;
const startSim = (options: SimOptions = {}) => startRobot({ clock, ...options });

const clientOf = (sim: Sim) =>
  createChassisClient({ endpoint: sim.chassis, dialer: directDialer, expectedSerial: sim.chassis.serial, clock });

async function linkTo(sim: Sim) {
  const link = createChassisLink({
    endpoint: sim.chassis,
    expectedSerial: sim.chassis.serial,
    dialer: directDialer,
    clock,
    log: silentLog,
  });
  const failures: unknown[] = [];
  await link.start({ signal: new AbortController().signal, fail: (error) => failures.push(error) });
  const kind = () => {
    const state = link.snapshot().link;
    return state.kind === 'not-connected' ? state.failure : state.kind;
  };
  await until('connected', () => kind() === 'connected');
  return {
    link,
    kind,
    async [Symbol.asyncDispose]() {
      await link.stop();
      expect(failures).toEqual([]);
    },
  };
}

const everyValue = ({ link }: Awaited<ReturnType<typeof linkTo>>) =>
  until('every value', () => Object.values(link.snapshot().values).every(({ status }) => status === 'received'));

describe('the simulated chassis', () => {
  it('is connected without the list form where it does not announce it', async () => {
    await using sim = await startSim({ capabilities: { supportsEnableTopicList: false } });
    await using linked = await linkTo(sim);
    await everyValue(linked);
    expect(linked.link.snapshot().complaints).toEqual([]);
  });
});

describe.concurrent('each fault of the simulated chassis', () => {
  /** The error of the client, and the state of the link while the fault lasts. */
  const faults: readonly [FaultName, string, readonly string[], string][] = [
    ['cut', 'CHASSIS_NOT_CONNECTED', ['cut', 'refused'], 'not connected'],
    ['silent', 'CHASSIS_NOT_CONNECTED', ['silent', 'no-answer'], 'not connected: no answer'],
    ['slow', 'CHASSIS_NOT_CONNECTED', ['connected', 'no-answer', 'silent'], 'no answer'],
    ['booting', 'CHASSIS_BOOTING', ['booting', 'cut'], 'The chassis is starting'],
    ['wrong-serial', 'CHASSIS_WRONG_DEVICE', ['wrong-device'], 'Another chassis answers'],
    ['no-serial', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'device.sn: expected string, received undefined'],
    ['html', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'answered with HTML instead of JSON'],
    ['truncated', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'the JSON is cut off in the middle'],
    ['wrong-types', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'unexpected response shape'],
    ['nan', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'which is no JSON number'],
    ['duplicate-keys', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'twice'],
    ['huge', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'response larger than 1 MiB'],
    ['endless', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'response'],
    ['redirect', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'refused'],
    ['server-error', 'CHASSIS_BAD_ANSWER', ['bad-answer'], 'status 500 for GET /device/info'],
  ];

  it.each(faults)('is reported, and the client recovers from it: %s', async (name, code, kinds, words) => {
    await using sim = await startSim();
    await using linked = await linkTo(sim);
    await using client = clientOf(sim);
    sim.setFault(name, true);
    await sim.settled();
    const error = await failureOf(client.identity());
    expect(error).toBeInstanceOf(GwError);
    const tried = { address: '127.0.0.1', port: sim.chassis.port };
    expect(error).toMatchObject({ code, message: expect.stringContaining(words), tried });
    await until(`the link to be ${kinds.join(' or ')}`, () => kinds.includes(linked.kind()), 8_000);
    sim.setFault(name, false);
    await sim.settled();
    await until('connected again', () => linked.kind() === 'connected', 10_000);
  });

  it('a degree-valued charge order would end with 103, and gw never sends one', async () => {
    await using sim = await startSim();
    await using client = clientOf(sim);
    const moves = movesOf(client);
    const { moveId } = await moves.move({ type: 'charge', xM: 1, yM: 1, yawDeg: degrees(180) });
    await until('a verdict or a move', () => sim.state().moving, 2_000).catch(() => 0);
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
});
