import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { type Clock, systemClock } from '../lifecycle/index.ts';

/** The record of a name that a query asks for. */
export type AddressRecord = 'A' | 'AAAA';

/**
 * One query: for the addresses of a family, or `any` way that the machine has. Rejects as node's dns module where there is
 * none.
 */
export type Lookup = (host: string, record: AddressRecord | 'any') => Promise<readonly { readonly address: string }[]>;

/** The result of a name resolution. `unanswered`: the queries without an answer, where the other one had one. */
export type Resolution =
  /** The host is an address literal. */
  | { readonly kind: 'literal'; readonly addresses: readonly [string] }
  | {
      readonly kind: 'resolved';
      readonly addresses: readonly string[];
      readonly tookMs: number;
      readonly unanswered?: AddressRecord;
    }
  /** No address: the name does not exist, or no name server could be asked. */
  | { readonly kind: 'unknown'; readonly tookMs: number }
  | { readonly kind: 'no-answer'; readonly tookMs: number; readonly unanswered?: AddressRecord };

export interface ResolveOptions {
  readonly timeoutMs: number;
  readonly clock?: Clock;
  readonly lookup?: Lookup;
  /** How long the addresses of one family wait for the other, in milliseconds; {@link OTHER_FAMILY_MS} by default. */
  readonly otherFamilyMs?: Readonly<Record<AddressRecord, number>>;
}

/**
 * How long an answer waits for the other family. A few name servers and firewalls drop AAAA queries. IPv4 is what customers
 * release, so it is waited for longer. Project decision; RFC 8305, section 3, has 50 ms, less than a busy machine takes.
 */
const OTHER_FAMILY_MS: Readonly<Record<AddressRecord, number>> = { A: 1_000, AAAA: 250 };

/**
 * Asks for both families side by side for at most `timeoutMs`, and does not wait long for one that is not answered when the
 * other is: glibc waits 15 s (measured). IPv4 addresses first. Never throws: an unknown name is a result.
 */
export async function resolveHost(host: string, options: ResolveOptions): Promise<Resolution> {
  if (isIP(host) !== 0) return { kind: 'literal', addresses: [host] };
  const {
    timeoutMs,
    clock = systemClock,
    lookup: query = sharedSystemLookup,
    otherFamilyMs = OTHER_FAMILY_MS,
  } = options;
  const beganMs = clock.monotonicMs();
  const tookMs = () => Math.round(clock.monotonicMs() - beganMs);
  const found: Partial<Record<AddressRecord | 'any', readonly string[] | 'unanswered'>> = {};
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  using timers = new DisposableStack();
  const resolveAfter = (ms: number) => timers.use(clock.after(ms, resolve));
  const ask = async (record: AddressRecord | 'any') => {
    found[record] = await query(host, record).then(addressesOf, unansweredOf);
  };
  const askOne = async (record: AddressRecord, other: AddressRecord) => {
    await ask(record);
    // A late answer is of use only to whom shares the query.
    if (!timers.disposed && found[other] === undefined && hasAddress(found[record])) resolveAfter(otherFamilyMs[other]);
  };
  const askAll = async () => {
    await Promise.all([askOne('A', 'AAAA'), askOne('AAAA', 'A')]);
    // Such as an IPv6 address in the hosts file.
    if (!timers.disposed && !hasAddress(found.A) && !hasAddress(found.AAAA)) await ask('any');
    resolve();
  };
  resolveAfter(timeoutMs);
  void askAll();
  await settled;
  const addresses = [...new Set([found.A, found.AAAA, found.any].flatMap((it) => (hasAddress(it) ? it : [])))];
  const silent = (['A', 'AAAA'] as const).filter((it) => !Array.isArray(found[it]));
  const [only] = silent.length === 1 ? silent : [];
  const unanswered = only === undefined ? {} : { unanswered: only };
  if (addresses.length > 0) return { kind: 'resolved', addresses, tookMs: tookMs(), ...unanswered };
  const isAnswered = Array.isArray(found.A) && (silent.length === 0 || Array.isArray(found.any));
  return isAnswered ? { kind: 'unknown', tookMs: tookMs() } : { kind: 'no-answer', tookMs: tookMs(), ...unanswered };
}

type Answer = readonly string[] | 'unanswered' | undefined;

function hasAddress(answer: Answer): answer is readonly string[] {
  return Array.isArray(answer) && answer.length > 0;
}

function addressesOf(entries: readonly { readonly address: string }[]): readonly string[] {
  return entries.map(({ address }) => address);
}

const UNANSWERED = new Set(['ETIMEOUT', 'ECANCELLED']);

function unansweredOf(error: unknown): readonly string[] | 'unanswered' {
  return UNANSWERED.has((error as NodeJS.ErrnoException).code ?? '') ? 'unanswered' : [];
}

/** Of one AAAA query; the second try waits twice as long. */
const AAAA_TIMEOUT_MS = 1_000;
const AAAA_TRIES = 2;

/**
 * Queries this machine. The C library cannot be cancelled, occupies a thread of the pool, and delays the end of the process
 * meanwhile; so it is asked for IPv4 addresses, and the name servers themselves for AAAA, which some never answer.
 */
export const systemLookup: Lookup = async (host, record) => {
  if (record !== 'AAAA') return await lookup(host, { all: true, family: record === 'A' ? 4 : 0 });
  // @source RFC 6761, section 6.3: no such query leaves the machine.
  if (/(^|\.)localhost\.?$/i.test(host)) return [];
  const resolver = new Resolver({ timeout: AAAA_TIMEOUT_MS, tries: AAAA_TRIES });
  return (await resolver.resolve6(host)).map((address) => ({ address }));
};

/** An answer that took so long came after most attempts have given up. */
const SLOW_MS = 1_000;
/** Longer than between two attempts of the cloud link. Project decision. */
const KEEP_MS = 60_000;

/**
 * One query per name and record at a time: a query that still runs serves the attempts that come later, and a late answer
 * serves those of the next minute.
 */
export function createSharedLookup(lookup: Lookup, clock: Pick<Clock, 'monotonicMs'>): Lookup {
  const running = new Map<string, { readonly answer: ReturnType<Lookup>; keptUntilMs: number }>();
  return (host, record) => {
    const key = `${record} ${host}`;
    const beganMs = clock.monotonicMs();
    const present = running.get(key);
    if (present !== undefined && beganMs < present.keptUntilMs) return present.answer;
    const query = { answer: lookup(host, record), keptUntilMs: Number.POSITIVE_INFINITY };
    running.set(key, query);
    query.answer.then(
      () => {
        const nowMs = clock.monotonicMs();
        if (nowMs - beganMs >= SLOW_MS) query.keptUntilMs = nowMs + KEEP_MS;
        else running.delete(key);
      },
      () => running.delete(key),
    );
    return query.answer;
  };
}

/** {@link systemLookup} for all of this process. */
export const sharedSystemLookup: Lookup = createSharedLookup(systemLookup, systemClock);

/** For node's own clients: as {@link resolveHost}, for at most `timeoutMs`. */
export function nodeLookup(timeoutMs: number, clock: Clock): LookupFunction {
  return (host, options, done) => {
    void resolveHost(host, { timeoutMs, clock }).then((name) => {
      if (name.kind === 'unknown' || name.kind === 'no-answer') {
        const code = name.kind === 'unknown' ? 'ENOTFOUND' : 'ETIMEOUT';
        done(Object.assign(new Error(`${code} ${host}`), { code }), '', 0);
        return;
      }
      const entries = name.addresses.map((address) => ({ address, family: isIP(address) }));
      const [first] = entries;
      if (options.all === true) done(null, entries);
      else done(null, first?.address ?? '', first?.family ?? 0);
    });
  };
}
