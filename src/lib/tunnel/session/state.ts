import type { TunnelNotificationWire } from '../../cloud/index.ts';
import type { EndReason, RecordBody, RefusalReason, SessionRecord } from '../records/schema.ts';
import { AccessToken } from './access-token.ts';
import type { ArmedClock } from './own-clock.ts';

/** Of a refused request, which may name thousands. Project decision. */
const MAX_RECORDED_SERVICES = 16;

/**
 * The life of a session. Each state is a type of its own, and each transition demands the state before it:
 *
 *   notified --pass--> checked --run--> running --end--> ended(reason)
 *       |                 |
 *       +----refuse-------+--> refused(reason)
 *
 * Only `run` makes a `Running`, and it demands the durable start record and the armed clock; the proxy demands a
 * `Running`. So no proxy can start before both, and what is ended or refused never runs again.
 */
export type SessionState = Notified | Checked | Running | Ended | Refused;

/** A notification of the cloud. */
export interface Notified {
  readonly state: 'notified';
  readonly token: AccessToken;
  readonly clientMode: string;
  readonly region: string;
  readonly services: readonly string[];
}

/** It passed all checks; its own clock runs. */
export interface Checked extends Omit<Notified, 'state'> {
  readonly state: 'checked';
  readonly session: string;
  readonly clock: ArmedClock;
  /** Id of the session that it replaces. */
  readonly replaces: string | null;
}

/** Its start is on the disk. */
export interface Running extends Omit<Checked, 'state'> {
  readonly state: 'running';
  readonly start: StartRecord;
}

export interface Ended {
  readonly state: 'ended';
  readonly record: EndBody;
}

export interface Refused {
  readonly state: 'refused';
  readonly record: RefusedBody;
}

export type StartRecord = Extract<SessionRecord, { readonly kind: 'start' }>;
export type StartBody = Extract<RecordBody, { readonly kind: 'start' }>;
export type EndBody = Extract<RecordBody, { readonly kind: 'end' }>;
type RefusedBody = Extract<RecordBody, { readonly kind: 'refused' }>;

export interface Refusal {
  readonly reason: RefusalReason;
  /** One sentence for a person. */
  readonly detail: string;
}

/** What is known at the end; null: not known. */
export interface EndFigures extends Pick<EndBody, 'connections' | 'bytesIn' | 'bytesOut' | 'channelId'> {
  readonly reason: EndReason;
  readonly detail: string;
}

export function notified(notification: TunnelNotificationWire): Notified {
  const { clientAccessToken, clientMode, region, services } = notification;
  return { state: 'notified', token: new AccessToken(clientAccessToken), clientMode, region, services };
}

export function pass(
  from: Notified,
  given: { readonly session: string; readonly clock: ArmedClock; readonly replaces: string | null },
): Checked {
  return { ...from, state: 'checked', ...given };
}

export function run(from: Checked, start: StartRecord): Running {
  return { ...from, state: 'running', start };
}

/** Ends the session and disarms its clock. */
export function end(from: Running, { reason, detail, ...figures }: EndFigures): Ended {
  const durationS = Math.round(from.clock.elapsedMs()) / 1_000;
  from.clock.disarm();
  return { state: 'ended', record: { kind: 'end', session: from.session, reason, detail, durationS, ...figures } };
}

/** A sender may put the token into any field, so the record has none of these as it came. */
export function refuse(from: Notified | Checked, { reason, detail }: Refusal): Refused {
  if (from.state === 'checked') from.clock.disarm();
  const { token, clientMode, region, services } = from;
  return {
    state: 'refused',
    record: {
      kind: 'refused',
      reason,
      detail: token.scrub(detail),
      clientMode: token.scrub(clientMode),
      region: token.scrub(region),
      services: services.slice(0, MAX_RECORDED_SERVICES).map((service) => token.scrub(service)),
      tokenHash: token.hash,
    },
  };
}

export function startBody({ session, region, services, token, clock, replaces }: Checked): StartBody {
  return { kind: 'start', session, region, services, tokenHash: token.hash, maxS: clock.maxS, replaces };
}

/** The end of a session of which this gateway only knows the start record. */
export function unknownEnd(
  session: string,
  reason: EndBody['reason'],
  detail: string,
  known: Partial<Pick<EndBody, 'durationS' | 'connections' | 'bytesIn' | 'bytesOut'>> = {},
): EndBody {
  const unknown = { durationS: null, connections: null, bytesIn: null, bytesOut: null, channelId: null };
  return { kind: 'end', session, reason, detail, ...unknown, ...known };
}
