import { asGwError } from '../error/index.ts';
import { type Clock, type Log, orAfter } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';
import { createDiscarded } from './gate/discarded.ts';
import { decide } from './gate/gate.ts';
import type { Decision, GateContext, InboundMessage } from './gate/model.ts';
import type { AnsweredRequester } from './gate/requester.ts';
import type { Seen } from './gate/seen.ts';
import type { LinkTrouble } from './link/model.ts';
import type { CloudOptions, CloudView } from './model.ts';
import type { OutgoingMessage } from './outbox/model.ts';
import type { ReleaseAgent } from './release/agent-model.ts';
import type { Reporting } from './reporting/reporting.ts';
import type { Topics } from './topics.ts';

export interface InboundOptions extends Pick<CloudOptions, 'onStop' | 'onTunnelNotification'> {
  readonly serial: string;
  readonly topics: Topics;
  readonly seen: Seen;
  readonly requester: AnsweredRequester;
  readonly agent: Pick<ReleaseAgent, 'offer'>;
  readonly reporting: Pick<Reporting, 'requestOf' | 'onAnswer'>;
  /** Keeps a record for the cloud; resolves when it is on the disk. */
  readonly record: (body: OutgoingMessage['body']) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Inbound {
  /**
   * Acts on one received message. Never throws: one message must not end the connection that brings the next stop. With a
   * promise the message may be acknowledged when that resolves, which may be never; without one, at once.
   */
  receive(message: InboundMessage): Promise<void> | undefined;
  /** The broker has made a new session, in which it delivers nothing of the one before again. */
  onNewSession(): void;
  troubles(): readonly LinkTrouble[];
  view(): NonNullable<CloudView['received']>;
}

type StopDecision = Extract<Decision, { kind: 'stop' }>;

/** A stop that was executed and is not saved. */
interface Unsaved {
  /** Without its delivery once the session of that has ended. */
  decision: StopDecision;
  readonly sinceMs: number;
}

const isBy = ({ decision: { content, delivery } }: Unsaved, recognised: string) =>
  content === recognised || delivery === recognised;

/** How long the record of a stop waits for the stop latch, and after which a stop counts as not saved. Project decision. */
const SAVED_WITHIN_MS = 3_000;

/** Passes each message through the gate, and its decision to the one function that may act on it. */
export function createInbound(options: InboundOptions): Inbound {
  const { serial, topics, seen, requester, agent, reporting, record, clock, log } = options;
  const discarded = createDiscarded({ clock, log, topics });
  const context: GateContext = {
    ...seen,
    serial,
    topics,
    hasSeenStop: (content) => seen.hasSeenStop(content) || isUnsaved(content),
    hasSeenDelivery: (delivery) => seen.hasSeenDelivery(delivery) || isUnsaved(delivery),
    requestOf: (clientToken) => requester.requestOf(clientToken) ?? reporting.requestOf(clientToken),
  };
  const accepted = { releases: 0, stops: 0, stopsOfKnownContent: 0, tunnelNotifications: 0, answers: 0 };

  /** With the promise of being saved. */
  const unsaved = new Map<Unsaved, Promise<void>>();
  const isUnsaved = (recognised: string) => [...unsaved.keys()].some((each) => isBy(each, recognised));

  function stop(decision: StopDecision, message: InboundMessage): Promise<void> {
    accepted.stops += 1;
    // Before everything else, which may fail.
    const latched = options.onStop(decision.stop);
    const { payload, oversizedBytes, retain } = message;
    const { stop, form, isContentKnown } = decision;
    if (isContentKnown) accepted.stopsOfKnownContent += 1;
    const flags = { ...(retain && { retain }), ...(isContentKnown && { isContentKnown }) };
    log.warn(
      { audit: true, ...stop, form, bytes: oversizedBytes ?? payload.length, ...flags },
      'stop received from the cloud',
    );
    const one = { decision, sinceMs: clock.monotonicMs() };
    const saved = save(one, latched);
    unsaved.set(one, saved);
    return saved;
  }

  /** Resolves when stop latch and record are on the disk; then a redelivery is a duplicate, also after a restart. */
  async function save(one: Unsaved, latched: Promise<void>): Promise<void> {
    const { stop, content } = one.decision;
    const { id, reason = null, by = null } = stop;
    const described = { stopId: id, content, reason, by };
    let isLatchSaved = false;
    try {
      const latch = latched.then(() => {
        isLatchSaved = true;
      });
      await orAfter(clock, SAVED_WITHIN_MS, latch);
      await Promise.all([latch, record({ kind: 'stop-executed', ...described, saved: isLatchSaved })]);
      seen.add(one.decision);
      unsaved.delete(one);
    } catch (error) {
      // The broker sends it again on the next connection, and it counts as new.
      unsaved.delete(one);
      log.error({ id, error: asGwError(error).message }, 'a stop from the cloud is not acknowledged: it was not saved');
      await new Promise(() => {});
    }
  }

  function act(decision: Exclude<Decision, { kind: 'discard' }>, message: InboundMessage): Promise<void> | undefined {
    switch (decision.kind) {
      case 'stop':
        return stop(decision, message);
      case 'release':
        accepted.releases += 1;
        log.info({ audit: true, jobId: decision.execution.jobId }, 'release received from the cloud');
        agent.offer(decision.execution);
        seen.add(decision);
        return undefined;
      case 'tunnel-notification':
        accepted.tunnelNotifications += 1;
        // Without its texts, any of which may be the token: its receiver logs them without it.
        log.info({ audit: true, isRepeated: decision.isRepeated }, 'tunnel notification received');
        options.onTunnelNotification(decision.notification, decision.isRepeated);
        seen.add(decision);
        return undefined;
      case 'answer':
        accepted.answers += 1;
        if (!requester.resolve(decision.clientToken, decision.answer)) {
          reporting.onAnswer(decision.clientToken, decision.answer);
        }
        return undefined;
    }
  }

  function unsavedStops(): number {
    const nowMs = clock.monotonicMs();
    return [...unsaved.keys()].filter(({ sinceMs }) => nowMs - sinceMs >= SAVED_WITHIN_MS).length;
  }

  return {
    receive(message) {
      const decision = decide(message, context);
      log.debug(
        { topic: message.topic, bytes: message.payload.length, decision: decision.kind },
        'message from the cloud',
      );
      if (decision.kind === 'discard') {
        discarded.add(decision.reason, message);
        const { repeats } = decision;
        if (repeats === undefined) return undefined;
        return [...unsaved].find(([each]) => isBy(each, repeats))?.[1];
      }
      try {
        return act(decision, message);
      } catch (error) {
        log.error({ kind: decision.kind, error: asGwError(error).message }, 'acting on a message of the cloud failed');
        return decision.kind === 'stop' ? new Promise(() => {}) : undefined;
      }
    },
    onNewSession() {
      seen.forgetSession();
      for (const one of unsaved.keys()) one.decision = { ...one.decision, delivery: null };
    },
    troubles() {
      const count = unsavedStops();
      if (count === 0) return [];
      return [
        {
          kind: 'stop-not-saved',
          detail: `${plural(count, 'stop')} executed but not acknowledged: stop latch or record is not on the disk; the broker delivers what is not acknowledged again`,
          remedy: 'Free space on the disk of the state folder, or make it writable; see `gw cloud outbox`.',
          ask: null,
        },
      ];
    },
    view: () => ({
      ...accepted,
      unsavedStops: unsavedStops(),
      discarded: discarded.counts(),
      lastDiscarded: discarded.last(),
    }),
  };
}
