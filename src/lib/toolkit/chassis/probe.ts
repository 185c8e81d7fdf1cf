import { type ChassisIdentity, createChassisClient, isSimulated, type PoseUnitVerdict } from '../../chassis/index.ts';
import { asGwError, roundTripText } from '../../error/index.ts';
import { citeFact, type FactId, factById, type Known, loadEvidenceFile, relianceOn } from '../../evidence/index.ts';
import { factsOfOrder } from '../../motion/index.ts';
import type { Site } from '../../site/index.ts';
import { describeRelied } from '../evidence/relied.ts';
import type { Finding } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { conclude } from '../verdict.ts';
import { chassisAccess } from './access.ts';
import { linkOf } from './address.ts';
import type { ChassisProbe, ReliedHere } from './chassis.result.ts';
import { conditionFindings } from './condition.ts';
import { listen, measuredNow } from './probe/listen.ts';
import { messagesFinding, topicFindings } from './probe/topic-findings.ts';

/** Project decision: with slower responses every stop is late as well. */
const SLOW_MS = 1_000;
/** Project decision: half a minute off makes logs of chassis and gateway hard to compare. */
const CLOCK_OFF_MS = 30_000;

const start = {
  id: 'relied-facts',
  title: 'Facts that orders rely on are verified on this chassis',
  spec: 'Evidence marks; Versioning, 2',
};

/** A time as the chassis writes it, read as if its zone were one or the other; the chassis names none. */
interface ClockReading {
  readonly ifUtcMs: number;
  readonly ifSameZoneMs: number;
}

const shape = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})[ T](\d{1,2}):(\d{2}):(\d{2})(?:\.\d+)?$/;

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

function identityFinding(identity: ChassisIdentity, expected: string): Finding {
  // The client has already refused any other serial number.
  return ok(
    { id: 'identity', title: 'Serial number matches the site file', spec: 'Addressing rules, 1' },
    `serial number ${identity.serial}, expected ${expected}`,
  );
}

function softwareFinding({ software }: ChassisIdentity): Finding {
  const start = { id: 'software', title: 'Software version is known', spec: 'Versioning, 2' };
  if (software !== null) return ok(start, software);
  return notChecked(start, 'not reported, so no evidence record can count for this chassis');
}

function latencyFinding({ requests, median, longest, link }: ChassisProbe['latency']): Finding {
  const start = { id: 'latency', title: 'Response time', spec: null };
  const ofLink = link === null ? '' : `, with the SSH link in it (${roundTripText(link)})`;
  const detail = `${requests} requests: median ${median.value} ms, longest ${longest.value} ms${ofLink}`;
  // Of the chassis itself such times say nothing.
  if (link?.isSlow === true) return notChecked(start, detail, 'Probe it on the gateway, or over a better link.');
  if (longest.value < SLOW_MS) return ok(start, detail);
  return wrong(start, detail, 'Check the radio link and other traffic in the robot segment.');
}

function clockFinding(clock: ChassisProbe['clock']): Finding {
  const start = { id: 'clock', title: 'Clock', spec: null };
  const zone = 'the chassis reports no time zone, so there is no verdict';
  if (clock === null) return notChecked(start, 'no time reported');
  const { differenceIfUtc, differenceIfSameZone, text } = clock;
  if (differenceIfUtc === null || differenceIfSameZone === null) {
    return notChecked(start, `unknown format: ${text.value}`);
  }
  const near = [differenceIfUtc, differenceIfSameZone].some((by) => Math.abs(by.value) * 1_000 < CLOCK_OFF_MS);
  const by = `${differenceIfUtc.value} s against this machine if it is UTC, ${differenceIfSameZone.value} s if it is the zone of this machine`;
  return notChecked(
    start,
    `reported ${text.value}: ${by}; ${zone}`,
    near ? null : 'Compare the clock of the chassis with a watch; logs of chassis and gateway may not match.',
  );
}

function poseUnitFinding({ verdict, reason, doubt, samples, misfit }: PoseUnitVerdict): Finding {
  const start = { id: 'pose-unit', title: 'Pose is in degrees', spec: 'Angles (critical rule)' };
  const detail = `${reason} (${samples} samples)`;
  if (doubt !== null && misfit === true) {
    return wrong(
      start,
      `IN DOUBT, THE HEADING FITS NO COURSE: ${detail}`,
      'Do not drive this robot with gw yet: the motion gate stays closed. Compare the heading with the courses that it drives: which unit, which direction of turning, where 0 lies. Six courses in a row that fit degrees end the doubt.',
    );
  }
  if (doubt !== null) {
    return wrong(
      start,
      `IN DOUBT, THE UNIT MAY BE RADIANS: ${detail}`,
      'Do not drive this robot with gw yet: the motion gate stays closed. Probe again and turn the robot by hand, without a pause, through two full circles.',
    );
  }
  switch (verdict) {
    case 'degrees':
      return ok(start, detail);
    case 'radians':
      return wrong(
        start,
        `THE UNIT IS RADIANS: ${detail}. gw reads degrees, as measured; every heading would be wrong.`,
        'Do not drive this robot with gw: the motion gate stays closed. Report its software version.',
      );
    case 'not-decided':
      // Without poses turning does not help: the finding about the topics has the remedy.
      if (samples === 0) return notChecked(start, detail);
      return notChecked(
        start,
        detail,
        'Probe again and turn the robot by hand, without a pause, through two full circles while the probe runs.',
      );
  }
}

/**
 * Every fact that an order relies on, with its evidence on this chassis. The specification names no device for
 * its measurements, so each of them is from another device or version unless a record of this site says otherwise.
 * `relied` is null when the evidence file cannot be read. Never throws.
 */
export async function checkReliedFacts(
  site: Pick<Site, 'evidenceFile'> & { readonly motion: Pick<Site['motion'], 'requireVerified'> },
  identity: ChassisIdentity,
): Promise<{ readonly relied: ReliedHere[] | null; readonly finding: Finding }> {
  const { serial, software } = identity;
  let relied: ReliedHere[];
  try {
    const records = await loadEvidenceFile(site.evidenceFile);
    const device = { serial, software, simulated: isSimulated(identity), records };
    const ids = new Set<FactId>(Object.values(factsOfOrder).flat());
    relied = [...ids].map((id) => {
      const { mark, basis } = factById(id);
      const { support, usable, contradictedHere, why } = relianceOn(id, device, site.motion);
      const orders = Object.entries(factsOfOrder).flatMap(([order, facts]) =>
        (facts as readonly string[]).includes(id) ? [order] : [],
      );
      return { fact: id, mark, basis, orders, support, usable, contradictedHere, detail: why };
    });
  } catch (error) {
    const [detail = ''] = asGwError(error).message.split('\n');
    const remedy = 'Repair the evidence file: `gw site check` names every invalid line.';
    return { relied: null, finding: wrong(start, detail, remedy) };
  }
  return { relied, finding: findingOf(relied) };
}

function findingOf(relied: readonly ReliedHere[]): Finding {
  const contradicted = relied.filter(({ contradictedHere }) => contradictedHere);
  if (contradicted.length > 0) {
    const detail = `contradicted on this chassis: ${names(contradicted)}; no order may rely on it`;
    return wrong(start, detail, 'Do not drive it with gw; `gw evidence show FACT` shows the records.');
  }
  if (relied.every(({ support }) => support === 'this-device')) {
    return ok(start, `all ${relied.length} facts, with this software`);
  }
  return notChecked(
    start,
    describeRelied(relied, { names: true }),
    'Verify each on this chassis: `gw evidence verify stop` first, or record a check of your own with `gw evidence record`.',
  );
}

function names(facts: readonly ReliedHere[]): string {
  return facts.map(({ fact }) => fact).join(', ');
}

/** Reads `2026/01/31 12:00:00`. Undefined when the text is another one, names a zone, or no such moment exists. */
export function readChassisTime(text: string): ClockReading | undefined {
  const match = shape.exec(text.trim());
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  const ifUtcMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const back = new Date(ifUtcMs);
  const exists = back.getUTCMonth() === month - 1 && back.getUTCDate() === day && back.getUTCHours() === hour;
  if (!exists || back.getUTCMinutes() !== minute || back.getUTCSeconds() !== second) return undefined;
  return { ifUtcMs, ifSameZoneMs: new Date(year, month - 1, day, hour, minute, second).getTime() };
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
    simulated: isSimulated(identity),
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
