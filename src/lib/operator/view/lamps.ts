import type { ChassisSnapshot } from '../../chassis/index.ts';
import { formatTried } from '../../error/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { Cell, Lamp, WordCode } from '../../pages/index.ts';
import type { Site } from '../../site/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import type { ClockHealth, DeviceHealth, FolderHealth, GatewayHealth } from '../health.ts';
import type { NeighboursView } from '../model.ts';
import { cloudLamp, outboxLamp, releaseLamp } from './cloud-lamps.ts';
import { gateNotes, stoppedState } from './headline.ts';
import { type CloudNow, count, lamp, type Parts, row, technical, text, word } from './parts.ts';

type Level = Lamp['level'];

const order: readonly Level[] = ['bad', 'attention', 'unknown', 'good', 'off'];

/** The parts of the robot and its gateway for the technician, worst first. */
export function lampsOf({ snapshot, motion, health, cloud, support, neighbours, viewers }: Parts, site: Site): Lamp[] {
  const lamps = [
    chassisLamp(snapshot, site),
    gateLamp(snapshot, motion),
    stopLamp(snapshot, motion),
    cloudLamp(cloud, health.certificate),
    outboxLamp(cloud),
    releaseLamp(cloud),
    heartbeatLamp(neighbours, health, site),
    supportLamp(support, cloud),
    tabletLamp(viewers, site),
    devicesLamp(health.devices ?? []),
    diskLamp(health),
    gatewayLamp(health),
    clockLamp(health.clock, cloud.now),
  ];
  return lamps.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function chassisLamp(snapshot: ChassisSnapshot, site: Site): Lamp {
  const { link, identity, linkForMs, complaints, poseUnit, unitContradicted } = snapshot;
  const isUnitBad = unitContradicted || poseUnit.verdict === 'radians';
  const isDoubtful = poseUnit.doubt !== null || complaints.length > 0;
  const level: Level = link.kind !== 'connected' || isUnitBad ? 'bad' : isDoubtful ? 'attention' : 'good';
  const unit: WordCode = isUnitBad
    ? 'unit-radians'
    : poseUnit.doubt !== null
      ? 'unit-doubtful'
      : poseUnit.verdict === 'degrees'
        ? 'unit-degrees'
        : 'unit-not-decided';
  // Another device may have the address by now.
  const read = (value: string | null) =>
    value === null ? [word('not-known')] : [text(value), ...(link.kind === 'connected' ? [] : [word('remembered')])];
  return lamp(
    'chassis',
    level,
    [word(link.kind), word('since'), { spanMs: linkForMs }],
    row('address', text(formatTried(link.tried))),
    row('lastError', link.kind === 'not-connected' ? technical(link.detail) : []),
    row('serial', identity === null ? [word('not-read')] : read(identity.serial)),
    row('serialExpected', text(site.chassis.serial)),
    row('model', identity === null ? [] : read(identity.model)),
    row('software', identity === null ? [] : read(identity.software)),
    row('poseUnit', word(unit), count(poseUnit.samples), word('samples'), technical(poseUnit.doubt ?? poseUnit.reason)),
    ...complaints.map(({ what, count: times, ageMs }) =>
      row('complaints', technical(what), count(times, '×'), { spanMs: ageMs }),
    ),
  );
}

function gateLamp(snapshot: ChassisSnapshot, motion: MotionStatus): Lamp {
  const { gate, trial } = motion;
  const notes = gateNotes(snapshot, motion).map((note): Cell => ({ note }));
  return lamp(
    'gate',
    gate.open ? 'good' : 'bad',
    gate.open ? [word('open')] : [word('locked')],
    row('reasons', notes),
    ...gate.reasons.map((reason) => row('technical', technical(reason))),
    row('run', trial === null ? [] : [word('running')]),
  );
}

function stopLamp(snapshot: ChassisSnapshot, motion: MotionStatus): Lamp {
  const { stop, standstill, keepingTrouble } = motion;
  const { kind } = snapshot.link;
  const level: Level =
    kind !== 'connected' || keepingTrouble !== null || standstill.verdict === 'drives-on' || stop.saved === false
      ? 'bad'
      : stop.latched || standstill.isOwed
        ? 'attention'
        : 'good';
  const state = stoppedState(snapshot, motion);
  const words = { stopped: 'stopped', 'drives-on': 'drives-on', moves: 'moves', 'not-known': 'not-known' } as const;
  return lamp(
    'stop-path',
    level,
    [word(kind !== 'connected' ? 'path-away' : standstill.isOwed ? 'cancel-awaited' : 'path-ready')],
    row('stop', word(stop.latched ? 'latched' : 'not-latched'), stop.reason === null ? [] : [text(stop.reason)]),
    row('stopBy', technical(stop.by), stop.since === null ? [] : [{ at: stop.since }]),
    row(
      'repeated',
      stop.repeated === null ? [] : [count(stop.repeated.count, '×'), ...technical(stop.repeated.last.by)],
    ),
    row('saved', word(stop.saved === true ? 'saved' : stop.saved === 'pending' ? 'being-saved' : 'not-saved')),
    row('standing', stop.latched ? [word(words[state])] : [word(standstill.verdict)], technical(standstill.reason)),
    row('lastError', technical(keepingTrouble?.reason)),
    row('remedy', technical(keepingTrouble?.remedy)),
  );
}

/** Whether it shows a page: by its address alone, since any browser on site may open one. */
function tabletLamp(viewers: Parts['viewers'], { tablet }: Site): Lamp {
  const host = tablet?.host;
  const isOpen = host !== undefined && viewers.onSite.includes(host);
  return lamp(
    'tablet',
    isOpen ? 'good' : tablet === undefined ? 'off' : 'unknown',
    [word(isOpen ? 'connected' : tablet === undefined ? 'not-configured' : 'not-checked')],
    row('address', host === undefined ? [] : [text(host)]),
    row('viewers', count(viewers.onSite.length)),
    row('remoteViewers', count(viewers.remote.length)),
  );
}

function heartbeatLamp(view: NeighboursView, health: GatewayHealth, site: Site): Lamp {
  if (site.fleet === undefined) return lamp('heartbeat', 'off', [word('not-configured')]);
  if (view.status === 'not-checked') {
    return lamp('heartbeat', 'unknown', [word('not-checked')], row('lastError', technical(view.detail)));
  }
  const isConflict = health.fleet.status === 'conflict';
  const received = new Set(view.robots.map(({ serial }) => serial));
  const missing = site.fleet.robots.filter((serial) => serial !== site.chassis.serial && !received.has(serial));
  const isMissing = missing.length > 0 || view.robots.some(({ presence }) => presence !== 'alive');
  // Where no other robot is known, nothing was received that could be judged.
  const level = isMissing ? 'attention' : view.robots.length === 0 ? 'unknown' : 'good';
  return lamp(
    'heartbeat',
    isConflict ? 'bad' : level,
    [word(isConflict ? 'conflict' : 'listening'), count(view.robots.length)],
    ...view.robots.map(({ serial, address, presence, ageMs }) =>
      row('robots', text(serial), word(presence), text(address), { spanMs: ageMs }),
    ),
    ...missing.map((serial) => row('robots', text(serial), word('not-received'))),
    ...view.robots.map(({ serial, conflictWith }) =>
      row('conflict', conflictWith === null ? [] : [text(serial), text(conflictWith)]),
    ),
    row('conflict', view.ownSerialFrom === null ? [] : [text(view.ownSerialFrom)]),
  );
}

function supportLamp(view: SupportView, { view: cloud }: CloudNow): Lamp {
  const { status, detail, remedy, running, records, lastEnded, lastRefused } = view;
  // The request for a session comes through the cloud link.
  const canWait = cloud.status === 'connected' && remedy === null;
  const levels: Readonly<Record<SupportView['status'], Level>> = {
    'not-configured': 'off',
    waiting: canWait ? 'good' : 'attention',
    running: 'attention',
    'not-checked': 'unknown',
  };
  const isFailing = status !== 'not-configured' && records.status === 'failing';
  const recordWords = { ok: 'written', failing: 'failing', 'not-checked': 'not-checked' } as const;
  return lamp(
    'support',
    isFailing ? 'bad' : levels[status],
    [word(status === 'waiting' && cloud.status !== 'connected' ? 'no-cloud' : status)],
    row('session', running === null ? [] : [text(running.session), { at: running.since }]),
    row('ended', lastEnded === null ? [] : [{ at: lastEnded.at }, word(lastEnded.reason)]),
    row('refused', lastRefused === null ? [] : [{ at: lastRefused.at }, word(lastRefused.reason)]),
    row('records', word(recordWords[records.status]), technical(records.status === 'ok' ? null : records.detail)),
    row('kept', records.notSentYet ? [count(records.notSentYet)] : []),
    row('technical', status === 'not-checked' ? technical(detail) : []),
    row('remedy', technical(remedy)),
  );
}

function diskLamp({ disk }: GatewayHealth): Lamp {
  const folders = Object.values(disk);
  const level: Level = folders.some(({ status }) => status === 'low' || status === 'unusable')
    ? 'bad'
    : folders.some(({ status }) => status === 'not-checked')
      ? 'unknown'
      : folders.some(({ remedy }) => remedy !== null)
        ? 'attention'
        : 'good';
  const cells = ({ path, status, freeBytes, detail, remedy }: FolderHealth): Cell[] => [
    text(path),
    word(status),
    ...(freeBytes === null ? [word('not-known')] : [count(Math.floor(freeBytes / 1e6), 'MB'), word('free')]),
    ...technical(status === 'ok' ? remedy : [detail, remedy].filter(Boolean).join(' ')),
  ];
  return lamp('disk', level, [], row('stateFolder', cells(disk.state)), row('mediaFolder', cells(disk.media)));
}

function gatewayLamp({ status, version, upForMs, services, evidence, log }: GatewayHealth): Lamp {
  const down = services.filter((service) => service.status !== 'running');
  const hasRemedy = services.some(({ remedy }) => remedy !== null);
  return lamp(
    'gateway',
    status !== 'ok' ? 'bad' : hasRemedy ? 'attention' : 'good',
    status === 'ok' ? [] : [word(status)],
    row('version', text(version)),
    row('upFor', { spanMs: upForMs }),
    row('services', down.length === 0 ? [word('all-running')] : []),
    ...services
      .filter(({ status: now, restarts, remedy }) => now !== 'running' || restarts > 0 || remedy !== null)
      .map((service) =>
        row(
          'services',
          text(service.name),
          word(service.status),
          technical([service.detail, service.lastError, service.remedy].filter(Boolean).join('; ')),
        ),
      ),
    row('evidence', word(evidence.status), technical(evidence.detail)),
    row('log', word(log.status), technical(log.detail)),
  );
}

function clockLamp(clock: ClockHealth | undefined, now: Date): Lamp {
  const status = clock?.status ?? 'not-configured';
  const levels = { ok: 'good', wrong: 'bad' } as const;
  const words = { ok: 'clock-right', wrong: 'clock-wrong', 'not-decided': 'not-decided' } as const;
  const { behindMs = null, uncertainMs = null, ageMs = null, from = [], jumps = 0, lastJump = null } = clock ?? {};
  const seconds = (ms: number): Cell => ({ number: Math.round(ms / 100) / 10, digits: 1, unit: 's' });
  return lamp(
    'clock',
    status === 'ok' || status === 'wrong' ? levels[status] : 'unknown',
    [word(status === 'not-configured' ? 'no-time-source' : status === 'not-checked' ? 'not-checked' : words[status])],
    row('gatewayTime', { at: now.toISOString() }),
    row(
      'clockOffset',
      behindMs === null
        ? []
        : [word(behindMs > 0 ? 'clock-behind' : 'clock-ahead'), seconds(Math.abs(behindMs)), text('±')],
      uncertainMs === null ? [] : [seconds(uncertainMs)],
    ),
    row('timeSource', ...from.map(text)),
    row('comparedAgo', ageMs === null ? [] : [{ spanMs: ageMs }]),
    row(
      'clockJumps',
      jumps === 0 ? [] : [count(jumps, '×')],
      lastJump === null ? [] : [{ at: lastJump.at }, seconds(lastJump.byMs)],
    ),
    row('technical', status === 'ok' || status === 'not-configured' ? [] : technical(clock?.detail)),
    row('remedy', technical(clock?.remedy)),
  );
}

/**
 * What was seen at the last look, and no more: an address that accepts a connection is no door that opens. None of them is bad,
 * since no drive of gw depends on one.
 */
function devicesLamp(devices: readonly DeviceHealth[]): Lamp {
  if (devices.length === 0) return lamp('devices', 'off', [word('not-configured')]);
  const accepting = devices.filter(({ status }) => status === 'accepts').length;
  const level = devices.some(({ status }) => status === 'not-reached')
    ? 'attention'
    : accepting < devices.length
      ? 'unknown'
      : 'good';
  const words = {
    accepts: 'device-accepts',
    'not-reached': 'device-not-reached',
    'not-checked': 'not-checked',
  } as const;
  return lamp(
    'devices',
    level,
    [text(`${accepting} / ${devices.length}`), word('devices-accept')],
    ...devices.map(({ name, kind, host, port, isHere, status, ageMs, detail }) =>
      row(
        'devices',
        kind === 'building' || kind === 'voice' ? word(kind) : text(name),
        isHere ? [word('on-this-gateway'), text(`TCP ${port}`)] : text(formatTried({ address: host, port })),
        word(words[status]),
        ageMs === null ? [] : { spanMs: ageMs },
        word(kind === 'building' || kind === 'voice' ? 'called-when-asked' : 'checked-not-used'),
        technical(status === 'accepts' ? null : detail),
      ),
    ),
  );
}
