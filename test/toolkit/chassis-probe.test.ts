import { describe, expect, it } from 'vitest';
import type { GwError } from '../../src/lib/error/index.ts';
import { systemClock } from '../../src/lib/lifecycle/index.ts';
import { directDialer, type Endpoint } from '../../src/lib/net/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { readChassisTime } from '../../src/lib/toolkit/chassis-clock.ts';
import { chassisProbeSchema } from '../../src/lib/toolkit/chassis-probe.result.ts';
import { probeChassis } from '../../src/lib/toolkit/chassis-probe.ts';
import type { Toolkit } from '../../src/lib/toolkit/toolkit.ts';
import { closedPort, type FakeChassis, fakeChassis, until } from '../chassis/peers.ts';

function toolkitFor({ host, port }: Endpoint): Toolkit {
  const site = parseSite(`name: test\nchassis:\n  host: ${host}\n  port: ${port}\n  serial: SN-1\n`, '/tmp/site.yaml');
  return { site, dialer: directDialer, clock: systemClock };
}

async function probe(endpoint: Endpoint, seconds: number) {
  const progress: string[] = [];
  const context = { signal: new AbortController().signal, onProgress: (text: string) => progress.push(text) };
  const result = await probeChassis(toolkitFor(endpoint), { seconds }, context);
  expect(result).toEqual(chassisProbeSchema.parse(result));
  const finding = (id: string) => result.findings.find((one) => one.id === id);
  return { result, progress, finding };
}

/** Publishes poses of a turning robot as soon as somebody listens. */
function turning(chassis: FakeChassis, size: number): Disposable {
  let heading = 0;
  const timer = setInterval(() => {
    heading += 0.25;
    const ori = ((heading + Math.PI) % (2 * Math.PI)) - Math.PI;
    chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: ori * size });
  }, 20);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

describe.concurrent('a probe', () => {
  it('tells identity, latency, clock, topics and the unit of the pose, each value with mark and source', async () => {
    await using chassis = await fakeChassis();
    using _turning = turning(chassis, 180 / Math.PI);
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
      rateReason: expect.stringContaining('0 of 3 intervals'),
    });
    expect(finding('clock')).toMatchObject({ verdict: 'not-checked' });
    expect(finding('pose-unit')).toMatchObject({ verdict: 'ok', spec: 'Angles (critical rule)' });
    expect(finding('topics')?.verdict).toBe('ok');
  });

  it('is wrong, and says so loudly, when the pose is in radians', async () => {
    await using chassis = await fakeChassis();
    // The latched pose of this chassis, 90, proves degrees as well: the contradiction wins.
    using _turning = turning(chassis, 1);
    const { result, finding } = await probe(chassis.endpoint, 8);
    expect(result).toMatchObject({ verdict: 'wrong', poseUnit: { verdict: 'radians' } });
    expect(finding('pose-unit')).toMatchObject({
      verdict: 'wrong',
      detail: expect.stringContaining('IT IS IN RADIANS'),
    });
  });

  it('listens on while nothing is decided, says what to do, and does not call it green', async () => {
    await using chassis = await fakeChassis();
    chassis.unknownTopics = ['/tracked_pose'];
    const still = setInterval(() => chassis.publish({ topic: '/tracked_pose', pos: [0, 0], ori: 0.5 }), 50);
    try {
      const { result, progress, finding } = await probe(chassis.endpoint, 3);
      expect(result.listenedMs).toBeGreaterThanOrEqual(2_900);
      expect(result.poseUnit.verdict).toBe('not-decided');
      expect(finding('pose-unit')?.verdict).toBe('not-checked');
      expect(progress.some((text) => text.includes('turn the robot by hand'))).toBe(true);
      expect(result.topics.find(({ topic }) => topic === '/tracked_pose')?.acknowledged).toBe('no');
      expect(finding('messages')).toMatchObject({
        verdict: 'wrong',
        detail: expect.stringContaining('did not enable /tracked_pose'),
      });
    } finally {
      clearInterval(still);
    }
  });

  it('finds a chassis without a pose and a stream that breaks', async () => {
    await using mute = await fakeChassis();
    mute.unknownTopics = ['/tracked_pose'];
    const { finding } = await probe(mute.endpoint, 2);
    expect(finding('topics')).toMatchObject({
      verdict: 'wrong',
      detail: expect.stringContaining('no pose received'),
      remedy: expect.stringContaining('did not enable /tracked_pose'),
    });

    await using breaking = await fakeChassis();
    const probing = probe(breaking.endpoint, 4);
    await until('the stream', () => breaking.heard.length > 0);
    for (const socket of breaking.sockets) socket.destroy();
    const { result, finding: of } = await probing;
    expect(result.verdict).toBe('wrong');
    expect(of('stream')?.detail).toBe('the connection was cut');
  });

  it('is an error where there is nothing to probe, and where it is another chassis', async () => {
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
  it('is read as UTC and as the zone of this machine, because it names none', () => {
    expect(readChassisTime('2026/01/31 12:00:00')).toEqual({
      ifUtcMs: Date.UTC(2026, 0, 31, 12),
      ifSameZoneMs: new Date(2026, 0, 31, 12).getTime(),
    });
    expect(readChassisTime('2026-01-31T12:00:00.5')?.ifUtcMs).toBe(Date.UTC(2026, 0, 31, 12));
  });

  it('is not guessed from any other text', () => {
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
