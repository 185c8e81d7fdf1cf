import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { renderChassisProbe } from '../../../src/cli/render/chassis.ts';
import type { GwError } from '../../../src/lib/error/index.ts';
import { markText } from '../../../src/lib/evidence/index.ts';
import type { Endpoint } from '../../../src/lib/net/index.ts';
import { type FaultName, startSim } from '../../../src/lib/sim/index.ts';
import { chassisProbeSchema } from '../../../src/lib/toolkit/chassis/chassis.result.ts';
import { probeChassis, readChassisTime } from '../../../src/lib/toolkit/chassis/probe.ts';
import { closedPort, deviceInfo, type FakeChassis, fakeChassis } from '../../chassis/peers.ts';
import { createPacedClock } from '../../lifecycle/paced-clock.ts';
import { has, toolkitOf } from '../kit.ts';

/** The clock of every robot here and of its probe. */
const time = createPacedClock();
const { until } = time;

async function probe(endpoint: Endpoint, seconds: number, serial = 'SN-1') {
  const progress: string[] = [];
  const context = { signal: new AbortController().signal, onProgress: (text: string) => progress.push(text) };
  const result = await probeChassis(toolkitOf({ ...endpoint, serial }, { clock: time }), { seconds }, context);
  expect(result).toEqual(chassisProbeSchema.parse(result));
  const finding = (id: string) => result.findings.find((one) => one.id === id);
  return { result, progress, finding };
}

/** Messages of these topics on enabling, in place of their last ones. */
function latch(chassis: FakeChassis, instead: Readonly<Record<string, object | undefined>>): void {
  const before = chassis.latched;
  chassis.latched = (topic) => (Object.hasOwn(instead, topic) ? instead[topic] : before(topic));
}

/** The reported heading of a turning robot, given in unwrapped radians. */
const shown = {
  degrees: (heading: number) => (wrapped(heading) * 180) / Math.PI,
  'radians ±π': wrapped,
  'radians 0 to 2π': (heading: number) => heading % (2 * Math.PI),
  'radians unwrapped': (heading: number) => heading + 14 * Math.PI,
} as const;

function wrapped(heading: number): number {
  return ((heading + Math.PI) % (2 * Math.PI)) - Math.PI;
}

/**
 * Publishes poses of a robot that turns at 100 degrees a second, 10 per second, or eight times as fast and as often.
 */
function turning(chassis: FakeChassis, encoding: keyof typeof shown, times: 1 | 8 = 8): Disposable {
  let heading = 0;
  return time.every(100 / times, () => {
    heading += 0.1745;
    chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: shown[encoding](heading) });
  });
}

describe.concurrent('a probe', () => {
  it('reports identity, latency, clock, topics and the unit of the pose, each value with mark and source', async () => {
    await using chassis = await fakeChassis();
    using _turning = turning(chassis, 'degrees');
    const { result, finding } = await probe(chassis.endpoint, 5);
    expect(result).toMatchObject({
      // The chassis of this test has a warning active.
      verdict: 'wrong',
      address: { host: '127.0.0.1', way: 'direct' },
      identity: {
        serial: { value: 'SN-1', mark: 'HINWEIS' },
        software: { value: '2.12.3', mark: 'HINWEIS' },
        capabilities: { value: ['supportsEnableTopicList', 'supportsWsV2'] },
      },
      latency: { requests: 7, median: { mark: 'BELEGT', unit: 'ms' } },
      clock: { text: { value: '2026/01/31 12:00:00', mark: 'HINWEIS' }, differenceIfUtc: { mark: 'OFFEN', unit: 's' } },
      poseUnit: { verdict: 'degrees' },
      complaints: [],
    });
    expect(result.listenedMs).toBeGreaterThanOrEqual(1_900);
    const pose = result.topics.find(({ topic }) => topic === '/tracked_pose');
    expect(pose).toMatchObject({ acknowledged: 'yes', rate: { unit: 'Hz' }, age: { unit: 'ms' } });
    expect(pose?.rate?.value).toBeGreaterThan(10);
    expect(result.topics.find(({ topic }) => topic === '/map/info')).toMatchObject({
      messages: 1,
      rate: null,
      rateReason: has('0 of 3 intervals'),
    });
    expect(finding('clock')).toMatchObject({ verdict: 'not-checked' });
    expect(finding('pose-unit')).toMatchObject({ verdict: 'ok', spec: 'Angles (critical rule)' });
    expect(finding('topics')?.verdict).toBe('ok');
  });

  it('marks what it measured as measured here, and on a simulator as that', async () => {
    await using chassis = await fakeChassis();
    using _turning = turning(chassis, 'degrees');
    const basesOf = ({ result }: Awaited<ReturnType<typeof probe>>) => {
      const pose = result.topics.find(({ topic }) => topic === '/tracked_pose');
      const values = [result.latency.median, result.latency.longest, pose?.rate, pose?.age];
      return new Set(values.map((value) => value && markText(value)));
    };
    expect(basesOf(await probe(chassis.endpoint, 5))).toEqual(new Set(['BELEGT measured here']));
    await using sim = await fakeChassis();
    // What a simulator says of itself, and nothing else of one.
    sim.intercept = ({ url }, response) => {
      if (url !== '/device/info') return false;
      const info = deviceInfo(sim.serial, { caps: sim.caps });
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ...info, device: { sn: sim.serial, model: 'simulated' } }));
      return true;
    };
    using _alsoTurning = turning(sim, 'degrees');
    const onSimulator = await probe(sim.endpoint, 5);
    expect(basesOf(onSimulator)).toEqual(new Set(['BELEGT on a simulator']));
    expect(onSimulator.result.latency.median.source).not.toContain('here');
  });

  it('is wrong, and alerts, when the pose is in radians', async () => {
    await using chassis = await fakeChassis();
    using _turning = turning(chassis, 'radians ±π');
    const { result, finding } = await probe(chassis.endpoint, 8);
    expect(result).toMatchObject({ verdict: 'wrong', poseUnit: { verdict: 'radians' } });
    expect(finding('pose-unit')).toMatchObject({ verdict: 'wrong', detail: has('THE UNIT IS RADIANS') });
  });

  it.each(['radians ±π', 'radians 0 to 2π', 'radians unwrapped'] as const)(
    'is never green when a robot turns at 100 degrees a second and reports %s',
    async (encoding) => {
      await using chassis = await fakeChassis();
      using _turning = turning(chassis, encoding, 1);
      const { result, finding } = await probe(chassis.endpoint, 8);
      expect(result.verdict).toBe('wrong');
      const { verdict, doubt } = result.poseUnit;
      // On a machine so busy that samples are late a proof may remain a doubt, which is not green either.
      expect(encoding === 'radians unwrapped' ? ['not-decided'] : ['radians', 'not-decided']).toContain(verdict);
      if (encoding === 'radians unwrapped') expect(doubt).toContain('the heading changed steadily by');
      expect(verdict === 'radians' || doubt !== null).toBe(true);
      expect(finding('pose-unit')).toMatchObject({
        verdict: 'wrong',
        detail: has(/^THE UNIT IS RADIANS|^IN DOUBT, THE UNIT MAY BE RADIANS/),
        remedy: has('Do not drive this robot with gw'),
      });
    },
  );

  it('continues while the unit is undecided, states what to do, and is not green', async () => {
    await using chassis = await fakeChassis();
    chassis.unknownTopics = ['/tracked_pose'];
    const still = time.every(50, () => chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: 0.5 }));
    try {
      const { result, progress, finding } = await probe(chassis.endpoint, 3);
      expect(result.listenedMs).toBeGreaterThanOrEqual(2_900);
      expect(result.poseUnit.verdict).toBe('not-decided');
      expect(finding('pose-unit')?.verdict).toBe('not-checked');
      expect(progress.some((text) => text.includes('turn the robot by hand'))).toBe(true);
      expect(result.topics.find(({ topic }) => topic === '/tracked_pose')?.acknowledged).toBe('no');
      expect(finding('messages')).toMatchObject({ verdict: 'wrong', detail: has('did not enable /tracked_pose') });
    } finally {
      still[Symbol.dispose]();
    }
  });

  it('detects a chassis without a pose and a stream that breaks', async () => {
    await using mute = await fakeChassis();
    mute.unknownTopics = ['/tracked_pose'];
    const { finding } = await probe(mute.endpoint, 2);
    expect(finding('topics')).toMatchObject({
      verdict: 'wrong',
      detail: has('no pose received'),
      remedy: has('did not enable /tracked_pose'),
    });

    await using breaking = await fakeChassis();
    const probing = probe(breaking.endpoint, 4);
    await until('the stream', () => breaking.received.length > 0);
    for (const socket of breaking.sockets) socket.destroy();
    const { result, finding: of } = await probing;
    expect(result.verdict).toBe('wrong');
    expect(of('stream')?.detail).toBe('connection closed unexpectedly');
  });

  it('shows no rate for a battery published every five seconds, though two messages arrived close together', async () => {
    await using chassis = await fakeChassis();
    using _turning = turning(chassis, 'degrees');
    const probing = probe(chassis.endpoint, 3);
    await until('the stream', () => chassis.received.length > 0);
    await time.sleep(125);
    chassis.publish({ topic: '/battery_state', percentage: 0.5, power_supply_status: 'discharging' });
    const { result } = await probing;
    expect(result.topics.find(({ topic }) => topic === '/battery_state')).toMatchObject({
      messages: 2,
      rate: null,
      rateReason: has('of 3 intervals needed'),
    });
  });

  it('detects a pose that was received only once, on enabling, and one that ceased', async () => {
    await using chassis = await fakeChassis();
    const once = await probe(chassis.endpoint, 2);
    expect(once.finding('topics')).toMatchObject({ verdict: 'wrong', detail: has('only one pose received') });
    const ceasing = probe(chassis.endpoint, 5);
    await until('the stream', () => chassis.streams.size > 0);
    await time.sleep(100);
    chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: 0.5 });
    const { finding } = await ceasing;
    expect(finding('topics')).toMatchObject({ verdict: 'wrong', detail: has('poses stopped') });
  });

  it('is wrong with an emergency stop pressed, a lost position, a low battery and an error, each with mark and source', async () => {
    await using chassis = await fakeChassis();
    latch(chassis, {
      '/wheel_state': { topic: '/wheel_state', control_mode: 'manual', emergency_stop_pressed: true },
      '/slam/state': { topic: '/slam/state', state: 'positioning', reliable: false },
      '/battery_state': { topic: '/battery_state', percentage: 0.06, power_supply_status: 'shorted' },
      '/alerts': { topic: '/alerts', alerts: [{ code: 8004, level: 'error', msg: 'tilt' }] },
    });
    using _turning = turning(chassis, 'degrees');
    const { result, finding } = await probe(chassis.endpoint, 5);
    expect(result.verdict).toBe('wrong');
    expect(result.condition.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'emergency-stop wrong',
      'control-mode wrong',
      'positioning wrong',
      'battery wrong',
      'power not-checked',
      'alerts wrong',
    ]);
    for (const { reported } of result.condition) {
      expect(reported).toMatchObject({ mark: 'HINWEIS', source: has('vendor') });
    }
    expect(finding('alerts')?.detail).toBe(
      "1 active: 8004 error 'tilt' (flip error or battery board: vendor texts disagree)",
    );
    const text = stripVTControlCharacters(renderChassisProbe(result));
    expect(text).not.toContain('Nothing is wrong');
    expect(text.split('\n')[0]).toContain(
      "emergency stop PRESSED; control mode 'manual': the robot carries out no move orders; positioning LOST; battery CRITICAL: 6 %, below 10 %; alerts 1 active: 8004 error 'tilt'",
    );
  });

  it('reports missing values as not checked, after waiting for them', async () => {
    await using chassis = await fakeChassis();
    latch(chassis, { '/wheel_state': undefined, '/alerts': undefined });
    using _turning = turning(chassis, 'degrees');
    const { result, finding, progress } = await probe(chassis.endpoint, 3);
    expect(result.listenedMs).toBeGreaterThanOrEqual(2_900);
    expect(progress.at(-1)).toContain('waiting for the conditions reported by the robot');
    for (const id of ['emergency-stop', 'control-mode', 'alerts']) {
      expect(finding(id)).toMatchObject({ verdict: 'not-checked', detail: has('was not received') });
    }
    expect(finding('battery')?.verdict).toBe('ok');
    expect(renderChassisProbe(result)).toContain('emergency stop, control mode, alerts');
  });

  it('names numbers sent as text and does not request a map', async () => {
    await using sim = await startSim({ clock: time });
    sim.setFault('numbers-as-text', true);
    const { result, finding } = await probe(sim.chassis, 2, sim.chassis.serial);
    const pose = result.topics.find(({ topic }) => topic === '/tracked_pose');
    expect(pose).toMatchObject({ messages: 0, rate: null, rateReason: 'no message received' });
    expect(pose?.rejected).toBeGreaterThan(10);
    for (const id of ['topics', 'messages']) {
      expect(finding(id)).toMatchObject({
        verdict: 'wrong',
        detail: has('numbers sent as text in /tracked_pose.pos[0], /tracked_pose.pos[1], /tracked_pose.ori'),
        remedy: has('software version'),
      });
    }
    expect(finding('topics')?.remedy).not.toContain('map');
    expect(finding('battery')).toMatchObject({
      verdict: 'not-checked',
      detail: 'every message of /battery_state was rejected: number sent as text in /battery_state.percentage',
    });
    expect(finding('emergency-stop')?.verdict).toBe('ok');
    expect(result.poseUnit.samples).toBe(0);
  });

  it('names the remedy that fits the cause of a silent pose', async () => {
    await using stale = await startSim({ clock: time });
    stale.setFault('stale', true);
    const nothing = await probe(stale.chassis, 2, stale.chassis.serial);
    expect(nothing.finding('topics')?.remedy).toContain('its software may hang');
    expect(nothing.finding('messages')?.verdict).toBe('not-checked');
    await using mute = await fakeChassis();
    latch(mute, { '/tracked_pose': undefined });
    expect((await probe(mute.endpoint, 2)).finding('topics')?.remedy).toContain('reports a map and a position');
    latch(mute, { '/slam/state': { topic: '/slam/state', state: 'inactive', reliable: false } });
    expect((await probe(mute.endpoint, 2)).finding('topics')?.remedy).toContain(
      'Set a map and a position on the chassis',
    );
  });

  it.each<[FaultName, string, string]>([
    ['emergency-stop', 'emergency-stop', 'PRESSED'],
    ['manual-control', 'control-mode', "'manual': the robot"],
    ['localisation-lost', 'positioning', 'LOST'],
    ['position-poor', 'positioning', 'poor'],
    ['battery-low', 'battery', 'CRITICAL: 6 %'],
    ['battery-unsure', 'power', "reported 'full' at 41 %"],
    ['alert-active', 'alerts', "1012 error 'fall risk' (planning)"],
  ])('detects the condition of a robot under the fault %s', async (fault, id, detail) => {
    await using sim = await startSim({ clock: time });
    sim.setFault(fault, true);
    const { result, finding } = await probe(sim.chassis, 2, sim.chassis.serial);
    expect(result.verdict).toBe('wrong');
    expect(finding(id)).toMatchObject({ verdict: 'wrong', detail: has(detail) });
    expect(result.condition.filter(({ verdict }) => verdict === 'not-checked')).toEqual([]);
  });

  it('passes the condition of a robot without faults', async () => {
    await using sim = await startSim({ clock: time });
    const { result } = await probe(sim.chassis, 3, sim.chassis.serial);
    expect(result.condition.map(({ verdict }) => verdict)).toEqual(Array(6).fill('ok'));
    // At rest the unit of the pose is open.
    expect(result.poseUnit.verdict).toBe('not-decided');
    expect(result.verdict).toBe('not-checked');
  });

  it('is an error without a chassis, and with another one', async () => {
    const failureOf = (endpoint: Endpoint) =>
      probe(endpoint, 2).then(
        () => expect.fail('it should have failed'),
        (error: unknown) => (error as GwError).code,
      );
    expect(await failureOf(await closedPort())).toBe('CHASSIS_NOT_CONNECTED');
    await using chassis = await fakeChassis();
    chassis.serial = 'SN-2';
    expect(await failureOf(chassis.endpoint)).toBe('CHASSIS_WRONG_DEVICE');
    chassis.booting = 0.1;
    expect(await failureOf(chassis.endpoint)).toBe('CHASSIS_BOOTING');
  });
});

describe('the clock of a chassis', () => {
  it('is parsed as UTC and in the time zone of this machine, because it has none', () => {
    expect(readChassisTime('2026/01/31 12:00:00')).toEqual({
      ifUtcMs: Date.UTC(2026, 0, 31, 12),
      ifSameZoneMs: new Date(2026, 0, 31, 12).getTime(),
    });
    expect(readChassisTime('2026-01-31T12:00:00.5')?.ifUtcMs).toBe(Date.UTC(2026, 0, 31, 12));
  });

  it('is not parsed from any other text', () => {
    for (const text of [
      '',
      'noon',
      '2026/13/01 12:00:00',
      '2026/02/30 12:00:00',
      '2026/01/31 12:00:00Z',
      '2026/01/31 24:00:00',
      '1767182400',
    ]) {
      expect(readChassisTime(text)).toBeUndefined();
    }
  });
});
