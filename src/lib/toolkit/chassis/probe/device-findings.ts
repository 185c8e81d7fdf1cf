import type { ChassisIdentity, PoseUnitVerdict } from '../../../chassis/index.ts';
import { roundTripText } from '../../../error/index.ts';
import type { Finding } from '../../finding.result.ts';
import { notChecked, ok, wrong } from '../../finding.ts';
import type { ChassisProbe } from '../probe.result.ts';

/** Project decision: with slower responses every stop is late as well. */
const SLOW_MS = 1_000;
/** Project decision: half a minute off makes logs of chassis and gateway hard to compare. */
const CLOCK_OFF_MS = 30_000;

export function identityFinding(identity: ChassisIdentity, expected: string): Finding {
  // The client has already refused any other serial number.
  return ok(
    { id: 'identity', title: 'Serial number matches the site file', spec: 'Addressing rules, 1' },
    `serial number ${identity.serial}, expected ${expected}`,
  );
}

export function softwareFinding({ software }: ChassisIdentity): Finding {
  const start = { id: 'software', title: 'Software version is known', spec: 'Versioning, 2' };
  if (software !== null) return ok(start, software);
  return notChecked(start, 'not reported, so no evidence record can count for this chassis');
}

export function latencyFinding({ requests, median, longest, link }: ChassisProbe['latency']): Finding {
  const start = { id: 'latency', title: 'Response time', spec: null };
  const ofLink = link === null ? '' : `, with the SSH link in it (${roundTripText(link)})`;
  const detail = `${requests} requests: median ${median.value} ms, longest ${longest.value} ms${ofLink}`;
  // Of the chassis itself such times say nothing.
  if (link?.isSlow === true) return notChecked(start, detail, 'Probe it on the gateway, or over a better link.');
  if (longest.value < SLOW_MS) return ok(start, detail);
  return wrong(start, detail, 'Check the radio link and other traffic in the robot segment.');
}

export function clockFinding(clock: ChassisProbe['clock']): Finding {
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

export function poseUnitFinding({ verdict, reason, doubt, samples, misfit }: PoseUnitVerdict): Finding {
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
