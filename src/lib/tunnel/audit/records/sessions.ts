import { MAX_SERVICES, type RefusalReason } from '../../model.ts';
import type { Findings, Place } from '../findings.ts';
import type { AuditLimits } from '../model.ts';
import { findToken, mayHoldToken } from '../tokens/tokens.ts';
import type { RecordFields } from './fields.ts';

/** Above, an id counts as new; a gateway keeps far fewer records. */
const MAX_IDS = 1_000_000;

/** The end of a session takes a moment after its own clock. Project decision. */
const CLOCK_TOLERANCE_S = 10;
/** Refusals on one day (UTC) above which they are named. Project decision. */
const USUAL_REFUSALS = 20;
/** One session runs at a time; more are a sign of damage, and memory is bounded. */
const MAX_OPEN = 1_000;
const MAX_CHANNEL_IDS = 10_000;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface OpenSession {
  readonly at: string;
  readonly place: Place;
  readonly seq: number;
  readonly maxS: number;
  /** A session that overlaps it was named. */
  isOverlapped: boolean;
}

/** What the sessions add up to. */
export interface SessionTotals {
  readonly serial: string | null;
  readonly firstAt: string | null;
  readonly lastAt: string | null;
  readonly starts: number;
  readonly refused: ReadonlyMap<RefusalReason, number>;
  readonly unusualRefusals: { readonly day: string; readonly count: number } | null;
  readonly uncleanShutdowns: number;
  readonly unknownDurations: number;
  readonly clockSteps: number;
  readonly firstClockStep: Place | null;
  readonly running: { readonly session: string; readonly at: string; readonly untilAt: string } | null;
  /** Hashes of the tokens of all starts and refusals. */
  readonly tokens: ReadonlySet<string>;
  readonly channelIds: ReadonlySet<string>;
}

export interface Sessions {
  take(fields: RecordFields, at: Place): void;
  /** Searches a text of a line that is no record for tokens. */
  search(text: string, at: Place): void;
  /** Searches the texts of a record that is not judged otherwise. */
  searchFields(fields: RecordFields, at: Place): void;
  /** Records are missing here, or a line that may stand for one was not judged: starts and ends may be among them. */
  unjudged(): void;
  finish(now: Date): SessionTotals;
}

/** Judges the sessions of valid records, in their order. */
export function createSessions(findings: Findings, limits: AuditLimits | null): Sessions {
  const open = new Map<string, OpenSession>();
  /** Those whose end may be a record that was not judged. */
  const doubtful = new Map<string, OpenSession>();
  /** The start of the next session to end may be such a record; of one only, since one runs at a time. */
  let mayHaveStarted = false;
  const seen = new Set<string>();
  const tokens = new Set<string>();
  const channelIds = new Set<string>();
  const refused = new Map<RefusalReason, number>();
  let serial = limits?.serial ?? null;
  let [firstAt, lastAt]: [string | null, string | null] = [null, null];
  let [starts, uncleanShutdowns, unknownDurations, clockSteps] = [0, 0, 0, 0];
  let firstClockStep: Place | null = null;
  let unusual: { day: string; count: number } | null = null;
  let today = { day: '', count: 0 };

  /** False: it was there already. */
  function addTo(ids: Set<string>, id: string): boolean {
    if (ids.has(id)) return false;
    if (ids.size < MAX_IDS) ids.add(id);
    return true;
  }

  function judgeStart(body: Extract<RecordFields['body'], { kind: 'start' }>, fields: RecordFields, at: Place): void {
    const { session, services, region, maxS, replaces } = body;
    const about = { seq: fields.seq, session };
    starts += 1;
    if (!addTo(seen, session)) findings.add('session-repeated', at, about);
    if (services.length === 0 || services.length > MAX_SERVICES || new Set(services).size !== services.length) {
      findings.add('services-count', at, { ...about, values: { count: services.length, max: MAX_SERVICES } });
    }
    if (limits !== null) {
      if (region !== limits.region) {
        findings.add('other-region', at, { ...about, values: { region: shown(region), expected: limits.region } });
      }
      const foreign = services.find((service) => !limits.services.includes(service));
      if (foreign !== undefined) {
        findings.add('service-not-in-list', at, { ...about, values: { service: shown(foreign) } });
      }
      if (maxS > limits.maxMinutes * 60) {
        findings.add('beyond-configured', at, { ...about, values: { maxS, limitS: limits.maxMinutes * 60 } });
      }
    }
    if (replaces !== null && !seen.has(replaces) && seen.size < MAX_IDS && !mayHaveStarted) {
      findings.add('replaced-unknown', at, { ...about, values: { replaces: shown(replaces) } });
    }
    for (const [other, running] of open) {
      if (other === replaces || running.isOverlapped) continue;
      running.isOverlapped = true;
      findings.add('overlap', at, { ...about, values: { other } });
      break;
    }
    mayHaveStarted = false;
    open.set(session, { at: fields.at, place: at, seq: fields.seq, maxS, isOverlapped: false });
    const [oldest] = open;
    if (open.size > MAX_OPEN && oldest !== undefined) leaveOpen(...oldest);
  }

  function leaveOpen(session: string, { place, seq, at, maxS }: OpenSession): void {
    open.delete(session);
    findings.add('start-without-end', place, { seq, session, values: { at, maxS } });
  }

  function judgeEnd(body: Extract<RecordFields['body'], { kind: 'end' }>, fields: RecordFields, at: Place): void {
    const { session, reason, durationS, channelId } = body;
    const about = { seq: fields.seq, session };
    if (reason === 'unclean-shutdown') uncleanShutdowns += 1;
    if (durationS === null) unknownDurations += 1;
    if (channelId !== null && channelIds.size < MAX_CHANNEL_IDS) channelIds.add(channelId);
    const start = open.get(session) ?? doubtful.get(session);
    if (start === undefined) {
      if (!addTo(seen, session)) findings.add('second-end', at, about);
      else if (!mayHaveStarted) findings.add('end-without-start', at, about);
      mayHaveStarted = false;
      return;
    }
    open.delete(session);
    doubtful.delete(session);
    if (durationS !== null && durationS > start.maxS + CLOCK_TOLERANCE_S) {
      findings.add('beyond-own-clock', at, { ...about, values: { durationS, maxS: start.maxS } });
    }
  }

  function countRefusal(reason: RefusalReason, at: string): void {
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
    const day = at.slice(0, 10);
    today = today.day === day ? { ...today, count: today.count + 1 } : { day, count: 1 };
    if (today.count > USUAL_REFUSALS && today.count > (unusual?.count ?? 0)) unusual = today;
  }

  function search(
    text: string,
    at: Place,
    seq: number | null = null,
    isId = (run: string) => channelIds.has(run),
  ): void {
    if (!mayHoldToken(text)) return;
    const hit = findToken(text, (own) => tokens.has(own), isId);
    if (hit === null) return;
    const { isCertain, length } = hit;
    findings.add(isCertain ? 'token-in-records' : 'token-like-in-records', at, { seq, values: { length } });
  }

  function searchFields({ seq, body, texts }: RecordFields, at: Place): void {
    for (const text of texts) search(text, at, seq);
    // It looks like a token, and must not be the one of a session. A UUID is none.
    if (body.kind !== 'end' || body.channelId === null || UUID.test(body.channelId)) return;
    search(body.channelId, at, seq, () => true);
  }

  return {
    take(fields, at) {
      const { body } = fields;
      serial ??= fields.serial;
      if (fields.serial !== serial) {
        findings.add('other-serial', at, {
          seq: fields.seq,
          values: { serial: shown(fields.serial), expected: serial },
        });
      }
      if (lastAt !== null && fields.at < lastAt) {
        clockSteps += 1;
        firstClockStep ??= at;
      }
      lastAt = fields.at;
      firstAt ??= lastAt;
      if (body.kind !== 'end') addTo(tokens, body.tokenHash);
      if (body.kind === 'start') judgeStart(body, fields, at);
      else if (body.kind === 'end') judgeEnd(body, fields, at);
      else countRefusal(body.reason, fields.at);
      searchFields(fields, at);
    },

    search,
    searchFields,

    unjudged() {
      for (const [session, start] of open) doubtful.set(session, start);
      open.clear();
      mayHaveStarted = true;
    },

    finish(now) {
      let running: SessionTotals['running'] = null;
      const last = [...open.keys()].at(-1);
      for (const [session, start] of [...open]) {
        const until = Date.parse(start.at) + (start.maxS + CLOCK_TOLERANCE_S) * 1_000;
        // A start in the future is one by another clock: it is not green either way.
        if (session === last && until > now.getTime()) {
          running = { session, at: start.at, untilAt: new Date(until).toISOString() };
        } else leaveOpen(session, start);
      }
      const totals = { starts, refused, uncleanShutdowns, unknownDurations, clockSteps, firstClockStep, running };
      return { ...totals, serial, firstAt, lastAt, unusualRefusals: unusual, tokens, channelIds };
    },
  };
}

/** A foreign text in a sentence. */
function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
