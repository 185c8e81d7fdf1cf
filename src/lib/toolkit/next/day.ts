import { stat } from 'node:fs/promises';
import { endOfIdentity, loadIdentity } from '../../enrolment/index.ts';
import { asGwError } from '../../error/index.ts';
import { readTabletRecord, redLineOf } from '../../kiosk/index.ts';
import { trialKinds, trialOfFact } from '../../motion/index.ts';
import { mapOfPlace, readSecret } from '../../site/index.ts';
import { runToResume } from '../checklist/finished-record.ts';
import { type KeptRecords, keptRecords } from '../checklist/kept-records.ts';
import { checkKeptRecord } from '../checklist/record-check.ts';
import type { Status } from '../gateway/status.result.ts';
import { readStatus } from '../gateway/status.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import type { DayStep } from './next.result.ts';

/** What a look has found. */
type Look = Pick<DayStep, 'verdict' | 'detail'> & Partial<Pick<DayStep, 'command' | 'atHand'>>;

interface World extends Toolkit {
  readonly status: Status;
  readonly kept: KeptRecords;
  readonly context: CheckContext;
}

const done = (detail: string): Look => ({ verdict: 'ok', detail });
const open = (detail: string, command: string | null, ...atHand: string[]): Look => ({
  ...{ verdict: 'wrong', detail, command, atHand },
});
const unknown = (detail: string, command: string | null, ...atHand: string[]): Look => ({
  ...{ verdict: 'not-checked', detail, command, atHand },
});
const notSetUp = (key: string): Look => ({ verdict: 'not-applicable', detail: `no \`${key}\` in the site file` });

const PASSWORD = 'a file with the device password for the day, readable for its owner only: device-password.txt';

/** The steps of a commissioning day after the site file, each with how its state is seen. */
const day: Readonly<Record<string, { readonly title: string; look(world: World): Look | Promise<Look> }>> = {
  identity: { title: 'Identity in the cloud', look: identity },
  password: { title: 'Device password', look: password },
  gateway: { title: 'The gateway runs', look: gateway },
  chassis: { title: 'The chassis is connected', look: chassis },
  stop: { title: 'No stop is set', look: stop },
  trials: { title: 'Trials of what orders rely on', look: trials },
  premises: {
    title: 'Checklist at the premises',
    look: (world) => checklist(world, 'premises', PASSWORD, 'a person at the cloud account, for three of its steps'),
  },
  tablet: { title: 'Tablet set up and locked', look: tablet },
  places: { title: 'Stations and dock of this site, with their map', look: places },
  site: {
    title: 'Checklist at the site',
    look: (world) =>
      checklist(
        world,
        'site',
        PASSWORD,
        "for the network from outside: `--probe-from USER@HOST`, a host of the customer's IT",
      ),
  },
  handover: { title: 'Handover to the customer', look: handover },
  service: { title: 'Since the handover', look: service },
};

/** Each step of the day as it is now; a look that fails itself has checked nothing. Throws the reason of the signal. */
export async function dayOf(toolkit: Toolkit, context: CheckContext): Promise<DayStep[]> {
  const { status } = await readStatus(toolkit, {}, context);
  const world: World = { ...toolkit, status, kept: await keptRecords(toolkit), context };
  const steps: DayStep[] = [];
  for (const [id, { title, look }] of Object.entries(day)) {
    const found = await Promise.resolve(world)
      .then(look)
      .catch((error: unknown) => {
        context.signal.throwIfAborted();
        return unknown(asGwError(error).message, 'gw doctor');
      });
    steps.push({ id, title, command: null, atHand: [], ...found });
  }
  return steps;
}

async function identity({ site, clock }: World): Promise<Look> {
  const { enrolment, chassis: robot } = site;
  if (enrolment === undefined) return notSetUp('enrolment');
  const present = await loadIdentity(enrolment.identityDir);
  const code = `the one-time code for ${robot.serial}, from the cloud operator`;
  if (present === null) return open('this device is not enrolled', 'gw enrol', code);
  if (present.serial !== robot.serial) {
    return open(`it is that of ${present.serial}`, 'gw enrol --renew', code, 'docs/replacement.md: a replaced chassis');
  }
  const { status, detail } = endOfIdentity(present, clock.wall());
  if (status === 'not-yet-valid') return open(detail, 'timedatectl', 'the right time');
  if (status !== 'ok') return open(detail, 'gw enrol --renew', code);
  return done(detail);
}

async function password({ site }: World): Promise<Look> {
  const { passwordFile } = site.operator;
  if (passwordFile === undefined) {
    const key = `first the key in ${site.path}: operator.passwordFile: secrets/password`;
    return open('the site file names no file for it', 'gw operator password', key);
  }
  const isThere = await stat(passwordFile).then(
    ({ size }) => size > 0,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  if (!isThere) return open(`there is none in ${passwordFile}`, 'gw operator password');
  const { parsePasswordHash } = await import('../../operator/index.ts');
  // With anything else in it, or readable for others, no person can sign in.
  const hash = parsePasswordHash(await readSecret(passwordFile, 'operator.passwordFile'));
  return hash === null
    ? open(`${passwordFile} holds no password hash`, 'gw operator password')
    : done(`set in ${passwordFile}`);
}

const START = 'on an installed gateway: sudo systemctl start gw';

function gateway({ status, site }: World): Look {
  if (status.source === 'chassis') return open('none answers on this machine', 'gw serve', START);
  if (status.site.serial !== site.chassis.serial) {
    const detail = `the one that runs is of ${status.site.serial}, the site file of ${site.chassis.serial}`;
    return open(detail, 'sudo systemctl restart gw');
  }
  return done(`gw ${status.gateway?.version ?? 'of an unknown version'}`);
}

/** What the running gateway of this robot says; null: none does, and the steps before say so. */
const robotOf = ({ status, site }: World) =>
  status.source === 'gateway' && status.site.serial === site.chassis.serial ? status : null;

const NO_GATEWAY = unknown('no gateway of this robot runs', null);

function chassis(world: World): Look {
  const status = robotOf(world);
  if (status === null) return NO_GATEWAY;
  const { robot } = status;
  if (robot?.from !== 'connection') return open(status.headline, 'gw chassis address');
  const { serial } = world.site.chassis;
  if (robot.serial !== serial) return open(`it is ${robot.serial}, the site file names ${serial}`, 'gw site check');
  return done(`${serial}, software ${robot.software ?? 'not reported'}`);
}

function stop(world: World): Look {
  const latch = robotOf(world)?.stop ?? null;
  if (latch === null) return NO_GATEWAY;
  if (!latch.latched) return done('not set');
  const who = latch.by === null ? '' : `, by ${latch.by}`;
  return open(
    `the robot is stopped${who}: ${latch.reason ?? 'no reason given'}`,
    'gw motion clear',
    'find out why first',
  );
}

function trials(world: World): Look {
  const status = robotOf(world);
  if (status === null || status.gate === null) return NO_GATEWAY;
  if (status.robot?.from !== 'connection') return unknown('the chassis is not connected', null);
  const { lacks, isOpen, reasons } = status.gate;
  const latched = status.stop?.latched === true;
  const missing = trialKinds.find((kind) => lacks.some((fact) => isDecidedBy(kind, fact)));
  if (missing === undefined && lacks.length > 0) {
    return open(`not verified on this robot: ${lacks.join(', ')}`, 'gw evidence list --site', 'no trial decides these');
  }
  // A fact that was contradicted here lacks no trial, and closes the gate all the same.
  if (missing === undefined && !isOpen && !latched)
    return open(`the gate is closed: ${reasons.join('; ')}`, 'gw status');
  if (missing === undefined && !isOpen) return unknown('the gate is closed by the stop', null);
  if (missing === undefined)
    return done(`every fact is verified for software ${status.robot.software ?? 'not reported'}`);
  const distance = missing === 'move' ? ' --distance 0.6' : '';
  return open(
    `${lacks.length} facts that orders rely on are not verified on this robot`,
    `gw evidence verify ${missing}${distance} --robot-will-move --space-free --emergency-stop-in-hand --who NAME`,
    'a hand on the emergency stop, 2 m free ahead of the robot',
  );
}

const isDecidedBy = (kind: string, fact: string) =>
  Object.entries(trialOfFact).some(([id, trial]) => id === fact && trial === kind);

async function checklist(world: World, list: string, ...atHand: string[]): Promise<Look> {
  const { path, endedAt, findings, verdict } = await checkKeptRecord(world, { list }, world.context);
  if (verdict === 'ok') return done(`${path}, of ${endedAt}, complete, signed, verified`);
  const why = findings.find((one) => one.verdict !== 'ok')?.detail ?? 'not checked';
  const begun = await runToResume(world.site, list);
  const line = `gw checklist run ${list}${begun === null ? '' : ' --resume'} --robot-will-move --initials KM --password-file device-password.txt`;
  const since = begun === null ? why : `begun at ${begun}; ${why}`;
  return open(since, line, ...atHand);
}

async function tablet({ site }: World): Promise<Look> {
  if (site.tablet === undefined) return notSetUp('tablet');
  const record = await readTabletRecord(site.stateDir);
  const setup = 'gw kiosk setup --after-restart';
  if (record === null) return open('no tablet was seen yet', setup, 'the tablet, with ADB over TCP enabled once');
  const red = redLineOf(record);
  if (red !== null) return open(red.detail, 'gw kiosk status', red.remedy);
  const { reading, bridge } = record;
  if (reading === null) return open('its settings were never read', setup);
  const { verdict, observed, doubts } = reading;
  if (verdict !== 'as-profile') return open(`at its last reading, ${observed.at}: ${verdict}`, setup);
  const since = doubts.map(({ id }) => id).join(', ');
  // A closed tablet cannot be read again, so this never becomes ok.
  return unknown(
    `as its profile at ${observed.at}, closed at ${bridge.observed.at}${since === '' ? '' : `, since then ${since}`}: remembered`,
    null,
  );
}

function places({ site }: World): Look {
  const { stations, dock, maps } = site;
  if (Object.keys(stations).length === 0 && dock === undefined) {
    const keys = `stations and dock in ${site.path}, as measured here`;
    return open(
      'the site file names neither a station nor the dock',
      'gw site map --measured-on-it',
      keys,
      'stand beside the robot',
    );
  }
  if (Object.keys(maps).length === 0) {
    return open('no map that they were measured in', 'gw site map --measured-on-it', 'stand beside the robot');
  }
  const named = [...Object.entries(stations), ...(dock === undefined ? [] : [['dock', dock] as const])];
  const apart = named.filter(([, place]) => mapOfPlace(site, place)?.ofRobot !== undefined);
  if (apart.length > 0) {
    const names = apart.map(([name]) => name).join(', ');
    return open(`measured with the robot before: ${names}`, 'gw site map --measured-on-it', 'stand beside the robot');
  }
  return done(`${Object.keys(stations).length} stations, maps ${Object.keys(maps).join(', ')}`);
}

async function handover(world: World): Promise<Look> {
  const site = world.kept.records.find(({ subject }) => subject.checklist === 'site');
  const report =
    site === undefined ? [] : [`the report, printed: gw checklist report ${site.path} --lang de --out abnahme.pdf`];
  const found = await checklist(
    world,
    'handover',
    ...report,
    'a person of the customer, and a new device password, set together: gw operator password',
  );
  return found.command === undefined
    ? found
    : { ...found, command: found.command?.replace(' --robot-will-move', '') ?? null };
}

/** A software that was never checked here is the one change that gw sees by itself. */
async function service(world: World): Promise<Look> {
  const { kept, status } = world;
  const last = kept.records.find(({ subject }) => ['handover', 'service'].includes(subject.checklist));
  const handedOver = kept.records.some(({ subject }) => subject.checklist === 'handover');
  if (!handedOver || last === undefined) return { verdict: 'not-applicable', detail: 'not handed over yet' };
  const then = last.robot.software?.value ?? null;
  const now = status.robot?.from === 'connection' ? status.robot.software : null;
  const run = 'gw checklist run service --robot-will-move --initials KM --password-file device-password.txt';
  if (then === null || now === null) return unknown('the software then or now is not known', run, PASSWORD);
  if (then !== now) return open(`the software is ${now}, at the last check it was ${then}`, run, PASSWORD);
  if (last.subject.checklist === 'service') {
    const record = await checklist(world, 'service', PASSWORD);
    if (record.verdict !== 'ok') return record;
  }
  return done(`the same software, ${now}, as at the last check of ${last.record.endedAt}`);
}
