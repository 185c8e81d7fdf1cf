import type { Run } from '../model.ts';
import { enDelivery } from './delivery.ts';
import { enLabels, enUi, enWords, modes } from './en-words.ts';
import type { Format } from './format.ts';
import { enIncident } from './incident.ts';
import { enMedia } from './media.ts';
import { enService } from './service-en.ts';
import type { Texts } from './texts.ts';

const PRESS = 'Press the emergency stop on the robot.';

const topics: Readonly<Record<string, string>> = {
  '/wheel_state': 'emergency stop and control mode',
  '/slam/state': 'localisation',
  '/alerts': 'faults',
  '/planning_state': 'its drive',
};
const positioning: Readonly<Record<string, string>> = {
  lost: 'The robot has lost its position.',
  poor: 'The localisation is imprecise.',
  inactive: 'The localisation is not active.',
  mapping: 'The robot is recording a map.',
};

type Named = Pick<Run, 'kind' | 'name' | 'title'>;

const where = ({ kind, name, title }: Named, f: Format) =>
  kind === 'dock'
    ? 'to the charging station'
    : kind === 'tour'
      ? `tour ${f.named(name ?? '', title)}`
      : kind === 'drive'
        ? `to ${f.named(name ?? '', title)}`
        : '';

const although = ({ although: codes }: Run) => (codes.length === 0 ? '' : ` despite alert ${codes.join(', ')}`);

const ending = ({ state }: Pick<Run, 'state'>) => (state === 'stopped' ? 'cancelled' : 'failed');

/** Why a run did not reach its goal, as a clause. */
function failureText({ failure, failReason }: Pick<Run, 'failure' | 'failReason'>, f: Format): string {
  switch (failure?.cause) {
    case undefined:
      return failReason === null || failReason === 0 ? '' : ` (${en.failReason(failReason)})`;
    case 'missed':
      return `: the robot stands ${en.offGoal(failure.offM, failure.offDeg, f)}`;
    case 'not-proven':
      return ': the robot reports its arrival, but it is not known whether it stands at the goal';
    case 'given-up':
      return `: the robot gave it up${failReason ? ` (${en.failReason(failReason)})` : ''}`;
    case 'refused':
      return ': the robot did not accept the order';
    case 'cancelled':
      return ': not by a person';
    case 'unknown':
      return ': how it ended is not known';
    case 'interrupted':
      return ': the gateway restarted meanwhile, and how it ended is not known';
    case 'not-read':
      return '';
  }
}

const NOT_READ = 'Whether a drive failed is not known';

/** Also of a run that an incident has kept, which may be a later one. */
function failedTitle(run: (Named & Pick<Run, 'state' | 'failure'>) | null, f: Format): string {
  if (run?.failure?.cause === 'not-read') return NOT_READ;
  const hasFailed = run?.state === 'failed' || run?.state === 'stopped';
  return hasFailed ? `${capital(`drive ${where(run, f)}`)} ${ending(run)}` : 'Drive failed';
}

const stationOf = (run: Pick<Run, 'kind' | 'stations' | 'stationTitles' | 'at'>, f: Format) =>
  run.kind === 'tour' ? ` · station ${run.at + 1} of ${run.stations.length} (${goalOf(run, f)})` : '';

/** The station that a tour drives to, or is to drive to. */
const goalOf = ({ stations, stationTitles, at }: Pick<Run, 'stations' | 'stationTitles' | 'at'>, f: Format) =>
  f.named(stations[at] ?? '', stationTitles?.[at]);

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** English texts of the pages. */
export const en: Texts = {
  headline: {
    ready: () => 'Ready',
    drives: ({ run }, f) => (run === null ? 'Driving' : `Driving ${where(run, f)}`),
    paused: ({ run }, f) => (run === null ? 'Paused' : `Paused: ${where(run, f)}`),
    trial: () => 'A supervised trial is running',
    limited: () => 'Ready, with restrictions',
    failed: ({ failed, run }, f) => failedTitle(failed ?? run, f),
    'comes-to-rest': () => 'Coming to rest',
    locked: () => 'Driving is locked',
    stopped: () => 'Stopped',
    'does-not-stop': () => 'STOP set – THE ROBOT DOES NOT STOP',
    'still-moves': () => 'STOP set – the robot still moves',
    'standing-not-known': () => 'STOP set – standstill is not known',
    'not-connected': () => 'Not connected',
    connecting: () => 'Not connected yet',
    booting: ({ link }, f) =>
      `The robot is starting${link.progress === null ? '' : ` – ${f.number(link.progress * 100, 0)} %`}`,
  },
  notes: {
    'stop-latched': () => 'The stop is set.',
    'drove-on': () => 'The robot drove on after the stop. A technician must verify the stop before the next drive.',
    'standing-not-known': () =>
      'It is not known whether the robot stands: if in doubt, press the emergency stop on the robot.',
    'does-not-stop': () => `The robot does not stop although it was cancelled. ${PRESS}`,
    'still-moves': () => 'The robot still moves. If it does not stop: press the emergency stop on the robot.',
    moves: () => 'The robot moves. It accepts a drive only when it stands.',
    'standing-awaited': () => 'Whether the robot stands since the last cancel is still being checked.',
    'stop-not-kept': () => 'A stop cannot be saved at the moment. Driving stays locked until it can.',
    'pose-alarm': ({ map = null }, f) =>
      `The position of the robot${map === null ? '' : ` on the map ‘${f.titled(map)}’`} is wrong or not known. Driving stays locked until a technician sets it.`,
    'map-unknown': () => 'The robot does not report which map it uses.',
    'map-unnamed': () => 'The map of the stations is not entered. Driving stays locked until a technician enters it.',
    'other-map': ({ map, measured }, f) =>
      `The robot is on the map ‘${f.titled(map)}’; the stations belong to the map ‘${f.titled(measured)}’.`,
    'map-changed': ({ map }, f) =>
      `The map ‘${f.titled(map)}’ has changed since the stations were measured. A technician must check them.`,
    'other-robot': ({ map }, f) =>
      `The stations on the map ‘${f.titled(map)}’ were measured with another robot. A technician must check them with this one.`,
    'no-pose': () => 'The position is not known: the robot reports no current one.',
    'unowned-move': ({ moveId, isBeingCancelled }) =>
      `The robot is driving by an order of another program (no. ${moveId}).${
        isBeingCancelled ? ' It is being cancelled.' : ' Other drives are locked until its end.'
      }`,
    unreadable: ({ topic }) =>
      `The robot reports something unreadable about ${
        topics[topic] ?? 'its state'
      }: locked until a readable message arrives.`,
    'unit-radians': () =>
      'The robot reports its heading in radians instead of degrees. Driving stays locked until a technician has checked that.',
    'unit-doubtful': () => 'It is doubtful whether the robot reports its heading in degrees.',
    'heading-misfit': () =>
      'The reported heading does not fit the drive: unit, direction of rotation or zero direction are doubtful.',
    'emergency-stop': () => 'The emergency stop is pressed.',
    'wheels-released': () => 'The wheels are released.',
    'control-mode': ({ mode }) => `The robot accepts no drives: its control mode is ${modes[mode] ?? `'${mode}'`}.`,
    positioning: ({ state }) => positioning[state] ?? 'The localisation is disturbed.',
    battery: ({ isCritical, percent }, f) =>
      `The battery is ${isCritical ? 'almost empty' : 'low'}: ${f.number(percent, 0)} %.`,
    'battery-contradictory': ({ percent }, f) =>
      `The battery data contradict each other: 'full' at ${f.number(percent, 0)} %.`,
    alerts: ({ alerts, more }) => `Alerts of the robot: ${alerts.join('; ')}${more === 0 ? '' : ` and ${more} more`}.`,
    'not-checked': ({ conditions }) => `Not checked: ${conditions.map((id) => en.conditions[id] ?? id).join(', ')}.`,
    'late-answers': () => "The robot answered too late or not at all. Details on the page 'Service'.",
    complaints: ({ count }) => `Faulty messages of the robot: ${count}. Details on the page 'Service'.`,
    facts: () => 'The robot must not drive yet. Please call the technician.',
    'gate-closed': () => 'The robot must not drive now. Please call the technician.',
    'not-connected': () => 'The robot is not connected. Please call the technician if this continues.',
    'robot-starting': () => 'This takes some minutes. Then the robot is back by itself.',
    'link-starting': () => 'The connection to the robot is being established.',
    'evidence-revoked': () => "Evidence was withdrawn. Details on the page 'Service'.",
    'evidence-unreadable': () => "The evidence cannot be read. Details on the page 'Service'.",
    'service-down': () => "A part of the control is not running. Details on the page 'Service'.",
    disk: () => "Disk space is missing. Details on the page 'Service'.",
    'disk-unwritable': () => "The control cannot save anything at the moment. Details on the page 'Service'.",
    'disk-silent': () => "The disk of the control does not answer. Details on the page 'Service'.",
    'disk-not-checked': () => 'The disk of the control is not checked yet.',
    'support-not-recorded': () => "Remote support cannot be recorded. Details on the page 'Service'.",
    'cloud-away': () => "No connection to the cloud. Details on the page 'Service'.",
    'gateway-degraded': () => "The control is degraded. Details on the page 'Service'.",
  },
  failure: {
    refused: 'The device at this address rejects the connection: no service listens on this port.',
    'no-route': 'There is no route to this address.',
    'no-answer': 'No device answers at this address.',
    'unknown-name': 'The name is not known in the network.',
    'no-name-server': 'No name server answered.',
    cut: 'The connection was cut.',
    closed: 'The connection was closed without an answer.',
    other: 'The connection failed.',
    'bad-answer': 'No chassis answers at this address.',
    'wrong-device': 'Another robot answers.',
    silent: 'The connection stands, but no data arrive any more.',
  },
  conditions: {
    'emergency-stop': 'emergency stop',
    'control-mode': 'control mode',
    positioning: 'localisation',
    battery: 'battery',
    power: 'power supply',
    alerts: 'alerts',
  },
  stale: {
    'no-connection': 'outdated, no connection to the robot',
    'not-received-since-reconnect': 'outdated, not received since the reconnect',
    'too-old': 'outdated',
    'newer-rejected': 'uncertain, the newest message is faulty',
  },
  doubts: {
    'position-lost': 'invalid, position lost',
    'position-poor': 'uncertain, localisation imprecise',
    radians: 'invalid, radians instead of degrees',
    'heading-misfit': 'doubtful, does not fit the drive',
    'unit-doubtful': 'doubtful, angle unit uncertain',
    'battery-scale': 'not decided whether the robot counts to 1 or to 100',
  },
  basis: {
    measured: 'measured',
    simulated: 'on a simulator',
    stated: 'stated, not measured',
    vendor: 'from a vendor',
    assumed: 'assumed',
    'not-shown': 'not shown',
    disagreement: 'sources differ',
    here: 'measured here',
  },
  facts: {
    'angles.tracked-pose-ori': 'The robot reports its heading in degrees',
    'angles.target-ori': 'The target of a drive is given in radians',
    'angles.pose-ori': 'A pose is set in radians',
    'vendor.move.request': 'A drive is accepted as it is sent',
    'vendor.move.state': 'The robot reports the state of its drive',
    'vendor.move.cancel': 'A cancel ends the drive',
    'vendor.move.charge-target': 'The target of docking is the charging station',
    'vendor.pose.request': 'The pose is taken over as it is set',
  },
  origins: { surface: 'on an operator page', command: 'by a command', cloud: 'from the cloud' },
  refusals: {
    CHASSIS_NOT_CONNECTED: 'The robot is not connected.',
    CHASSIS_BOOTING: 'The robot is still starting.',
    CHASSIS_WRONG_DEVICE: 'Another robot answers.',
    MOTION_STOPPED: 'The stop is set. It must be cleared first.',
    MOTION_REFUSED: 'The robot must not drive now.',
    TOUR_RUNNING: 'A tour is already running or paused.',
    TOUR_NOT_RUNNING: 'No tour is running.',
    TOUR_NOT_PAUSED: 'This tour is not paused.',
    TOUR_UNKNOWN: 'There is no such tour.',
    STATION_UNKNOWN: 'There is no such station.',
    QUEUE_CLOSED: 'Nothing is running, and no delivery waits.',
    QUEUE_FULL: 'The queue is full.',
    STATE_OUTDATED: 'The state on this page was outdated. Please look at the present state and choose again.',
    NOT_CONFIRMED: "Requested, and not confirmed yet. The page 'Service' shows the state.",
    NOT_SIGNED_IN: 'This needs a sign-in.',
    SIGN_IN_FAILED: 'The password is wrong.',
    TOO_MANY_TRIES: 'Too many wrong attempts. Please wait a minute.',
    SIGN_IN_UNAVAILABLE: 'The password file of this gateway cannot be read. A technician must correct it.',
    SIGN_IN_BUSY: 'Very many sign-ins arrive at the moment. Please try again soon.',
    NOT_CONFIGURED: 'This is not set up on this gateway.',
    BAD_REQUEST: 'The request is incomplete.',
    BUSY: 'Too many requests arrive at the moment. Please try again soon.',
    NO_ANSWER: 'No answer from the gateway: it is uncertain whether the order arrived.',
  },
  found: (count) => (count === 0 ? 'No station found' : count === 1 ? 'One station found' : `${count} stations found`),
  robotsElsewhere: (count) => `Not shown: robots on another or an unknown map (${count})`,
  failReason: (code) =>
    code === 103 ? 'reason 103: invalid heading of the target' : `reason ${code}: meaning not known`,
  offGoal: (offM, offDeg, f) =>
    [
      ...(offM === null ? [] : [`${f.number(offM, 2)}\u00a0m beside the goal`]),
      ...(offDeg === null ? [] : [`turned by ${f.number(offDeg, 0)}°`]),
    ].join(' and '),
  lamps: {
    chassis: 'Chassis',
    gate: 'Motion gate',
    'stop-path': 'Stop path',
    cloud: 'Cloud',
    outbox: 'Outbox',
    release: 'Release',
    heartbeat: 'Heartbeat',
    support: 'Remote support',
    tablet: 'Tablet',
    devices: 'Doors, lifts, services',
    disk: 'Disk',
    gateway: 'Gateway',
    clock: 'Clock',
  },
  levels: { bad: 'failing', attention: 'attention', unknown: 'not checked', good: 'in order', off: 'not set up' },
  labels: enLabels,
  words: enWords,
  run: (run, f) => {
    if (run.kind === 'trial') return 'A supervised trial is running';
    if (run.kind === 'order') return 'An order is running';
    switch (run.state) {
      case 'running':
        return `Driving ${where(run, f)}${stationOf(run, f)}${although(run)} · for ${f.seconds(run.forMs)}`;
      case 'paused':
        return `Paused before station ${run.at + 1} of ${run.stations.length} (${goalOf(run, f)}), for ${f.seconds(run.forMs)} · ${where(run, f)}`;
      case 'succeeded':
        return run.kind === 'tour'
          ? `Tour ${f.named(run.name ?? '', run.title)} finished`
          : `Arrived ${where(run, f).replace(/^to /, 'at ')}`;
      case 'failed':
      case 'stopped':
        return en.failed(run, f);
    }
  },
  failed: (run, f) =>
    run.failure?.cause === 'not-read'
      ? NOT_READ
      : `${capital(`drive ${where(run, f)}${stationOf(run, f)}`)} ${ending(run)}${failureText(run, f)}`,
  failedEarlier: (count) =>
    count === 1 ? 'Another drive failed before it.' : `${count} other drives failed before it.`,
  ask: ({ kind }, label) =>
    kind === 'dock'
      ? 'Drive to the charging station?'
      : {
          tour: `Start tour ${label}?`,
          resume: `Continue tour ${label}?`,
          next: `Drive to ${label}?`,
          station: `Drive to ${label}?`,
        }[kind],
  ui: enUi,
  service: enService,
  media: enMedia,
  incident: enIncident,
  delivery: enDelivery,
};
