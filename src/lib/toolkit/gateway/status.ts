import { asGwError, formatTried, type GwError } from '../../error/index.ts';
import { type PageState, pageStateSchema, stateTexts } from '../../pages/index.ts';
import { linkOf } from '../chassis/address.ts';
import { listIncidents } from '../incident/list.ts';
import { gatewayAccess } from '../operator/local-access.ts';
import type { CheckContext, Toolkit } from '../toolkit.ts';
import { type CheckVerdict, conclude, type Deciding } from '../verdict.ts';
import { newestRecord } from './newest-record.ts';
import type { Status, StatusPart } from './status.result.ts';

export interface StatusOptions {
  /** Host of the operator server; by default this machine. */
  readonly host?: string | undefined;
}

export interface StatusResult {
  readonly status: Status;
  /** Why the gateway could not be asked; null: it answered. */
  readonly error: GwError | null;
}

/**
 * The present state of this robot as its gateway sees it, in one answer. Where no gateway answers, the chassis itself is
 * looked at, which shows neither the stop nor the gate. Throws the errors of the access but OPERATOR_NOT_REACHABLE.
 */
export async function readStatus(
  toolkit: Toolkit,
  options: StatusOptions,
  context: CheckContext,
): Promise<StatusResult> {
  const record = await newestRecord(toolkit);
  try {
    const access = await gatewayAccess(toolkit, context, options.host);
    const state = await access.askEvent('/api/events', 'state', pageStateSchema);
    const now = toolkit.clock.wall();
    const times = { gatewayMs: Date.parse(state.time), ownMs: now.getTime() };
    const incidents = await incidentsSince(record, times, toolkit, options, context);
    return { status: ofGateway(state, { record, incidents, ...seenFrom(toolkit, now) }), error: null };
  } catch (error) {
    const gwError = asGwError(error);
    if (gwError.code !== 'OPERATOR_NOT_REACHABLE') throw error;
    return { status: await ofChassis(toolkit, gwError, record, context), error: gwError };
  }
}

type Seen = Pick<Status, 'at' | 'way' | 'ssh'>;

function seenFrom({ dialer }: Toolkit, now: Date): Seen {
  return { at: now.toISOString(), way: dialer.way, ssh: linkOf(dialer) };
}

function ofGateway(state: PageState, given: Seen & Pick<Status, 'record' | 'incidents'>): Status {
  const texts = stateTexts(state);
  const { headline, link, identity, stop, gate } = state;
  const parts = state.lamps.map((lamp): StatusPart => {
    const rows = (...labels: string[]) => labels.flatMap((label) => texts.rows(lamp, label));
    // What was seen of a device is no more than a connection, so it is said also where it was.
    const isSound = (lamp.level === 'good' && lamp.id !== 'devices') || lamp.level === 'off';
    return {
      id: lamp.id,
      level: lamp.level,
      ...texts.lamp(lamp),
      details: isSound
        ? []
        : rows('lastError', 'technical', 'services', 'conflict', 'stateFolder', 'mediaFolder', 'devices'),
      remedies: rows('remedy'),
    };
  });
  const gateway = state.lamps.find(({ id }) => id === 'gateway');
  const isConnected = link.kind === 'connected';
  const aheadMs = Date.parse(state.time) - Date.parse(given.at);
  const chassis = parts.find(({ id }) => id === 'chassis');
  return {
    ...given,
    verdict: judgeStatus(state, given.incidents),
    source: 'gateway',
    headline: texts.headline,
    code: headline.code,
    notes: texts.notes,
    mayDrive: gate.isOpen && isConnected && !stop.latched ? 'yes' : 'no',
    site: { name: state.site.name, serial: state.site.serial },
    robot: identity && {
      ...identity,
      from: isConnected ? 'connection' : 'remembered',
      ageMs: isConnected ? link.forMs : null,
    },
    chassis: {
      state: (chassis?.state ?? link.kind).replace(/ since .*/, ''),
      tried: link.tried,
      forMs: link.forMs,
      detail: chassis?.details[0] ?? null,
    },
    stop: {
      latched: stop.latched,
      by: [stop.origin, stop.by].filter((one) => one !== null).join(', ') || null,
      reason: stop.reason,
      since: stop.since,
      ageMs: sinceMs(stop.since, state.time),
      saved: stop.saved,
    },
    gate: { isOpen: gate.isOpen, reasons: texts.gateNotes, lacks: gate.unverified },
    battery: batteryOf(state.battery, texts.batteryDoubt, isConnected),
    run: texts.run,
    parts,
    gateway: {
      version: (gateway && texts.rows(gateway, 'version')[0]) ?? null,
      upFor: (gateway && texts.rows(gateway, 'upFor')[0]) ?? null,
      clockAheadMs: Number.isFinite(aheadMs) ? aheadMs : null,
    },
    remedies: [...new Set([...remediesOf(state), ...parts.flatMap(({ remedies }) => remedies)])],
  };
}

/** Both by the wall clock of the gateway; null where that was set in between, or a time cannot be read. */
function sinceMs(at: string | null, now: string): number | null {
  const ms = Date.parse(now) - Date.parse(at ?? '');
  return ms >= 0 ? ms : null;
}

function batteryOf(battery: PageState['battery'], inWords: string | null, isConnected: boolean): Status['battery'] {
  const { value, ageMs, isUnreadable } = battery;
  const gone = isUnreadable ? 'unreadable' : value === null ? 'not received' : null;
  const doubt = gone ?? (isConnected ? inWords : 'no connection');
  return { percent: value?.percent ?? null, status: value?.status ?? null, ageMs, doubt };
}

/**
 * What stays out of the verdict as long as it is not checked: a tablet may show another page, no drive needs a door or a lift,
 * and the time is read only where the site file says so.
 */
function isLeftOut({ id, level, state }: Pick<PageState['lamps'][number], 'id' | 'level' | 'state'>): boolean {
  if (level !== 'unknown') return false;
  const isWithoutTime = state.some((cell) => 'word' in cell && cell.word === 'no-time-source');
  return id === 'tablet' || id === 'devices' || (id === 'clock' && isWithoutTime);
}

/** Of the robot and of every part that is set up. What calls for attention and does not fail is named, and decides by the headline. */
export function judgeStatus(
  { headline, lamps }: Pick<PageState, 'headline' | 'lamps'>,
  incidents: Pick<Status['incidents'], 'status'>,
): CheckVerdict {
  const parts = lamps
    .filter((one) => !isLeftOut(one))
    .map(({ level }): Deciding => {
      if (level === 'bad') return { verdict: 'wrong' };
      if (level === 'off') return { verdict: 'not-applicable' };
      return { verdict: level === 'unknown' ? 'not-checked' : 'ok' };
    });
  const isOpenOnly = headline.notes.length > 0 && headline.notes.every(({ code }) => code === 'not-checked');
  const robot =
    headline.level === 'good' ? 'ok' : headline.level === 'attention' && isOpenOnly ? 'not-checked' : 'wrong';
  return conclude([{ verdict: robot }, ...parts, { verdict: incidents.status === 'listed' ? 'ok' : 'not-checked' }]);
}

function remediesOf({ headline, gate, stop, failed }: PageState): string[] {
  const remedies: (string | false)[] = [
    headline.code === 'not-connected' && 'Find out why with `gw chassis address`.',
    headline.code === 'does-not-stop' && 'Press the emergency stop on the robot.',
    headline.code === 'still-moves' && 'If it does not stop, press the emergency stop on the robot.',
    failed !== null &&
      'Look where the robot stands and what keeps it, then confirm on its page that the failed drive was seen.',
    stop.latched && 'Find out why it was stopped, then clear the stop with `gw motion clear`.',
    gate.unverified.length > 0 && 'Verify the missing facts on this robot with `gw evidence verify`.',
  ];
  return remedies.filter((remedy) => remedy !== false);
}

/** Project decision: up to such a difference two clocks count as one. */
const SAME_CLOCK_MS = 60_000;

async function incidentsSince(
  record: Status['record'],
  { gatewayMs, ownMs }: { readonly gatewayMs: number; readonly ownMs: number },
  toolkit: Toolkit,
  { host }: StatusOptions,
  context: CheckContext,
): Promise<Status['incidents']> {
  const since = record.status === 'found' ? record.endedAt : null;
  const list = await listIncidents(toolkit, { host }, context).catch((error: unknown) => {
    context.signal.throwIfAborted();
    return asGwError(error);
  });
  if (list instanceof Error) {
    return { status: 'not-checked', count: null, since, newest: null, detail: list.message };
  }
  const later = list.incidents.filter(({ at }) => since === null || Date.parse(at) > Date.parse(since));
  const [newest] = later;
  const lost = [
    list.folderProblem,
    list.unreadable > 0 ? `${list.unreadable} cannot be read` : null,
    list.notKept && `${list.notKept.count} not kept: ${list.notKept.reason}`,
    // The record has the time of this machine, the incidents have that of the gateway.
    since !== null && !(Math.abs(gatewayMs - ownMs) <= SAME_CLOCK_MS)
      ? 'the clocks of the gateway and of this machine differ, so which incidents were after the record is not decided'
      : null,
    since !== null && Date.parse(since) > ownMs + SAME_CLOCK_MS
      ? 'the record is dated in the future, so which incidents were after it is not decided'
      : null,
  ].filter((one) => one !== null);
  return {
    status: lost.length === 0 ? 'listed' : 'not-checked',
    count: later.length,
    since,
    newest:
      newest === undefined
        ? null
        : {
            id: newest.id,
            at: newest.at,
            ageMs: newest.ageMs ?? sinceMs(newest.at, new Date(gatewayMs).toISOString()),
            summary: newest.summary,
          },
    detail: lost.join('; ') || null,
  };
}

/** What can be looked at without a gateway: whether the chassis of the site file answers now. */
async function ofChassis(
  toolkit: Toolkit,
  { message, tried, remedy }: GwError,
  record: Status['record'],
  context: CheckContext,
): Promise<Status> {
  const { findChassis } = await import('../chassis/address.ts');
  const found = await findChassis(toolkit, {}, context).catch((error: unknown) => {
    context.signal.throwIfAborted();
    return asGwError(error);
  });
  const { site } = toolkit;
  const seen = found instanceof Error ? null : found;
  const at = tried === undefined ? '' : ` (tried ${formatTried(tried)})`;
  return {
    ...seenFrom(toolkit, toolkit.clock.wall()),
    verdict: 'not-checked',
    source: 'chassis',
    headline: 'No gateway answers',
    code: null,
    notes: [
      `${message}${at}`,
      'Whether the robot is stopped and may drive is not checked. Below is what the chassis itself answered now.',
    ],
    mayDrive: 'not-checked',
    site: { name: site.name, serial: site.chassis.serial },
    robot:
      seen?.serial.found == null
        ? null
        : { serial: seen.serial.found, model: null, software: seen.software, from: 'asked-now', ageMs: 0 },
    chassis:
      found instanceof Error
        ? {
            state: 'not-checked',
            tried: `${site.chassis.host}:${site.chassis.port}`,
            forMs: null,
            detail: found.message,
          }
        : { state: found.state, tried: formatTried(found.tried), forMs: null, detail: found.detail },
    stop: null,
    gate: null,
    battery: null,
    run: null,
    parts: [],
    gateway: null,
    incidents: {
      status: 'not-checked',
      count: null,
      since: record.endedAt,
      newest: null,
      detail: 'only the running gateway lists them',
    },
    record,
    remedies: [...new Set([remedy, seen?.remedy ?? null].filter((one) => one !== null && one !== undefined))],
  };
}
