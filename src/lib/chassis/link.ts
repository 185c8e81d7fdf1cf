import { asGwError, formatTried, type Tried } from '../error/index.ts';
import { quote } from '../json/index.ts';
import { type Clock, createBackoff, firstOf, type Log } from '../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../net/index.ts';
import { createChassisClient } from './client.ts';
import { moveProgress } from './closing.ts';
import { connectionFailureOf, failureDetail } from './failure.ts';
import { createLiveValues } from './live-values.ts';
import type { ChassisIdentity, ChassisLink, ChassisPart, ChassisSnapshot, LinkState } from './model.ts';
import type { PoseSample } from './pose-sample.ts';
import { knownTopics } from './schema.ts';
import { createTrack } from './standing/track.ts';
import type { TopicData, TopicMessage } from './topics/message.ts';
import { openTopicStream, type StreamEnd, type TopicStream } from './topics/stream.ts';
import { markHeading } from './unit/heading-mark.ts';
import { createUnitJudge, shownUnit } from './unit/judge.ts';

const MAX_KINDS = 32;
const MAX_LENGTH = 300;

export interface ChassisLinkOptions {
  readonly endpoint: Endpoint;
  readonly expectedSerial: string;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly log: Log;
  readonly secret?: string | undefined;
}

/** Project decisions: reconnect within one or two seconds of the chassis' return, with backoff. */
const RETRY = { firstMs: 250, maxMs: 1_500 };
/** A connection that lasted this long resets the backoff. */
const STABLE_MS = 2_000;
const BOOTING_MS = 500;
/** While connected, the identity is requested this often: it detects restarts and replaced devices first. */
const RECHECK_MS = 2_000;
/** Complaints closer together than this notify the listeners once. */
const COMPLAINTS_MS = 100;
/** A flooded topic stream is reported for this long, also after the reconnect. */
const FLOOD_SHOWN_MS = 60_000;

/**
 * Maintains the connection to one chassis: identity, then the topic stream, with reconnects. A chassis that is not
 * reachable is a state and never an error of the service. Another serial number at the address is refused: no topic
 * is subscribed.
 */
export function createChassisLink(options: ChassisLinkOptions): ChassisLink {
  const { endpoint, expectedSerial, dialer, clock, log, secret } = options;
  const client = createChassisClient({ endpoint, dialer, expectedSerial, secret, clock });
  const complaints = createComplaints(clock);
  const values = createLiveValues(clock);
  const track = createTrack();
  let judge = createUnitJudge();
  const listeners = new Set<{ readonly listener: () => void; readonly parts: readonly ChassisPart[] | undefined }>();
  const address: Tried = { address: endpoint.host, port: endpoint.port };
  let state: LinkState = { kind: 'connecting', tried: address };
  let stateSince = clock.monotonicMs();
  let identity: ChassisIdentity | null = null;
  let unitContradicted = false;
  let unitDoubt: string | null = null;
  let verdicts: { readonly standing: string; readonly unit: string } | undefined;
  /** By the newest message of this connection. */
  let isSaidToDrive = false;
  let current: TopicStream | null = null;
  let ending: AbortController | undefined;
  let loop: Promise<void> | undefined;
  let soon: Disposable | undefined;
  /** When the topic stream was last ended because the chassis flooded it. */
  let floodedAt: number | null = null;

  function notify(changed: readonly ChassisPart[]): void {
    if (changed.length === 0) return;
    for (const { listener, parts } of [...listeners]) {
      const isConcerned = parts === undefined || changed.some((part) => part === 'link' || parts.includes(part));
      if (!isConcerned) continue;
      try {
        listener();
      } catch (error) {
        log.error({ err: asGwError(error).message }, 'a listener of the chassis link failed');
      }
    }
  }

  function enter(next: LinkState): void {
    const failureOf = (link: LinkState) => (link.kind === 'not-connected' ? link.failure : null);
    if (next.kind !== state.kind) stateSince = clock.monotonicMs();
    if (next.kind !== state.kind || failureOf(next) !== failureOf(state)) {
      const level = next.kind === 'connected' || next.kind === 'connecting' || ending === undefined ? 'info' : 'warn';
      log[level]({}, describeLink(next));
    }
    state = next;
    if (next.kind !== 'connected') {
      values.disconnect();
      track.disconnect();
      isSaidToDrive = false;
    }
    notify(['link']);
  }

  /** Notifies in batches: a chassis may cause thousands of complaints a second. */
  function complain(what: string, isLate = false): void {
    complaints.add(what, isLate);
    soon ??= clock.after(COMPLAINTS_MS, () => {
      soon = undefined;
      notify(['complaints']);
    });
  }

  function onMessage(message: TopicMessage): void {
    switch (message.kind) {
      case 'enabled':
        return;
      case 'complaint':
        complain(message.what, message.isLate);
        // A value that became unreliable is notified at once.
        if (message.topic !== undefined) notify(values.reject(message.topic, message.what, message.said));
        return;
      case 'other':
        complain(`message of the topic ${quote(message.topic)}, which was not subscribed`);
        return;
      case 'data':
        onData(message);
    }
  }

  function onData(message: TopicData): void {
    if (message.topic === '/tracked_pose') {
      const { ori, pos } = message.data;
      const pose = { ori, xM: pos[0], yM: pos[1], atMs: clock.monotonicMs() };
      track.add(pose, isSaidToDrive);
      judgeUnit(pose);
    }
    if (message.topic === '/planning_state') isSaidToDrive = moveProgress(message.data.move_state) === 'under-way';
    if (message.topic === '/map/info' && isOtherMap(message.data)) track.interrupt();
    const changed = values.update(message);
    notify([...(changed === null ? [] : [changed]), ...changedVerdicts()]);
  }

  /** Since they were last asked for. */
  function changedVerdicts(): readonly ChassisPart[] {
    const poseUnit = judge.verdict();
    const { verdict, shown, misfit, doubt } = poseUnit;
    const { standing, unit } = verdicts ?? {};
    verdicts = {
      standing: track.standing(clock.monotonicMs(), shownUnit(poseUnit)).verdict,
      unit: `${verdict} ${shown} ${misfit} ${doubt}`,
    };
    return [
      ...(standing === verdicts.standing ? [] : (['standing'] as const)),
      ...(unit === verdicts.unit ? [] : (['unit'] as const)),
    ];
  }

  /** The poses from here on do not continue those on the map of before. */
  function isOtherMap({ uid, map_version }: { readonly uid: string; readonly map_version: number | null }): boolean {
    const { map } = values.values();
    return map.status === 'received' && (map.value.uid !== uid || map.value.mapVersion !== map_version);
  }

  function judgeUnit(pose: PoseSample): void {
    if (unitContradicted) return;
    judge.add(pose);
    const { verdict, reason, doubt } = judge.verdict();
    if (doubt !== unitDoubt) {
      if (doubt === null) log.info({}, `/tracked_pose carries ${verdict}: ${reason}`);
      else log.warn({}, `unit of /tracked_pose is in doubt (degrees were measured): ${doubt}`);
      unitDoubt = doubt;
    }
    if (verdict !== 'radians') return;
    unitContradicted = true;
    log.error({}, `/tracked_pose carries radians, measured were degrees: ${reason}`);
  }

  /** Another software version may report another unit, so the earlier verdict does not hold for it. */
  function adopt(found: ChassisIdentity): void {
    if (identity !== null && identity.software !== found.software && !unitContradicted) {
      judge = createUnitJudge();
      unitDoubt = null;
    }
    identity = found;
  }

  /** Connects once and returns when the connection has ended. Throws why it could not connect. */
  async function connect(signal: AbortSignal): Promise<{ readonly end: StreamEnd; readonly connectedMs: number }> {
    const found = await client.identity(signal);
    judge.interrupt();
    adopt(found);
    using stream = await openTopicStream({
      endpoint,
      dialer,
      clock,
      secret,
      signal,
      topics: knownTopics,
      listForm: found.capabilities.supportsEnableTopicList === true,
      onMessage,
    });
    const began = clock.monotonicMs();
    current = stream;
    values.connect();
    enter({ kind: 'connected', tried: stream.tried });
    const checking = new AbortController();
    try {
      const end = await Promise.race([stream.ended, recheck(firstOf(signal, checking.signal))]);
      signal.throwIfAborted();
      return { end, connectedMs: clock.monotonicMs() - began };
    } finally {
      current = null;
      checking.abort();
    }
  }

  /**
   * Never resolves; throws when the device was replaced, restarts, or stops answering as a chassis. A late or lost
   * answer alone is a complaint: the stream is the source of state and has its own heartbeat.
   */
  async function recheck(signal: AbortSignal): Promise<never> {
    for (;;) {
      await clock.sleep(RECHECK_MS, signal);
      try {
        adopt(await client.identity(signal));
      } catch (error) {
        if (signal.aborted || asGwError(error).code !== 'CHASSIS_NOT_CONNECTED') throw error;
        const isLate = connectionFailureOf(error) === 'no-answer';
        complain(`GET /device/info failed while the topic stream was connected: ${failureDetail(error)}`, isLate);
      }
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(RETRY, clock);
    while (!signal.aborted) {
      try {
        const { end, connectedMs } = await connect(signal);
        const { failure, detail, isFlood = false } = end;
        if (isFlood) floodedAt = clock.monotonicMs();
        else if (connectedMs >= STABLE_MS) backoff.reset();
        enter({ kind: 'not-connected', failure, detail, tried: address });
      } catch (error) {
        if (signal.aborted) return;
        enter(stateOf(error, address));
      }
      if (state.kind === 'booting') backoff.reset();
      await clock.sleep(state.kind === 'booting' ? BOOTING_MS : backoff.nextMs(), signal);
    }
  }

  async function stop(): Promise<void> {
    const own = ending;
    ending = undefined;
    own?.abort();
    soon?.[Symbol.dispose]();
    soon = undefined;
    await loop;
    await client[Symbol.asyncDispose]();
  }

  return {
    name: 'chassis',
    client,
    async start({ signal, fail }) {
      await stop();
      const own = new AbortController();
      ending = own;
      enter({ kind: 'connecting', tried: address });
      const whole = firstOf(signal, own.signal);
      loop = run(whole)
        .catch((error: unknown) => {
          if (!whole.aborted) fail(error);
        })
        .finally(() => {
          enter({
            kind: 'not-connected',
            failure: 'other',
            detail: 'the chassis link of gw is stopped',
            tried: address,
          });
        });
    },
    stop,
    describe() {
      const doubt = unitDoubt === null ? '' : '; the unit of /tracked_pose is in doubt';
      const wasFlooded = floodedAt !== null && clock.monotonicMs() - floodedAt < FLOOD_SHOWN_MS;
      const flood =
        wasFlooded && state.kind === 'connected' ? '; the chassis flooded the topic stream within the last minute' : '';
      return `${describeLink(state)}${doubt}${flood}`;
    },
    snapshot() {
      const poseUnit = judge.verdict();
      return {
        link: state,
        linkForMs: Math.round(clock.monotonicMs() - stateSince),
        roundTripMs: current?.roundTripMs() ?? null,
        identity,
        values: markHeading(values.values(), poseUnit, unitContradicted),
        poses: track.poses(),
        standing: track.standing(clock.monotonicMs(), shownUnit(poseUnit)),
        poseUnit,
        unitContradicted,
        complaints: complaints.list(),
      };
    },
    state: () => state,
    poseWasSet() {
      track.interrupt();
    },
    subscribe(listener, parts) {
      // An entry of its own, so that the same listener may be given twice.
      const entry = { listener, parts };
      listeners.add(entry);
      return { [Symbol.dispose]: () => listeners.delete(entry) };
    },
  };
}

/** The oldest complaint with one occurrence, so that a flood of unique texts does not evict repeated ones. */
function evictable(seen: ReadonlyMap<string, { readonly count: number }>): string | undefined {
  const newest = [...seen.keys()].at(-1);
  for (const [what, { count }] of seen) if (count === 1 && what !== newest) return what;
  return seen.keys().next().value;
}

/** Faults of received messages: each text once with its count, bounded. */
function createComplaints(clock: Clock) {
  const seen = new Map<string, { count: number; at: number; isLate: boolean }>();
  return {
    add(what: string, isLate: boolean): void {
      const key = what.slice(0, MAX_LENGTH);
      const count = (seen.get(key)?.count ?? 0) + 1;
      // Deleted first, so that the order is that of the last occurrence.
      seen.delete(key);
      seen.set(key, { count, at: clock.monotonicMs(), isLate });
      if (seen.size > MAX_KINDS) seen.delete(evictable(seen) ?? key);
    },
    /** Newest last. */
    list(): ChassisSnapshot['complaints'] {
      const now = clock.monotonicMs();
      return [...seen].map(([what, { at, ...rest }]) => ({ what, ...rest, ageMs: Math.round(now - at) }));
    },
  };
}

/** The link state for a connection error; an internal error is rethrown. */
function stateOf(error: unknown, address: Tried): LinkState {
  const gwError = asGwError(error);
  if (gwError.code === 'INTERNAL') throw error;
  const tried = gwError.tried ?? address;
  if (gwError.code === 'CHASSIS_BOOTING') {
    const { progress, step } = gwError.details ?? {};
    return {
      kind: 'booting',
      progress: typeof progress === 'number' ? progress : null,
      step: typeof step === 'string' ? step : null,
      tried,
    };
  }
  const foundSerial = gwError.details?.foundSerial;
  return {
    kind: 'not-connected',
    failure: connectionFailureOf(error),
    detail: failureDetail(error),
    tried,
    ...(typeof foundSerial === 'string' && { foundSerial }),
  };
}

/** One line of text; names the address tried unless connected. */
function describeLink(state: LinkState): string {
  switch (state.kind) {
    case 'connecting':
      return `connecting to ${formatTried(state.tried)}`;
    case 'not-connected':
      return `not connected: tried ${formatTried(state.tried)}: ${state.detail}`;
    case 'booting': {
      const done = state.progress === null ? '' : `, ${Math.round(state.progress * 100)} % done`;
      return `the chassis is starting${done}: ${formatTried(state.tried)}`;
    }
    case 'connected':
      return `connected: ${state.tried.address}:${state.tried.port}`;
  }
}
