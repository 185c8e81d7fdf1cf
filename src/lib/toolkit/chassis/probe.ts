import { type ChassisIdentity, createChassisClient } from '../../chassis/index.ts';
import { citeFact, type FactId, type Known } from '../../evidence/index.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { chassisAccess } from './access.ts';
import { linkOf } from './address.ts';
import { conditionFindings } from './condition.ts';
import { readChassisTime } from './probe/chassis-clock.ts';
import {
  clockFinding,
  identityFinding,
  latencyFinding,
  poseUnitFinding,
  softwareFinding,
} from './probe/device-findings.ts';
import { listen, measuredNow } from './probe/listen.ts';
import { checkReliedFacts } from './probe/relied-facts.ts';
import { messagesFinding, topicFindings } from './probe/topic-findings.ts';
import type { ChassisProbe } from './probe.result.ts';

export interface ChassisProbeOptions {
  /**
   * Maximum time to receive topics, in seconds; ends earlier when the unit and rate of the pose are known and the robot
   * has reported its condition.
   */
  readonly seconds?: number;
}

const DEFAULT_SECONDS = 8;
const REQUESTS = 7;
/**
 * Probes a chassis without moving it. Throws CHASSIS_NOT_CONNECTED, CHASSIS_BOOTING,
 * CHASSIS_BAD_ANSWER and CHASSIS_WRONG_DEVICE; every other fault is a finding.
 */
export async function probeChassis(
  toolkit: Toolkit,
  options: ChassisProbeOptions,
  context: CheckContext,
): Promise<ChassisProbe> {
  const access = await chassisAccess(toolkit);
  const { endpoint, dialer, clock, expectedSerial } = access;
  const { signal, onProgress } = context;
  await using client = createChassisClient(access);

  onProgress(`reading device information from ${endpoint.host}:${endpoint.port}`);
  const identity = await client.identity(signal);
  const times: number[] = [];
  let info: Readonly<Record<string, unknown>> = {};
  let askedAt = clock.wall();
  for (let i = 0; i < REQUESTS; i += 1) {
    const began = clock.monotonicMs();
    askedAt = clock.wall();
    info = await client.deviceInfo(signal);
    times.push(clock.monotonicMs() - began);
  }
  const received = await listen(access, identity, (options.seconds ?? DEFAULT_SECONDS) * 1_000, context);

  const { relied, finding: reliedFinding } = await checkReliedFacts(toolkit.site, identity);
  const latency = latencyOf(identity, times, linkOf(dialer));
  const chassisClock = clockOf(info.time, askedAt);
  const findings = [
    identityFinding(identity, expectedSerial),
    softwareFinding(identity),
    latencyFinding(latency),
    clockFinding(chassisClock),
    ...topicFindings(received),
    poseUnitFinding(received.poseUnit),
    messagesFinding(received),
    ...conditionFindings(received.condition),
    reliedFinding,
  ];
  return {
    verdict: conclude(findings),
    address: { host: endpoint.host, port: endpoint.port, way: dialer.way },
    identity: identityOf(identity, expectedSerial),
    latency,
    clock: chassisClock,
    topics: received.topics,
    listenedMs: received.listenedMs,
    poseUnit: received.poseUnit,
    condition: received.condition,
    complaints: received.complaints,
    relied,
    findings,
  };
}

/** A value with the mark and source of the fact that defines it. */
function byFact<T>(value: T, id: FactId, unit?: string): Known<T> {
  return { value, ...citeFact(id, unit) };
}

function identityOf(identity: ChassisIdentity, expectedSerial: string): ChassisProbe['identity'] {
  const announced = Object.entries(identity.capabilities).flatMap(([name, can]) => (can ? [name] : []));
  return {
    serial: byFact(identity.serial, 'vendor.identity.device-info'),
    expectedSerial,
    model: identity.model === null ? null : byFact(identity.model, 'vendor.identity.device-info'),
    software: identity.software === null ? null : byFact(identity.software, 'vendor.software-version'),
    capabilities: byFact(announced.toSorted(), 'vendor.capabilities'),
  };
}

function latencyOf(
  identity: ChassisIdentity,
  times: readonly number[],
  link: ChassisProbe['latency']['link'],
): ChassisProbe['latency'] {
  const sorted = times.toSorted((a, b) => a - b);
  const tenth = (ms: number | undefined) => Math.round((ms ?? 0) * 10) / 10;
  return {
    requests: times.length,
    median: measuredNow(identity, tenth(sorted[Math.floor(sorted.length / 2)]), 'ms'),
    longest: measuredNow(identity, tenth(sorted.at(-1)), 'ms'),
    link,
  };
}

function clockOf(time: unknown, askedAt: Date): ChassisProbe['clock'] {
  if (typeof time !== 'string' || time === '') return null;
  const reading = readChassisTime(time);
  const seconds = (ms: number) => byFact(Math.round((ms - askedAt.getTime()) / 1_000), 'chassis.clock-and-zone', 's');
  return {
    text: byFact(time.slice(0, 100), 'vendor.device-time'),
    differenceIfUtc: reading ? seconds(reading.ifUtcMs) : null,
    differenceIfSameZone: reading ? seconds(reading.ifSameZoneMs) : null,
  };
}
