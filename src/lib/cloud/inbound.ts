import { asGwError } from '../error/index.ts';
import type { Clock, Log } from '../lifecycle/index.ts';
import { createDiscarded } from './gate/discarded.ts';
import { decide } from './gate/gate.ts';
import type { Decision, GateContext, InboundMessage } from './gate/model.ts';
import type { AnsweredRequester } from './gate/requester.ts';
import type { Seen } from './gate/seen.ts';
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
  /** Keeps a record for the cloud. Never rejects. */
  readonly record: (body: OutgoingMessage['body']) => void;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Inbound {
  /** Acts on one received message. Never throws: one message must not end the connection that brings the next stop. */
  receive(message: InboundMessage): void;
  view(): NonNullable<CloudView['received']>;
}

/** Passes each message through the gate, and its decision to the one function that may act on it. */
export function createInbound(options: InboundOptions): Inbound {
  const { serial, topics, seen, requester, agent, reporting, record, clock, log } = options;
  const discarded = createDiscarded({ clock, log, topics });
  const context: GateContext = {
    ...seen,
    serial,
    topics,
    requestOf: (clientToken) => requester.requestOf(clientToken) ?? reporting.requestOf(clientToken),
  };
  const accepted = { releases: 0, stops: 0, tunnelNotifications: 0, answers: 0 };

  function act(decision: Exclude<Decision, { kind: 'discard' }>): void {
    switch (decision.kind) {
      case 'stop': {
        accepted.stops += 1;
        // Before everything else, which may fail.
        options.onStop(decision.stop);
        const { id, reason, by } = decision.stop;
        log.warn({ audit: true, id, reason, by }, 'stop received from the cloud');
        seen.add(decision);
        record({ kind: 'stop-executed', stopId: id, reason: reason ?? null, by: by ?? null });
        return;
      }
      case 'release':
        accepted.releases += 1;
        log.info({ audit: true, jobId: decision.execution.jobId }, 'release received from the cloud');
        agent.offer(decision.execution);
        seen.add(decision);
        return;
      case 'tunnel-notification':
        accepted.tunnelNotifications += 1;
        // Without its texts, any of which may be the token: its receiver logs them without it.
        log.info({ audit: true, isRepeated: decision.isRepeated }, 'tunnel notification received');
        options.onTunnelNotification(decision.notification, decision.isRepeated);
        seen.add(decision);
        return;
      case 'answer':
        accepted.answers += 1;
        if (!requester.resolve(decision.clientToken, decision.answer)) {
          reporting.onAnswer(decision.clientToken, decision.answer);
        }
    }
  }

  return {
    receive(message) {
      const decision = decide(message, context);
      if (decision.kind === 'discard') {
        discarded.add(decision.reason, message);
        return;
      }
      try {
        act(decision);
      } catch (error) {
        log.error({ kind: decision.kind, error: asGwError(error).message }, 'acting on a message of the cloud failed');
      }
    },
    view: () => ({ ...accepted, discarded: discarded.counts(), lastDiscarded: discarded.last() }),
  };
}
