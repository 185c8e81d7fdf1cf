import { asGwError, formatTried, type Tried } from '../error/index.ts';
import { quote } from '../json/index.ts';
import { type Clock, createBackoff, firstOf, type Log, onAbort } from '../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../net/index.ts';
import { createChassisClient } from './client.ts';
import { createComplaints } from './complaints.ts';
import { connectionFailureOf, failureDetail } from './failure.ts';
import { createLiveValues } from './live-values.ts';
import type { ChassisIdentity, ChassisLink, LinkState } from './model.ts';
import { knownTopics } from './schema.ts';
import type { TopicMessage } from './topics/message.ts';
import { openTopicStream, type StreamEnd } from './topics/stream.ts';
import { markHeading } from './unit/heading-mark.ts';
import { createUnitJudge } from './unit/judge.ts';

export interface ChassisLinkOptions {
  readonly endpoint: Endpoint;
  readonly expectedSerial: string;
  readonly dialer: Dialer;
  readonly clock: Clock;
  readonly log: Log;
  readonly secret?: string | undefined;
}

/** Decisions of ours: back within a second or two of the chassis' return, without a storm of attempts. */
const RETRY = { firstMs: 250, mostMs: 1_500 };
const STOOD_MS = 2_000;
const BOOTING_MS = 500;
/** While the stream stands, the identity is asked again this often: restarts and exchanges show in it first. */
const RECHECK_MS = 2_000;
/** Complaints closer together than this are told to the listeners as one. */
const COMPLAINTS_MS = 100;
/** So long it is shown that the chassis flooded the topic stream, also while it is connected again. */
const FLOOD_SHOWN_MS = 60_000;

/**
 * Keeps the connection to one chassis: identity, then the topic stream, again and again. That the chassis is away
 * is a state and never an error of the service. Another serial number at the address is refused: none of its topics
 * is opened.
 */
export function createChassisLink(options: ChassisLinkOptions): ChassisLink {
  const { endpoint, expectedSerial, dialer, clock, log, secret } = options;
  const client = createChassisClient({ endpoint, dialer, expectedSerial, secret, clock });
  const complaints = createComplaints(clock);
  const values = createLiveValues(clock);
  let judge = createUnitJudge();
  const listeners = new Set<() => void>();
  const address: Tried = { address: endpoint.host, port: endpoint.port };
  let state: LinkState = { kind: 'connecting', tried: address };
  let stateSince = clock.monotonicMs();
  let identity: ChassisIdentity | null = null;
  let unitContradicted = false;
  let unitDoubt: string | null = null;
  let ending: AbortController | undefined;
  let loop: Promise<void> | undefined;
  let soon: Disposable | undefined;
  /** When the topic stream was last ended because the chassis flooded it. */
  let floodedAt: number | null = null;

  function notify(): void {
    for (const listener of [...listeners]) {
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
    if (next.kind !== 'connected') values.disconnect();
    notify();
  }

  /** Gathered: a chassis may give cause for thousands of complaints a second. */
  function complain(what: string): void {
    complaints.add(what);
    soon ??= clock.after(COMPLAINTS_MS, () => {
      soon = undefined;
      notify();
    });
  }

  function hear(message: TopicMessage): void {
    switch (message.kind) {
      case 'enabled':
        return;
      case 'complaint':
        complain(message.what);
        // That a value must not be relied on any more is told at once.
        if (message.topic !== undefined && values.reject(message.topic, message.what)) notify();
        return;
      case 'other':
        complain(`a message of the topic ${quote(message.topic)}, which was not asked for`);
        return;
      case 'data':
        if (message.topic === '/tracked_pose') judgeUnit(message.data);
        values.take(message);
        notify();
    }
  }

  function judgeUnit({
    ori,
    pos: [xM, yM],
  }: {
    readonly ori: number;
    readonly pos: readonly [number, number, ...unknown[]];
  }): void {
    if (unitContradicted) return;
    judge.add({ ori, xM, yM, atMs: clock.monotonicMs() });
    const { verdict, reason, doubt } = judge.verdict();
    if (doubt !== unitDoubt) {
      if (doubt === null) log.info({}, `/tracked_pose carries ${verdict}: ${reason}`);
      else log.warn({}, `it is in doubt whether /tracked_pose carries degrees: ${doubt}`);
      unitDoubt = doubt;
    }
    if (verdict !== 'radians') return;
    unitContradicted = true;
    log.error({}, `/tracked_pose carries radians, measured were degrees: ${reason}`);
  }

  /** Another software may report in another unit: what was judged of the one before says nothing about it. */
  function adopt(found: ChassisIdentity): void {
    if (identity !== null && identity.software !== found.software && !unitContradicted) {
      judge = createUnitJudge();
      unitDoubt = null;
    }
    identity = found;
  }

  /** Connects once and stays while it stands. Throws what kept it from connecting. */
  async function connect(signal: AbortSignal): Promise<{ readonly end: StreamEnd; readonly stoodMs: number }> {
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
      onMessage: hear,
    });
    const began = clock.monotonicMs();
    values.connect();
    enter({ kind: 'connected', tried: stream.tried });
    const checking = new AbortController();
    try {
      const end = await Promise.race([stream.ended, recheck(firstOf(signal, checking.signal))]);
      signal.throwIfAborted();
      return { end, stoodMs: clock.monotonicMs() - began };
    } finally {
      checking.abort();
    }
  }

  /**
   * Never resolves; throws when the chassis has become another one, restarts, or is none any more. A slow or lost
   * answer alone is a complaint: the stream is the source of state and has a heartbeat of its own.
   */
  async function recheck(signal: AbortSignal): Promise<never> {
    for (;;) {
      await clock.sleep(RECHECK_MS, signal);
      try {
        adopt(await client.identity(signal));
      } catch (error) {
        if (signal.aborted || asGwError(error).code !== 'CHASSIS_NOT_CONNECTED') throw error;
        complain(`the device information did not come while the topic stream stood: ${failureDetail(error)}`);
      }
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    const backoff = createBackoff(RETRY, clock);
    while (!signal.aborted) {
      try {
        const { end, stoodMs } = await connect(signal);
        const { failure, detail, isFlood = false } = end;
        if (isFlood) floodedAt = clock.monotonicMs();
        else if (stoodMs >= STOOD_MS) backoff.reset();
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
      const aborting = onAbort(signal, () => own.abort(signal.reason));
      enter({ kind: 'connecting', tried: address });
      loop = run(own.signal)
        .catch((error: unknown) => {
          if (!own.signal.aborted) fail(error);
        })
        .finally(() => {
          aborting[Symbol.dispose]();
          enter({
            kind: 'not-connected',
            failure: 'other',
            detail: 'gw does not look at the chassis now',
            tried: address,
          });
        });
    },
    stop,
    describe() {
      const doubt = unitDoubt === null ? '' : '; the unit of /tracked_pose is in doubt';
      const wasFlooded = floodedAt !== null && clock.monotonicMs() - floodedAt < FLOOD_SHOWN_MS;
      const flood = wasFlooded && state.kind === 'connected' ? '; the chassis flooded the topic stream just now' : '';
      return `${describeLink(state)}${doubt}${flood}`;
    },
    snapshot() {
      return {
        link: state,
        linkForMs: Math.round(clock.monotonicMs() - stateSince),
        identity,
        values: markHeading(values.values(), judge.verdict(), unitContradicted),
        poseUnit: judge.verdict(),
        unitContradicted,
        complaints: complaints.list(),
      };
    },
    subscribe(listener) {
      // A function of its own, so that the same listener may be given twice.
      const entry = () => listener();
      listeners.add(entry);
      return { [Symbol.dispose]: () => listeners.delete(entry) };
    },
  };
}

/** What an error of connecting means as a state; a bug of ours is not a state and is thrown on. */
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

/** One line for a person; names the address tried unless connected. */
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
