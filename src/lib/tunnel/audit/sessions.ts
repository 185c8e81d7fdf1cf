import { MAX_SERVICES } from '../model.ts';
import type { SessionRecord } from '../records/schema.ts';
import type { AuditFacts } from './audit.result.ts';
import type { Findings, Place } from './findings.ts';
import type { AuditLimits } from './model.ts';
import { findToken, mayHoldToken } from './tokens.ts';

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
  readonly facts: Pick<
    AuditFacts,
    | 'serial'
    | 'firstAt'
    | 'lastAt'
    | 'sessions'
    | 'refused'
    | 'unusualRefusals'
    | 'uncleanShutdowns'
    | 'unknownDurations'
    | 'clockSteps'
    | 'firstClockStep'
    | 'running'
  >;
  /** Hashes of the tokens of all starts and refusals. */
  readonly tokens: ReadonlySet<string>;
  readonly channelIds: ReadonlySet<string>;
}

type RecordOf<K extends SessionRecord['kind']> = Extract<SessionRecord, { kind: K }>;

export interface Sessions {
  take(record: SessionRecord, at: Place): void;
  /** Searches a text of a line that is no record for tokens. */
  search(text: string, at: Place): void;
  /** Searches the texts of a record that is not judged otherwise. */
  searchRecord(record: SessionRecord, at: Place): void;
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
  const refused = new Map<string, number>();
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

  function judgeStart(record: RecordOf<'start'>, at: Place): void {
    const { seq, session, services, region, maxS, replaces } = record;
    const about = { seq, session };
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
    open.set(session, { at: record.at, place: at, seq, maxS, isOverlapped: false });
    const [oldest] = open;
    if (open.size > MAX_OPEN && oldest !== undefined) leaveOpen(...oldest);
  }

  function leaveOpen(session: string, { place, seq, at, maxS }: OpenSession): void {
    open.delete(session);
    findings.add('start-without-end', place, { seq, session, values: { at, maxS } });
  }

  function judgeEnd({ seq, session, reason, durationS, channelId }: RecordOf<'end'>, at: Place): void {
    const about = { seq, session };
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

  function countRefusal({ reason, at }: RecordOf<'refused'>): void {
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

  function searchRecord(record: SessionRecord, at: Place): void {
    for (const text of foreignTexts(record)) search(text, at, record.seq);
    // It looks like a token, and must not be the one of a session. A UUID is none.
    if (record.kind !== 'end' || record.channelId === null || UUID.test(record.channelId)) return;
    search(record.channelId, at, record.seq, () => true);
  }

  return {
    take(record, at) {
      serial ??= record.serial;
      if (record.serial !== serial) {
        const values = { serial: shown(record.serial), expected: serial };
        findings.add('other-serial', at, { seq: record.seq, values });
      }
      if (lastAt !== null && record.at < lastAt) {
        clockSteps += 1;
        firstClockStep ??= at;
      }
      lastAt = record.at;
      firstAt ??= lastAt;
      if (record.kind !== 'end') addTo(tokens, record.tokenHash);
      if (record.kind === 'start') judgeStart(record, at);
      else if (record.kind === 'end') judgeEnd(record, at);
      else countRefusal(record);
      searchRecord(record, at);
    },

    search,
    searchRecord,

    unjudged() {
      for (const [session, start] of open) doubtful.set(session, start);
      open.clear();
      mayHaveStarted = true;
    },

    finish(now) {
      let running: AuditFacts['running'] = null;
      const last = [...open.keys()].at(-1);
      for (const [session, start] of [...open]) {
        const until = Date.parse(start.at) + (start.maxS + CLOCK_TOLERANCE_S) * 1_000;
        // A start in the future is one by another clock: it is not green either way.
        if (session === last && until > now.getTime()) {
          running = { session, at: start.at, untilAt: new Date(until).toISOString() };
        } else leaveOpen(session, start);
      }
      const facts = {
        ...{ serial, firstAt, lastAt, sessions: starts, unusualRefusals: unusual, running },
        ...{ uncleanShutdowns, unknownDurations, clockSteps, firstClockStep },
        refused: [...refused].map(([reason, count]) => ({ reason, count })).toSorted((a, b) => b.count - a.count),
      };
      return { facts, tokens, channelIds };
    },
  };
}

/** Texts that came from outside or were composed. */
function foreignTexts(record: SessionRecord): readonly string[] {
  switch (record.kind) {
    case 'start':
      return [record.region, ...record.services];
    case 'end':
      return [record.detail];
    case 'refused':
      return [record.detail, record.clientMode, record.region, ...record.services];
  }
}

/** A foreign text in a sentence. */
function shown(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
