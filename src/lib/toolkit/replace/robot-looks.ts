import { type FactId, factById, relianceOn } from '../../evidence/index.ts';
import { factsDecidedBy, type TrialKind, trialKinds } from '../../motion/index.ts';
import { plural } from '../../text/index.ts';
import type { KeptRecords } from '../checklist/kept-records.ts';
import { clearRecords } from '../checklist/record-check.ts';
import type { StepLine } from './replace.result.ts';
import { type GatewaySeen, isUnseen, type RobotSeen, type Seen, unseen } from './seen.ts';
import { line } from './step.ts';

/** The chassis at the address of the site file reports this serial number. */
export function chassisLine({ chassis, site }: RobotSeen, serial: string): StepLine {
  const [id, title] = ['answers', `The chassis at ${site.chassis.host}:${site.chassis.port} is ${serial}`];
  if (isUnseen(chassis)) return unseen(id, title, chassis);
  const { found } = chassis.serial;
  if (found === serial) return line(id, title, 'ok', `it reports ${found}`);
  if (found !== null) {
    return line(
      id,
      title,
      'wrong',
      `it reports ${found}`,
      `Connect ${serial} at this address, or correct chassis.host.`,
    );
  }
  return line(id, title, 'not-checked', chassis.detail, chassis.remedy ?? 'gw chassis address');
}

/** The identity on this machine is that of `serial`, complete and valid. */
export function identityLines({ identity }: RobotSeen, serial: string): StepLine[] {
  const title = `Identity of ${serial}`;
  if (identity === null) return [line('identity', title, 'not-applicable', 'the site file has no enrolment')];
  if (isUnseen(identity)) return [unseen('identity', title, identity)];
  const found = identity.identity?.serial ?? null;
  const enrol = 'Enrol with a one-time code for this serial number: --code-file FILE, or type it when asked.';
  if (found === null) return [line('identity', title, 'open', 'none is installed', enrol)];
  if (found !== serial) return [line('identity', title, 'open', `the identity here is that of ${found}`, enrol)];
  const bad = identity.findings.filter(({ verdict }) => verdict === 'wrong');
  if (identity.verdict === 'ok')
    return [line('identity', title, 'ok', identity.identity?.certificate.subject ?? found)];
  if (bad.length === 0) return [line('identity', title, 'not-checked', 'not completely checked', 'gw enrol status')];
  return bad.map((one) => line(`identity-${one.id}`, one.title, 'wrong', one.detail, one.remedy));
}

/** The gateway of this machine runs for `serial`, connected to it, with no state of another robot in use. */
export function runningLines({ gateway, identity, site }: RobotSeen, serial: string): StepLine[] {
  const { robots, live, claim, others, unit } = gateway;
  const start =
    unit === 'none' ? `Start it: \`gw serve --site ${site.path}\`.` : 'Start it: `sudo systemctl start gw`.';
  const title = `It runs for ${serial}`;
  const other = robots.find((one) => one.serial !== serial);
  if (other !== undefined) {
    const who = other.serial === null ? 'a gateway that names no robot' : `the gateway of ${other.serial}`;
    return [line('runs', title, 'wrong', `${who} answers at ${other.place}`, 'End it, then start gw serve anew.')];
  }
  if (robots.length === 0) {
    const { silent, problem } = gateway;
    if (silent.length > 0) {
      return [
        line('runs', title, 'not-checked', `a program without an answer holds ${silent.join(', ')}`, 'gw doctor'),
      ];
    }
    return [line('runs', title, 'open', problem ?? 'no gateway answers', start)];
  }
  const lines = [line('runs', title, 'ok', `it answers at ${robots.map(({ place }) => place).join(', ')}`)];
  if (isUnseen(live)) lines.push(unseen('connected', `Its chassis is ${serial}`, live));
  else lines.push(connectedLine(live, serial));
  if (isUnseen(claim)) lines.push(unseen('state', 'State of this robot alone is in use', claim));
  else if (claim !== null) {
    lines.push(
      line('state', 'State of this robot alone is in use', 'wrong', claim, 'Restart gw serve, then `gw doctor`.'),
    );
  } else {
    const apart = others.length === 0 ? 'none of another robot is kept' : `set aside, of ${others.join(', ')}`;
    lines.push(line('state', 'State of this robot alone is in use', 'ok', apart));
  }
  if (!isUnseen(live) && identity !== null && site.cloud !== undefined) {
    const cloud = live.lamps.find(({ id }) => id === 'cloud');
    lines.push(cloudLine(cloud?.level ?? 'unknown'));
  }
  return lines;
}

function cloudLine(level: Exclude<GatewaySeen['live'], Error>['lamps'][number]['level']): StepLine {
  const [id, title] = ['cloud', 'It holds its link to the cloud'];
  if (level === 'good') return line(id, title, 'ok', 'connected');
  const verdict = level === 'bad' ? 'wrong' : level === 'attention' ? 'open' : 'not-checked';
  return line(id, title, verdict, `its lamp is ${level}`, 'gw cloud status');
}

function connectedLine({ link, identity }: Exclude<GatewaySeen['live'], Error>, serial: string): StepLine {
  const title = `Its chassis is ${serial}`;
  if (link.kind !== 'connected')
    return line('connected', title, 'open', `${link.kind} (${link.tried})`, 'gw chassis address');
  const found = identity?.serial ?? null;
  if (found === serial) return line('connected', title, 'ok', `connected to ${link.tried}`);
  return line('connected', title, 'wrong', `it is connected to ${found ?? 'an unknown chassis'}`, 'gw chassis address');
}

/** Each kind of trial has verified its facts on this chassis with the software that runs now. */
export function trialLines({ device, site }: RobotSeen, serial: string): StepLine[] {
  if (isUnseen(device)) return [unseen('trials', `Trials of ${serial}`, device)];
  if (device.serial !== serial) {
    return [line('trials', `Trials of ${serial}`, 'not-checked', `the chassis that answers is ${device.serial}`)];
  }
  const kinds = trialKinds.filter((kind) => kind !== 'dock' || site.dock !== undefined);
  return kinds.map((kind) => trialLine(kind, device));
}

function trialLine(kind: TrialKind, device: Exclude<RobotSeen['device'], Error>): StepLine {
  const title = `Trial ${kind}`;
  const relied = factsDecidedBy[kind].map((id) => relianceOn(id, device));
  const against = relied.find(({ contradictedHere }) => contradictedHere);
  if (against !== undefined) return line(kind, title, 'wrong', against.why, `gw evidence show ${against.fact}`);
  const lacking = relied.filter(({ verifiedHere }) => !verifiedHere).map(({ fact }) => fact);
  const frame = `${device.serial} with software ${device.software}`;
  if (lacking.length === 0) {
    const on = device.simulated ? ', a simulator' : '';
    return line(kind, title, 'ok', `${plural(relied.length, 'fact')} verified on ${frame}${on}`);
  }
  return line(
    kind,
    title,
    'open',
    `not verified on ${frame}: ${lacking.join(', ')}`,
    `Beside the robot: \`gw evidence verify ${kind}\``,
  );
}

/** The heading is in degrees: shown over the present connection, or verified on this chassis with its software. */
export function unitLine({ gateway: { live }, device }: RobotSeen, unit: Seen<Unit>): StepLine {
  const [id, title] = ['unit', 'The heading is in degrees'];
  if (isUnseen(unit)) return unseen(id, title, unit);
  if (unit.unitContradicted || unit.poseUnit === 'radians') {
    return line(id, title, 'wrong', 'the chassis reports another unit', 'Do not drive this robot: `gw chassis probe`.');
  }
  if (isUnseen(live) || live.link.kind !== 'connected')
    return line(id, title, 'not-checked', 'the gateway has no connection');
  if (unit.poseUnit === 'degrees') return line(id, title, 'ok', 'shown over the present connection');
  const fact: FactId = 'angles.tracked-pose-ori';
  const isVerified = !isUnseen(device) && relianceOn(fact, device).verifiedHere && !unit.unitInDoubt;
  if (isVerified) return line(id, title, 'ok', `verified on this chassis (${factById(fact).id}), and not in doubt now`);
  const remedy = 'Turn the robot by hand through two full circles while `gw chassis probe` runs.';
  return line(id, title, 'open', 'not decided yet', remedy);
}

/** What the running gateway says of the unit. */
export interface Unit {
  readonly poseUnit: string;
  readonly unitContradicted: boolean;
  readonly unitInDoubt: boolean;
}

/**
 * The newest record of this checklist is of this robot with its present software, was begun after the replacement, is
 * complete and signed.
 */
export function recordLine({ records, device, begunAt, known }: RobotSeen, checklist: string): StepLine {
  const [id, title] = [checklist, `Signed record of the checklist ${checklist}`];
  const remedy = `gw checklist run ${checklist}`;
  if (isUnseen(records)) return unseen(id, title, records);
  const newest = newestOf(records, checklist);
  if (newest === undefined) {
    const notes = records.notes.length === 0 ? '' : `; ${records.notes.join('; ')}`;
    return line(id, title, 'open', `none of this robot in ${records.folder}${notes}`, remedy);
  }
  const { subject, state, record, robot } = newest;
  const of = `of ${subject.endedAt}`;
  if (known.includes(record.id))
    return line(id, title, 'open', `the newest one was there at the beginning, ${of}`, remedy);
  if (Date.parse(subject.startedAt) < Date.parse(begunAt)) {
    return line(id, title, 'open', `the newest one was begun at ${subject.startedAt}, before the replacement`, remedy);
  }
  if (state === 'wrong')
    return line(id, title, 'wrong', `${of}: its verification failed`, `gw checklist verify ${newest.path}`);
  if (record.interrupted || record.leftOut || (subject.verdict !== 'ok' && subject.verdict !== 'accepted')) {
    const how = record.interrupted || record.leftOut ? 'not complete' : subject.verdict;
    return line(id, title, 'wrong', `${of}: ${how}`, `${remedy} --resume`);
  }
  if (state !== 'verified')
    return line(id, title, 'not-checked', `${of}: ${state}`, `gw checklist verify ${newest.path}`);
  const software = isUnseen(device) ? null : device.software;
  if (software === null) return line(id, title, 'not-checked', `${of}; the software of the chassis was not read`);
  if (robot.software === null || robot.software.value !== software) {
    const was = robot.software?.value ?? 'unknown';
    return line(id, title, 'wrong', `${of}: software ${was}, now ${software}`, remedy);
  }
  const isReal = !isUnseen(device) && !device.simulated;
  if (isReal && robot.simulated !== false) return line(id, title, 'wrong', `${of}: of a simulated robot`, remedy);
  if (records.notes.length > 0) {
    const detail = [`the newest that can be read is ${of}`, ...records.notes].join('; ');
    return line(id, title, 'not-checked', detail, clearRecords(records.folder));
  }
  const accepted = subject.verdict === 'accepted' ? `, with ${plural(subject.deviations, 'accepted deviation')}` : '';
  return line(id, title, 'ok', `${of}, verified${accepted}${isReal ? '' : '; SIMULATED ROBOT: not an acceptance'}`);
}

export function newestOf({ records }: KeptRecords, checklist: string) {
  return records.find(({ record }) => record.checklist.name === checklist);
}
