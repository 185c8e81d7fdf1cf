import type { Doctor } from '../doctor/doctor.result.ts';
import type { SiteCheck } from '../site/site.result.ts';
import type { StepLine } from './replace.result.ts';
import {
  chassisLine,
  identityLines,
  recordLine,
  runningLines,
  trialLines,
  type Unit,
  unitLine,
} from './robot-looks.ts';
import { isUnseen, type RobotSeen, type Seen, unseen } from './seen.ts';
import { line, type Step } from './step.ts';

export interface NewGatewaySeen extends RobotSeen {
  readonly unit: Seen<Unit>;
  readonly files: Seen<Pick<SiteCheck, 'valid' | 'problems' | 'findings'>>;
  readonly doctor: Seen<Pick<Doctor, 'verdict' | 'lines'>>;
  /** Address of another device with the serial number of this robot; null: none. */
  readonly ownFrom: Seen<string | null>;
}

export interface GatewayActs {
  enrol(seen: NewGatewaySeen): Promise<boolean>;
  start(seen: NewGatewaySeen): Promise<boolean>;
}

/** The steps of a replaced gateway, in their order. */
export function gatewaySteps(acts: GatewayActs): readonly Step<NewGatewaySeen>[] {
  const serialOf = ({ site }: NewGatewaySeen) => site.chassis.serial;
  return [
    { id: 'files', title: 'Site file and secrets are on this machine', look: fileLines },
    {
      id: 'old-off',
      title: 'The old gateway is off',
      look: ownSerialLines,
      word: { question: 'Is the old gateway switched off, and kept from being switched on again beside this one?' },
    },
    { id: 'chassis', title: 'The chassis answers', look: (seen) => [chassisLine(seen, serialOf(seen))] },
    {
      id: 'identity',
      title: 'This machine has the identity of the robot',
      look: (seen) => identityLines(seen, serialOf(seen)),
      act: (seen) => acts.enrol(seen),
    },
    {
      id: 'revoked',
      title: 'The identity of the old gateway is revoked',
      look: ({ identity }) =>
        identity === null ? [line('revoked', 'Identity', 'not-applicable', 'the site file has no enrolment')] : [],
      word: {
        // One that was enrolled before the first run of this command looks like a restored one.
        question:
          'Is the certificate on this machine that of the backup, or did the cloud operator confirm that the one that was on the old gateway is revoked?',
        isAsked: ({ identity }) => identity !== null,
        frame: ({ identity }) =>
          identity === null || isUnseen(identity) || identity.identity === null
            ? null
            : `certificate ${identity.identity.certificate.fingerprintSha256}`,
      },
    },
    {
      id: 'runs',
      title: 'The gateway runs on this machine',
      look: (seen) => runningLines(seen, serialOf(seen)),
      act: (seen) => acts.start(seen),
    },
    {
      id: 'latch',
      title: 'No stop of the old gateway is forgotten',
      look: latchLines,
      word: {
        question:
          'Was no stop latched on the old gateway, or did a person find its cause? A latched stop is known here only where its state was restored.',
      },
    },
    { id: 'unit', title: 'The unit of the heading is decided', look: (seen) => [unitLine(seen, seen.unit)] },
    { id: 'trials', title: 'The trials are in the evidence file', look: (seen) => trialLines(seen, serialOf(seen)) },
    { id: 'doctor', title: 'The installation is in order', look: doctorLines },
    { id: 'premises', title: 'Accepted with this gateway', look: (seen) => [recordLine(seen, 'premises')] },
  ];
}

/** What has steps of its own, or is no file. */
const elsewhere: ReadonlySet<string> = new Set(['identity', 'require-verified', 'orders']);

function fileLines({ files, site }: NewGatewaySeen): StepLine[] {
  if (isUnseen(files)) return [unseen('files', 'Site file', files)];
  const found = files.findings.filter(({ id }) => !elsewhere.has(id));
  const bad = found.filter(({ verdict }) => verdict === 'wrong' || verdict === 'not-checked');
  if (bad.length > 0)
    return bad.map(({ id, title, verdict, detail, remedy }) => line(id, title, verdict, detail, remedy));
  if (!files.valid && files.problems.length > 0)
    return [line('files', 'Site file', 'wrong', site.path, 'gw site check')];
  const good = found.filter(({ verdict }) => verdict === 'ok');
  return [line('files', 'Site file and what it names', 'ok', `${site.path}, ${good.length} references`)];
}

function ownSerialLines({ ownFrom, site, gateway }: NewGatewaySeen): StepLine[] {
  const title = `No other device sends heartbeats as ${site.chassis.serial}`;
  if (site.fleet === undefined) return [line('own-serial', title, 'not-applicable', 'the site file has no fleet')];
  if (isUnseen(ownFrom) && gateway.robots.length > 0) return [unseen('own-serial', title, ownFrom)];
  // That none runs is said by a step of its own.
  if (isUnseen(ownFrom)) return [line('own-serial', title, 'not-applicable', 'not seen before the gateway runs')];
  if (ownFrom === null) return [line('own-serial', title, 'ok', 'none received')];
  return [line('own-serial', title, 'wrong', `received from ${ownFrom}`, 'Switch the old gateway off.')];
}

function latchLines({ gateway: { live } }: NewGatewaySeen): StepLine[] {
  const title = 'No stop is latched on this gateway';
  if (isUnseen(live)) return [unseen('latch', title, live)];
  if (!live.stop.latched) return [line('latch', title, 'ok', 'none')];
  const detail = `latched${live.stop.since === null ? '' : ` since ${live.stop.since}`}`;
  return [line('latch', title, 'wrong', detail, 'Find out why it was stopped, then `gw motion clear`.')];
}

function doctorLines({ doctor }: NewGatewaySeen): StepLine[] {
  if (isUnseen(doctor)) return [unseen('doctor', 'Installation', doctor)];
  const open = doctor.lines.filter(
    ({ need, verdict }) => need !== 'optional' && (verdict === 'wrong' || verdict === 'not-checked'),
  );
  if (doctor.verdict === 'ok')
    return [line('doctor', 'Installation', 'ok', `${doctor.lines.length} lines of gw doctor`)];
  if (open.length === 0) return [line('doctor', 'Installation', 'not-checked', 'nothing was checked', 'gw doctor')];
  return open.map(({ id, title, verdict, detail, remedy }) => line(id, title, verdict, detail, remedy));
}
