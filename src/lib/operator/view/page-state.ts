import { type ChassisSnapshot, type LiveValue, moveProgress } from '../../chassis/index.ts';
import { formatTried } from '../../error/index.ts';
import type { Sight } from '../../incident/index.ts';
import type { Clock } from '../../lifecycle/index.ts';
import type { MotionStatus } from '../../motion/index.ts';
import type { Live, Note, PageState, Posed } from '../../pages/index.ts';
import { mapOfPlace, type Site, titleOf } from '../../site/index.ts';
import type { Title } from '../../text/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import { alertText, positioningState } from './conditions.ts';
import { gateNotes, headlineOf, stoppedState } from './headline.ts';
import { lampsOf } from './lamps.ts';
import type { Parts } from './parts.ts';
import { createRest } from './rest.ts';
import type { RunView } from './run-view.ts';
import { screenView } from './screen.ts';
import { sightOf } from './sight.ts';

export interface PageStates {
  /** The present state, with an id of its own. */
  compose(parts: Parts): PageState;
  /** Of that state, what every pose changes. */
  pose(snapshot: ChassisSnapshot): Posed;
  /** What the memory of incidents keeps of it. */
  sight(parts: Parts): Sight;
  /** How long ago the state of this id was made; null: not by this process, or too long ago to be known. */
  ageMs(id: string): number | null;
}

/** States that an order may name; at 25 a second, the most that are sent, this is twenty seconds. */
const KEPT_STATES = 512;

/** Makes the view model of the pages. Ids are new in each process, so that a page never orders by the state of an earlier one. */
export function createPageStates(
  site: Site,
  build: string,
  clock: Pick<Clock, 'wall' | 'monotonicMs' | 'random'>,
  runs: Pick<RunView, 'now' | 'failed' | 'recent'>,
): PageStates {
  const process = Math.floor(clock.random() * 36 ** 8).toString(36);
  // Formatted here: a slow tablet needs a tenth of a second for its first use of a time zone.
  const ofDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
  const { timeZone } = ofDay.resolvedOptions();
  const madeAt = new Map<string, number>();
  const rest = createRest();
  let count = 0;

  function changing(parts: Parts): Changing {
    const motion = { ...parts.motion, standstill: rest(parts.snapshot, parts.motion.standstill) };
    return stateOf({ ...parts, motion }, { run: runs.now(motion), failed: runs.failed() }, site);
  }

  return {
    compose(parts) {
      count += 1;
      const id = `${process}-${count}`;
      madeAt.set(id, clock.monotonicMs());
      for (const old of madeAt.keys()) {
        if (madeAt.size <= KEPT_STATES) break;
        madeAt.delete(old);
      }
      const now = clock.wall();
      return {
        id,
        build,
        time: now.toISOString(),
        timeZone,
        clock: ofDay.format(now),
        site: siteView(site, parts.snapshot.values, runs.recent()),
        screen: screenView(site.operator, now),
        ...changing(parts),
      };
    },
    pose: posedOf,
    sight: (parts) => sightOf(changing(parts)),
    ageMs(id) {
      const at = madeAt.get(id);
      return at === undefined ? null : clock.monotonicMs() - at;
    },
  };
}

/** What the site file says of the robot, with the places on its map; of all maps while none was ever reported. */
function siteView(
  site: Site,
  { map: live }: Pick<ChassisSnapshot['values'], 'map'>,
  recent: readonly string[],
): PageState['site'] {
  // Also an old report: meanwhile no order passes.
  const mapUid = live.status === 'received' ? live.value.uid : null;
  const { name, chassis, contacts, dock, operator } = site;
  // A place that names no map is shown on each: the gate is closed for it, and the headline says so.
  const isHere = (place: { readonly map?: string | undefined }) => {
    const map = mapOfPlace(site, place);
    return mapUid === null || map === null || map.uid === mapUid;
  };
  const stations = Object.entries(site.stations).filter(([, place]) => isHere(place));
  const names = stations.map(([station]) => station);
  const tours = Object.entries(site.tours).filter(([, tour]) => tour.stations.every((via) => names.includes(via)));
  const contact = contacts?.operator;
  return {
    name,
    ...titleOf(site),
    serial: chassis.serial,
    contact:
      contact?.name === undefined && contact?.phone === undefined
        ? null
        : { name: contact.name ?? null, phone: contact.phone ?? null },
    stations: stations.map(([station, { title, group, xM, yM }]) => ({
      name: station,
      ...titleOf({ title }),
      ...(group !== undefined && { group }),
      ...{ xM, yM },
    })),
    recent: recent.filter((station) => names.includes(station)),
    dock: dock === undefined || !isHere(dock) ? null : { xM: dock.xM, yM: dock.yM, yawDeg: dock.yawDeg },
    tours: tours.map(([tour, { title, stations: via }]) => ({ name: tour, ...titleOf({ title }), stations: [...via] })),
    needsSignIn: operator.tourNeedsSignIn,
  };
}

type Changing = Omit<PageState, 'id' | 'build' | 'time' | 'timeZone' | 'clock' | 'site' | 'screen'>;

function stateOf(parts: Parts, { run, failed }: Pick<PageState, 'run' | 'failed'>, site: Site): Changing {
  const { snapshot, motion, delivery = null, health, support, neighbours } = parts;
  const { link, values, identity } = snapshot;
  const { stop } = motion;
  const headline = headlineOf(snapshot, motion, health, run, failed);
  const titled = mapTitles(site, values);
  return {
    headline: { ...headline, notes: headline.notes.map(titled) },
    link: {
      kind: link.kind,
      failure: link.kind === 'not-connected' ? link.failure : null,
      tried: formatTried(link.tried),
      forMs: snapshot.linkForMs,
      progress: link.kind === 'booting' ? link.progress : null,
      foundSerial: (link.kind === 'not-connected' && link.foundSerial) || null,
    },
    identity: identity && { serial: identity.serial, model: identity.model, software: identity.software },
    stop: {
      latched: stop.latched,
      state: stoppedState(snapshot, motion),
      reason: stop.reason,
      ...requester(stop.by),
      since: stop.since,
      saved: stop.saved,
      repeats: stop.repeated?.count ?? 0,
      repeatedBy: requester(stop.repeated?.last.by ?? null).by,
    },
    standing: motion.standstill.verdict,
    stopPath: {
      chassis: link.kind === 'connected' ? 'ready' : 'away',
      cancel: link.kind !== 'connected' ? 'away' : motion.standstill.isOwed ? 'awaited' : 'ready',
      disk: motion.keepingTrouble === null ? 'ready' : 'failing',
    },
    gate: {
      isOpen: motion.gate.open,
      notes: gateNotes(snapshot, motion).map(titled),
      unverified: [...(motion.gate.unverified ?? [])],
      technical: [...motion.gate.reasons],
      passable: passable(snapshot, motion),
    },
    run,
    failed,
    ...(delivery !== null && { delivery: { ...delivery, queue: [...delivery.queue] } }),
    ...posedOf(snapshot),
    battery: live(
      values.battery,
      ({ percent, orPercent, status }) => ({ percent, orPercent: orPercent ?? null, status }),
      values.battery.status === 'received' && values.battery.value.orPercent !== undefined ? ['battery-scale'] : [],
    ),
    positioning: live(values.positioning, ({ state }) => ({ quality: positioningState(snapshot), state })),
    wheels: live(values.wheels, ({ emergencyStopPressed, controlMode, wheelsReleased }) => ({
      emergencyStopPressed,
      controlMode,
      wheelsReleased: wheelsReleased ?? null,
    })),
    planning: live(values.planning, ({ moveState, actionType, failReason, failReasonText, remainingDistanceM }) => ({
      moveState,
      actionType,
      failReason,
      failReasonText,
      // What is left of a move that has ended is not driven any more.
      remainingDistanceM: moveProgress(moveState) === 'ended' ? null : remainingDistanceM,
    })),
    alerts: live(values.alerts, (alerts) => alerts.map(({ code, level, message }) => ({ code, level, message }))),
    map: live(values.map, ({ name, uid, mapVersion, overlaysVersion }) => ({
      name,
      ...titleOf(siteMap(site, { uid })),
      ...{ uid, mapVersion, overlaysVersion },
    })),
    neighbours: neighbours.robots.map(({ serial, presence, ageMs, pose, isOnThisMap, address, conflictWith }) => ({
      serial,
      presence,
      ageMs,
      // On another map, or on one that is not known, the same numbers are another place.
      pose: pose && isOnThisMap === true ? { xM: pose.xM, yM: pose.yM, yawDeg: pose.yawDeg } : null,
      isOnThisMap,
      address,
      conflictWith,
    })),
    support: supportState(support),
    lamps: lampsOf(parts, site),
  };
}

/** The entry of the site file for a map: by its uid, or by the name that commands show. */
function siteMap(
  { maps, chassis }: Pick<Site, 'maps' | 'chassis'>,
  by: { readonly uid?: string; readonly name?: Title },
) {
  const entries = Object.entries(maps);
  return entries.find(([key, map]) =>
    by.uid === undefined ? mapOfPlace({ maps, chassis }, { map: key })?.title === by.name : map.uid === by.uid,
  )?.[1];
}

/** Names of maps in notes as the site file has them in the languages of the pages. */
function mapTitles(site: Site, { map: live }: Pick<ChassisSnapshot['values'], 'map'>): (note: Note) => Note {
  const now = live.status === 'received' ? live.value : null;
  const titled = (name: Title): Title =>
    siteMap(site, now !== null && name === now.name ? { uid: now.uid } : { name })?.title ?? name;
  return (note) => {
    switch (note.code) {
      case 'other-map':
        return {
          ...note,
          map: titled(note.map),
          measured: siteMap(site, { name: note.measured })?.title ?? note.measured,
        };
      case 'map-changed':
        return { ...note, map: titled(note.map) };
      case 'pose-alarm':
        return note.map === undefined || note.map === null ? note : { ...note, map: titled(note.map) };
      default:
        return note;
    }
  };
}

function posedOf(snapshot: ChassisSnapshot): Posed {
  const { pose } = snapshot.values;
  const position = positioningState(snapshot);
  const doubts: Live<unknown>['doubts'] = [
    ...(position === 'lost' || position === 'inactive' ? ['position-lost' as const] : []),
    ...(position === 'poor' ? ['position-poor' as const] : []),
  ];
  return {
    pose: live(pose, ({ xM, yM }) => ({ xM, yM }), doubts, 'xM'),
    heading: live(pose, ({ yawDeg }): number => yawDeg, [...headingDoubts(snapshot), ...doubts], 'yawDeg'),
  };
}

const origins = [
  ['operator surface', 'surface'],
  ['gw command', 'command'],
  ['cloud', 'cloud'],
] as const;

/** Who asked for a stop, in the words of those that record it. */
function requester(by: string | null): Pick<PageState['stop'], 'origin' | 'by'> {
  if (by === null) return { origin: null, by: null };
  const [words, origin] = origins.find(([start]) => by === start || by.startsWith(`${start}, `)) ?? ['', 'other'];
  return { origin, by: by.slice(words.length).replace(/^, /, '') || null };
}

/** @source specification, 'Angles (critical rule)': degrees; a device with other values contradicts it */
function headingDoubts({ unitContradicted, poseUnit }: ChassisSnapshot): Live<unknown>['doubts'] {
  if (unitContradicted || poseUnit.verdict === 'radians') return ['radians'];
  if (poseUnit.doubt === null) return [];
  return [poseUnit.misfit === true ? 'heading-misfit' : 'unit-doubtful'];
}

function passable({ values: { alerts } }: ChassisSnapshot, { gate: { passableAlerts = [] } }: MotionStatus) {
  const active = alerts.status === 'received' ? alerts.value : [];
  return passableAlerts.map((code) => ({
    code,
    text: alertText(active.find((alert) => alert.code === code) ?? { code, message: '' }),
  }));
}

/** `part` names the part of the value whose evidence counts, where the parts differ. */
function live<T, V>(
  value: LiveValue<T>,
  read: (value: T) => V,
  doubts: Live<V>['doubts'] = [],
  part?: string,
): Live<V> {
  if (value.status === 'not-received') {
    const isUnreadable = value.rejected !== undefined;
    return { value: null, isUnreadable, ageMs: null, stale: null, doubts: [], mark: null, basis: null, source: null };
  }
  const { mark, basis, source } = (part === undefined ? undefined : value.parts?.[part]) ?? value;
  return {
    value: read(value.value),
    isUnreadable: false,
    ageMs: value.ageMs,
    stale: value.stale ? (value.staleReason ?? 'too-old') : null,
    doubts,
    mark,
    basis,
    source,
  };
}

function supportState({ status, running }: SupportView): PageState['support'] {
  if (status !== 'running' || running === null) return null;
  const { since, forMs, leftMs, services, state, open } = running;
  return { since, forMs, leftMs: Math.max(0, leftMs), services: [...services], state, open };
}
