import { describe, expect, it } from 'vitest';
import { createChassisLink } from '../../src/lib/chassis/index.ts';
import { type Clock, silentLog, systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer, type Endpoint } from '../../src/lib/net/index.ts';
import { createPacedClock } from '../lifecycle/paced-clock.ts';
import { ofEach } from '../lifecycle/shared.ts';
import {
  answeringPeer,
  fakeChassis as anyFakeChassis,
  closedPort,
  deviceInfo,
  type FakeChassis,
  httpAnswer,
  rawPeer,
  until as reallyUntil,
} from './peers.ts';

const time = createPacedClock();
/** In the clock of the link, which a busy machine does not shorten. */
const until = time.until;

const stack = ofEach();

const fakeChassis = async (port?: number) => stack.use(await anyFakeChassis(port));
const begun = { signal: new AbortController().signal, fail: () => {} };

async function linkTo(endpoint: Endpoint, clock: Clock = time) {
  const failures: unknown[] = [];
  const link = createChassisLink({ endpoint, expectedSerial: 'SN-1', dialer: directDialer, clock, log: silentLog });
  await link.start({ signal: new AbortController().signal, fail: (error) => failures.push(error) });
  stack.defer(async () => {
    await link.stop();
    expect(failures).toEqual([]);
  });
  return {
    link,
    snapshot: () => link.snapshot(),
    kind: () => {
      const state = link.snapshot().link;
      return state.kind === 'not-connected' ? state.failure : state.kind;
    },
  };
}

async function connected(clock?: Clock) {
  const chassis = await fakeChassis();
  const linked = await linkTo(chassis.endpoint, clock);
  await until('every topic', () =>
    Object.values(linked.snapshot().values).every(({ status }) => status === 'received'),
  );
  expect(linked.kind()).toBe('connected');
  return { chassis, linked };
}

describe('connected', () => {
  it('reports identity and every live value with mark, source, unit and age', async () => {
    const { chassis, linked } = await connected();
    const { identity, values, link, complaints } = linked.snapshot();
    expect(link).toMatchObject({ kind: 'connected', tried: { address: '127.0.0.1', port: chassis.endpoint.port } });
    expect(identity).toMatchObject({ serial: 'SN-1', software: '2.12.3', model: 'm1' });
    expect(complaints).toEqual([]);
    expect(values.pose).toMatchObject({
      status: 'received',
      stale: false,
      value: { xM: 1.5, yM: -2, yawDeg: 90 },
      mark: 'HINWEIS',
      parts: { yawDeg: { mark: 'BELEGT', unit: 'degrees' }, xM: { mark: 'HINWEIS', unit: 'm' } },
    });
    const charge = { percent: 50, status: 'discharging' };
    expect(values.battery).toMatchObject({ value: charge, unit: 'percent', stale: false });
    expect(values.wheels).toMatchObject({ value: { controlMode: 'auto', emergencyStopPressed: false } });
    expect(values.positioning).toMatchObject({ value: { state: 'positioning', reliable: true } });
    expect(values.alerts).toMatchObject({ value: [{ code: 8501, level: 'warning', message: 'battery low' }] });
    expect(values.map).toMatchObject({ value: { name: 'ground floor', uid: 'u1', mapVersion: 3, overlaysVersion: 4 } });
    expect(values.planning).toMatchObject({
      value: { actionId: 7, actionType: 'unknown', moveState: 'idle', failReason: 0, remainingDistanceM: null },
    });
    for (const value of Object.values(values)) {
      const source = expect.stringContaining('vendor');
      expect(value).toMatchObject({ mark: 'HINWEIS', source, ageMs: expect.any(Number) });
    }
  });

  it('enables topics one by one where the chassis does not announce the list form', async () => {
    const chassis = await fakeChassis();
    chassis.caps = { supportsWsV2: true, supportsEnableTopicList: false };
    const { kind } = await linkTo(chassis.endpoint);
    await until('connected', () => kind() === 'connected');
    await until('enabled', () => chassis.received.length > 0);
    expect(chassis.received[0]).toEqual({ enable_topic: expect.any(String) });
  });

  it('reports a pose stale after three seconds without a message, and a latched value never by age', async () => {
    const { chassis, linked } = await connected();
    const stale = () => {
      const { pose } = linked.snapshot().values;
      return pose.status === 'received' && pose.stale;
    };
    expect(stale()).toBe(false);
    await until('stale', stale, 4_500);
    expect(linked.snapshot().values.map).toMatchObject({ stale: false });
    chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: 1 });
    await until('fresh again', () => !stale());
  });

  it('notifies its listeners of changes until they leave, also when a listener throws', async () => {
    const { chassis, linked } = await connected();
    let notified = 0;
    using _bad = linked.link.subscribe(() => {
      throw new Error('listener');
    });
    const listening = linked.link.subscribe(() => {
      notified += 1;
    });
    chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: 1 });
    await until('a notification', () => notified > 0);
    listening[Symbol.dispose]();
    const before = notified;
    chassis.publish({ topic: '/tracked_pose', pos: [9, 0], ori: 1 });
    await until('the value', () => (linked.snapshot().values.pose as { value: { xM: number } }).value.xM === 9);
    expect(notified).toBe(before);
  });
});

describe('a follower of some parts', () => {
  const battery = { topic: '/battery_state', secs: 2, percentage: 0.5, power_supply_status: 'discharging' };

  /** How often each follower was notified, and the number of poses that have arrived. */
  async function followed(clock?: Clock) {
    const { chassis, linked } = await connected(clock);
    const { link } = linked;
    const counts = { any: 0, pose: 0, battery: 0, planning: 0, standing: 0, unit: 0 };
    for (const part of ['pose', 'battery', 'planning', 'standing', 'unit'] as const) {
      link.subscribe(() => {
        counts[part] += 1;
      }, [part]);
    }
    link.subscribe(() => {
      counts.any += 1;
    });
    let sent = 0;
    /** Everything before it has arrived with it. */
    const pose = async (ori = 90) => {
      sent += 1;
      const xM = 1.5 + sent / 1_000;
      chassis.publish({ topic: '/tracked_pose', pos: [xM, -2], ori });
      await until('the pose', () => linked.snapshot().poses.at(-1)?.xM === xM);
    };
    return { chassis, linked, counts, pose };
  }

  it('is called for these parts, and for a message that says something new', async () => {
    const { chassis, counts, pose } = await followed();
    chassis.publish(battery);
    await pose();
    expect(counts).toMatchObject({ pose: 1, battery: 0, planning: 0 });
    chassis.publish({ ...battery, percentage: 0.51 });
    await pose();
    expect(counts).toMatchObject({ pose: 2, battery: 1, planning: 0 });
    const planning = { topic: '/planning_state', action_id: 7, move_state: 'idle', fail_reason: 0, target_poses: [] };
    chassis.publish({ ...planning, stamp: 17 });
    await pose();
    expect(counts.planning).toBe(0);
    chassis.publish({ ...planning, move_state: 'moving' });
    await pose();
    expect(counts).toMatchObject({ pose: 4, battery: 1, planning: 1 });
    expect(counts.any).toBeGreaterThanOrEqual(6);
  });

  it('is called when a value is current again, though it is the same', async () => {
    const { chassis, linked, counts, pose } = await followed();
    chassis.publish({ ...battery, percentage: 'half' });
    await until('it is rejected', () => 'rejected' in linked.snapshot().values.battery);
    expect(counts.battery).toBe(1);
    chassis.publish(battery);
    await pose();
    expect(counts.battery).toBe(2);
  });

  it('is called with a change of the link, whatever its parts are', async () => {
    const { chassis, linked, counts } = await followed();
    for (const stream of chassis.streams) stream.terminate();
    await until('the link is lost', () => linked.kind() !== 'connected');
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  });

  it('is called when the poses show otherwise whether the robot stands, or in which unit its heading is', async () => {
    const { linked, counts, pose } = await followed();
    expect(linked.snapshot().standing.verdict).toBe('not-known');
    for (let count = 0; count < 60 && linked.snapshot().standing.verdict !== 'stands'; count += 1) {
      await time.sleep(100);
      await pose();
    }
    expect([linked.snapshot().standing.verdict, counts.standing]).toEqual(['stands', 1]);
    for (let turned = 0; turned <= 300; turned += 30) {
      await time.sleep(100);
      await pose(90 - turned);
    }
    expect(linked.snapshot().poseUnit.verdict).toBe('degrees');
    expect(counts.unit).toBeGreaterThan(0);
    // By the way it turned.
    expect(counts.standing).toBeGreaterThan(1);
  });
});

describe('a chassis with many complaints', () => {
  it('is reported in batches, but at once where a value became unreliable', async () => {
    const { chassis, linked } = await connected();
    let notified = 0;
    let firstRejected = 0;
    using _listening = linked.link.subscribe(() => {
      notified += 1;
      const { pose } = linked.snapshot().values;
      if (firstRejected === 0 && pose.status === 'received' && pose.rejected !== undefined) firstRejected = notified;
    });
    for (let i = 0; i < 2_000; i += 1) chassis.publish('{"topic":"/tracked_pose","pos":[1],"ori":"90"}');
    await until('all complaints', () => linked.snapshot().complaints.some(({ count }) => count === 2_000));
    expect(firstRejected).toBeGreaterThan(0);
    expect(notified).toBeLessThan(100);
  });

  it('reports an unreliable value without the delay of batched complaints', async () => {
    // Complaints batched for a tenth of a second are never reported here.
    const clock: Clock = { ...time, after: (ms, call) => time.after(ms === 100 ? 3_600_000 : ms, call) };
    const chassis = await fakeChassis();
    const linked = await linkTo(chassis.endpoint, clock);
    const reasonOf = () => {
      const { pose } = linked.snapshot().values;
      return pose.status === 'received' ? pose.staleReason : 'not-received';
    };
    await until('a pose', () => reasonOf() === undefined);
    const notified: unknown[] = [];
    using _subscription = linked.link.subscribe(() => notified.push(reasonOf()));
    chassis.publish({ topic: '/tracked_pose', pos: [1, 2], ori: 'north' });
    await until('the pose is rejected', () => reasonOf() === 'newer-rejected');
    expect(notified).toContain('newer-rejected');
  });

  it('is marked late, and no faulty one, for an answer that does not come while its topics do', async () => {
    const { chassis, linked } = await connected();
    chassis.intercept = (request) => request.url === '/device/info';
    await until('the complaint', () => linked.snapshot().complaints.length > 0, 5_000);
    expect(linked.snapshot().complaints).toMatchObject([
      {
        what: expect.stringMatching(/^GET \/device\/info failed while the topic stream was connected: /),
        isLate: true,
      },
    ]);
    chassis.publish('{');
    await until('the malformed message', () => linked.snapshot().complaints.some(({ isLate }) => !isLate));
    expect(linked.kind()).toBe('connected');
  });

  it('is not marked late for a connection that is cut before its answer', async () => {
    const { chassis, linked } = await connected();
    chassis.intercept = (request) => {
      if (request.url !== '/device/info') return false;
      request.socket.destroy();
      return true;
    };
    await until('the complaint', () => linked.snapshot().complaints.length > 0, 5_000);
    expect(linked.snapshot().complaints).toMatchObject([{ isLate: false }]);
    expect(linked.kind()).toBe('connected');
  });

  it('keeps repeated complaints among many single ones', async () => {
    const { chassis, linked } = await connected();
    for (let i = 0; i < 3; i += 1) chassis.publish('{');
    for (let i = 0; i < 100; i += 1) chassis.publish(`{"topic":"/unasked-${i}"}`);
    await until('the last complaint', () => linked.snapshot().complaints.at(-1)?.what.includes('/unasked-99') === true);
    const { complaints } = linked.snapshot();
    expect([complaints.length, complaints.find(({ count }) => count === 3)?.what]).toEqual([
      32,
      'malformed message: the JSON is cut off in the middle',
    ]);
  });

  it('is disconnected and named for flooding the topic stream, also after it reconnects', {
    tags: 'large',
  }, async () => {
    // A flood depends on the speed of this machine, so this time is real.
    const { chassis, linked } = await connected(systemClock);
    {
      using _flood = systemClock.every(1, () => {
        const isRead = [...chassis.streams].every(({ bufferedAmount }) => bufferedAmount < 100_000);
        for (let i = 0; isRead && i < 500; i += 1) chassis.publish('x'.repeat(100));
      });
      await reallyUntil(() => /topic stream flooded: \d+/.test(linked.link.describe?.() ?? ''));
    }
    expect(linked.kind()).toBe('bad-answer');
    await reallyUntil(() => linked.kind() === 'connected');
    expect(linked.link.describe?.()).toContain('; the chassis flooded the topic stream within the last minute');
  });
});

describe('not connected', () => {
  it('is a state with the address, and never an error of the service', async () => {
    const endpoint = await closedPort();
    const linked = await linkTo(endpoint);
    await until('refused', () => linked.kind() === 'refused', 2_000);
    const { link, values, identity } = linked.snapshot();
    expect(link).toMatchObject({
      kind: 'not-connected',
      detail: 'the address answers, but nothing listens on this port',
      tried: { address: '127.0.0.1', port: endpoint.port },
    });
    expect(identity).toBeNull();
    expect(values.pose).toEqual({ status: 'not-received' });
    expect(linked.link.describe?.()).toContain(`not connected: tried 127.0.0.1:${endpoint.port}`);
  });

  it('is reported within two seconds without an answer', async () => {
    const silent = stack.use(await rawPeer(() => {}));
    const linked = await linkTo(silent.endpoint);
    expect(await until('no answer', () => linked.kind() === 'no-answer')).toBeLessThan(2_000);
  });

  it('is reported within two seconds when the chassis goes silent, and the values are stale', async () => {
    const { chassis, linked } = await connected();
    for (const socket of chassis.sockets) socket.pause();
    expect(await until('silent', () => linked.kind() === 'silent')).toBeLessThan(2_000);
    expect(linked.snapshot().values.map).toMatchObject({ status: 'received', stale: true });
  });

  it('is reported at once when the connection is cut, recovers by itself, and enables the topics again', async () => {
    const { chassis, linked } = await connected();
    const { port } = chassis.endpoint;
    await chassis[Symbol.asyncDispose]();
    await until('not connected', () => linked.snapshot().link.kind === 'not-connected', 1_000);
    await time.sleep(600);
    const again = await fakeChassis(port);
    expect(await until('connected', () => linked.kind() === 'connected')).toBeLessThan(3_000);
    await until('enabled', () => again.received.length > 0);
    await until('fresh', () => linked.snapshot().values.pose.status === 'received');
    await until('fresh', () => (linked.snapshot().values.map as { stale: boolean }).stale === false);
  });

  it('is reported for a foreign device, with its answer', async () => {
    const page = stack.use(await answeringPeer(httpAnswer('<html>')));
    const linked = await linkTo(page.endpoint);
    await until('bad answer', () => linked.kind() === 'bad-answer');
    expect(linked.snapshot().link).toMatchObject({ detail: 'answered with HTML instead of JSON' });
  });

  it('is reported for a WebSocket protocol error or malformed device information', async () => {
    const { chassis, linked } = await connected();
    chassis.intercept = (_, response) => {
      response.end('{"device":{"sn":');
      return true;
    };
    await until('bad answer', () => linked.kind() === 'bad-answer');
    chassis.intercept = () => false;
    await until('connected', () => linked.kind() === 'connected');
  });
});

describe('another chassis at the address', () => {
  it('is rejected with its serial, none of its topics is subscribed, and it is checked again', async () => {
    const chassis = await fakeChassis();
    chassis.serial = 'SN-2';
    const linked = await linkTo(chassis.endpoint);
    await until('wrong device', () => linked.kind() === 'wrong-device');
    expect(linked.snapshot().link).toMatchObject({ foundSerial: 'SN-2', detail: expect.stringContaining('"SN-2"') });
    expect(linked.snapshot().identity).toBeNull();
    await until('identity requested again', () => chassis.requests.length >= 3);
    expect(chassis.received).toEqual([]);
    expect(chassis.streams.size).toBe(0);
    chassis.serial = 'SN-1';
    await until('connected', () => linked.kind() === 'connected');
  });

  it('is detected although the topic stream stays open', async () => {
    const { chassis, linked } = await connected();
    chassis.serial = 'SN-2';
    await until('wrong device', () => linked.kind() === 'wrong-device');
    await until('the stream is closed', () => chassis.streams.size === 0);
    expect(linked.snapshot().identity?.serial).toBe('SN-1');
  });
});

describe('the start phase of the chassis', () => {
  it('is a state of its own, with progress, until it is over', async () => {
    const chassis = await fakeChassis();
    chassis.booting = 0.3;
    const linked = await linkTo(chassis.endpoint);
    await until('booting', () => linked.kind() === 'booting');
    expect(linked.snapshot().link).toMatchObject({ kind: 'booting', progress: 0.3, step: 'lidar' });
    chassis.booting = 0.8;
    await until('progress', () => (linked.snapshot().link as { progress?: number }).progress === 0.8);
    chassis.booting = null;
    await until('connected', () => linked.kind() === 'connected');
  });
});

describe('the unit of the pose', () => {
  /** A robot that turns by a quarter of a radian every 20 ms, from one heading to another, in radians. */
  async function turn(chassis: FakeChassis, from: number, to: number, shown: (heading: number) => number) {
    for (let heading = from; heading <= to; heading += 0.25) {
      chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: shown(heading) });
      await time.sleep(20);
    }
  }
  const inDegrees = (heading: number) => ((heading * 180) / Math.PI + 540) % 360;
  const inRadians = (heading: number) => heading % (2 * Math.PI);

  it('is undecided after one value; detected radians are remembered until gw restarts', async () => {
    const { chassis, linked } = await connected();
    expect(linked.snapshot().poseUnit).toMatchObject({ verdict: 'not-decided', largest: 90, doubt: null });
    await turn(chassis, 0, 7, inDegrees);
    await until('degrees', () => linked.snapshot().poseUnit.verdict === 'degrees');
    expect(linked.snapshot().unitContradicted).toBe(false);
    await turn(chassis, 3, 22, inRadians);
    await until('contradicted', () => linked.snapshot().unitContradicted);
    expect(linked.snapshot()).toMatchObject({
      poseUnit: { verdict: 'radians', doubt: null },
      // A number without a known unit.
      values: { pose: { mark: 'OFFEN', parts: { xM: { mark: 'HINWEIS' }, yawDeg: { mark: 'OFFEN' } } } },
    });
    await linked.link.stop();
    await linked.link.start(begun);
    await until('connected', () => linked.kind() === 'connected');
    await turn(chassis, 0, 7, inDegrees);
    expect(linked.snapshot()).toMatchObject({ unitContradicted: true, poseUnit: { verdict: 'radians' } });
  });

  it('in doubt removes the mark of the heading, and restores it when degrees are proven', async () => {
    const { chassis, linked } = await connected();
    const heading = () => (linked.snapshot().values.pose as { parts?: { yawDeg?: object } }).parts?.yawDeg;
    expect(heading()).toMatchObject({ mark: 'BELEGT', unit: 'degrees' });
    await turn(chassis, 3, 9.3, inRadians);
    await until('a doubt', () => linked.snapshot().poseUnit.doubt !== null);
    const { doubt, reason, verdict } = linked.snapshot().poseUnit;
    expect({ reason, verdict }).toEqual({ reason: doubt, verdict: 'not-decided' });
    expect(doubt).toContain('passed the seam between 2π and 0');
    expect(heading()).toMatchObject({
      mark: 'VORSICHT',
      source: expect.stringContaining(`(angles.tracked-pose-ori), in doubt on this chassis: ${doubt}`),
    });
    expect(linked.snapshot().values.pose).toMatchObject({ mark: 'VORSICHT' });
    expect(linked.link.describe?.()).toContain('the unit of /tracked_pose is in doubt');
    await turn(chassis, 0, 7, inDegrees);
    await until('no doubt', () => linked.snapshot().poseUnit.doubt === null);
    expect(linked.snapshot().poseUnit.verdict).toBe('degrees');
    expect(heading()).toMatchObject({ mark: 'BELEGT' });
  });

  it('proven for one software version does not count for another', async () => {
    const { chassis, linked } = await connected();
    await turn(chassis, 0, 7, inDegrees);
    await until('degrees', () => linked.snapshot().poseUnit.verdict === 'degrees');
    chassis.intercept = (request, response) => {
      if (request.url !== '/device/info') return false;
      const body = JSON.stringify(deviceInfo('SN-1', { axbot_version: '2.13.0' }));
      response.setHeader('content-type', 'application/json');
      response.end(body);
      return true;
    };
    await until('the new software', () => linked.snapshot().identity?.software === '2.13.0', 5_000);
    expect(linked.snapshot().poseUnit.verdict).toBe('not-decided');
  });
});

describe('stopping', () => {
  it('takes less than a second in every state and leaves no connection', async () => {
    const chassis = await fakeChassis();
    const silent = stack.use(await rawPeer(() => {}));
    const closed = await closedPort();
    for (const endpoint of [chassis.endpoint, silent.endpoint, closed]) {
      const { link } = await linkTo(endpoint);
      await time.sleep(300);
      const beganMs = time.monotonicMs();
      await link.stop();
      expect(time.monotonicMs() - beganMs).toBeLessThan(1_000);
      await link.stop();
    }
    await until('no connections', () => chassis.sockets.size === 0 && silent.sockets.size === 0, 1_000);
  });

  it('works without a start, and a later start works', async () => {
    const chassis = await fakeChassis();
    const linked = await linkTo(chassis.endpoint);
    await linked.link.stop();
    expect(linked.snapshot().link.kind).toBe('not-connected');
    await linked.link.start(begun);
    await until('connected', () => linked.kind() === 'connected');
  });
});
