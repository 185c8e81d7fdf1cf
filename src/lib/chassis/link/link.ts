import { asGwError, type Tried } from '../../error/index.ts';
import { type Clock, createBackoff, firstOf, type Log } from '../../lifecycle/index.ts';
import type { Dialer, Endpoint } from '../../net/index.ts';
import { createChassisClient } from '../client.ts';
import { connectionFailureOf, failureDetail } from '../failure.ts';
import type { ChassisIdentity, ChassisLink, LinkState } from '../model.ts';
import { knownTopics } from '../schema.ts';
import { openTopicStream, type StreamEnd, type TopicStream } from '../topics/stream.ts';
import { createFollowers } from './followers.ts';
import { describeLink, linkStateOf } from './link-state.ts';
import { createReceived } from './received.ts';

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
  const { notify, subscribe } = createFollowers(log);
  const received = createReceived({ clock, log, notify, delayMs: () => current?.delayMs() ?? 0 });
  const address: Tried = { address: endpoint.host, port: endpoint.port };
  let state: LinkState = { kind: 'connecting', tried: address };
  let stateSince = clock.monotonicMs();
  let identity: ChassisIdentity | null = null;
  let current: TopicStream | null = null;
  let ending: AbortController | undefined;
  let loop: Promise<void> | undefined;
  /** When the topic stream was last ended because the chassis flooded it. */
  let floodedAt: number | null = null;

  function enter(next: LinkState): void {
    const failureOf = (link: LinkState) => (link.kind === 'not-connected' ? link.failure : null);
    if (next.kind !== state.kind) stateSince = clock.monotonicMs();
    if (next.kind !== state.kind || failureOf(next) !== failureOf(state)) {
      const level = next.kind === 'connected' || next.kind === 'connecting' || ending === undefined ? 'info' : 'warn';
      log[level]({}, describeLink(next));
    }
    state = next;
    if (next.kind !== 'connected') received.disconnect();
    notify(['link']);
  }

  function adopt(found: ChassisIdentity): void {
    if (identity !== null && identity.software !== found.software) received.restartUnit();
    identity = found;
  }

  /** Connects once and returns when the connection has ended. Throws why it could not connect. */
  async function connect(signal: AbortSignal): Promise<{ readonly end: StreamEnd; readonly connectedMs: number }> {
    const found = await client.identity(signal);
    received.interruptUnit();
    adopt(found);
    using stream = await openTopicStream({
      endpoint,
      dialer,
      clock,
      secret,
      signal,
      topics: knownTopics,
      listForm: found.capabilities.supportsEnableTopicList === true,
      // Messages may arrive with the answer to the handshake.
      onOpen: received.connect,
      onMessage: received.receive,
    });
    const began = clock.monotonicMs();
    current = stream;
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
        received.complain(
          `GET /device/info failed while the topic stream was connected: ${failureDetail(error)}`,
          isLate,
        );
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
        enter(linkStateOf(error, address));
      }
      if (state.kind === 'booting') backoff.reset();
      await clock.sleep(state.kind === 'booting' ? BOOTING_MS : backoff.nextMs(), signal);
    }
  }

  async function stop(): Promise<void> {
    const own = ending;
    ending = undefined;
    own?.abort();
    received.stop();
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
      const doubt = !received.isUnitInDoubt ? '' : '; the unit of /tracked_pose is in doubt';
      const wasFlooded = floodedAt !== null && clock.monotonicMs() - floodedAt < FLOOD_SHOWN_MS;
      const flood =
        wasFlooded && state.kind === 'connected' ? '; the chassis flooded the topic stream within the last minute' : '';
      return `${describeLink(state)}${doubt}${flood}`;
    },
    snapshot() {
      return {
        link: state,
        linkForMs: Math.round(clock.monotonicMs() - stateSince),
        roundTripMs: current?.roundTripMs() ?? null,
        identity,
        ...received.snapshot(),
      };
    },
    state: () => state,
    poseWasSet: received.poseWasSet,
    subscribe,
  };
}
