import { stat } from 'node:fs/promises';
import type { z } from 'zod';
import { asGwError } from '../error/index.ts';
import type { DeepReadonly } from '../json/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';
import type { evidenceAdoptionSchema } from './adoption.ts';
import { attachmentFolder } from './attachment.ts';
import { findFact } from './ledger.ts';
import type { EvidenceRecord } from './record.ts';
import { loadEvidenceFile } from './record-file.ts';
import { confirms } from './reliance.ts';

/** Verdict of a set of records on one fact, device and software; `none`: no record about it. */
type Verdict = 'differs' | 'none' | 'holds';
/** Weakest first. */
const order: readonly Verdict[] = ['differs', 'none', 'holds'];

interface Deciding {
  readonly record: EvidenceRecord;
  readonly verdict: Verdict;
}

/** A changed verdict for a fact on one device with one software. */
interface EvidenceChange {
  readonly fact: string;
  readonly serial: string;
  readonly software: string;
  /** `contradicted`: a record says that it does not hold. `gone`: the verifying record is no longer in the file. */
  readonly how: 'contradicted' | 'gone';
}

/** Project decision: a revocation takes effect within a second, and a missing record counts at the second check. */
const CHECK_MS = 250;
/** A file access that takes longer counts as an unreadable file. Project decision. */
const HUNG_MS = 3_000;
/** Number of reads after a change: a file may be written twice within the resolution of its timestamps. */
const READS_AFTER_CHANGE = 3;
const UNRELIABLE = 'the evidence file cannot be used';

/** The evidence of a running daemon compared with its start. */
interface EvidenceReport {
  readonly status: 'as-read' | 'revoked' | 'unreadable';
  /** One sentence for the user. */
  readonly detail: string;
  /** Facts whose verification does not count any more, or that were contradicted, since the start. */
  readonly revoked: readonly EvidenceChange[];
  /** Facts with new evidence that counts after a restart. */
  readonly waiting: readonly Omit<EvidenceChange, 'how'>[];
}

export interface EvidenceWatch extends EvidenceSource, Service {
  report(): EvidenceReport;
  /** Adopts records that this process has just written: the verdicts of a trial. */
  adopt(added: readonly EvidenceRecord[]): void;
  /**
   * Reads the file and adopts all of it, as after a restart, at the request of a signed-in person. Throws
   * EVIDENCE_FILE_INVALID; then nothing changes.
   */
  adoptFile(): Promise<EvidenceAdoption>;
}

export type EvidenceAdoption = DeepReadonly<z.infer<typeof evidenceAdoptionSchema>>;

export interface EvidenceWatchOptions {
  readonly path: string;
  /** Serial number of the chassis of this site, for the report. */
  readonly serial: string;
  /** As read at the start; empty where `trouble` says why it could not be read. */
  readonly records: readonly EvidenceRecord[];
  readonly trouble?: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Watches the evidence file while the daemon runs. Contradictions and missing records take effect at once and until a
 * restart; added records count after a restart. While the file cannot be read, `trouble` says why. It never throws and
 * never fails as a service.
 */
export function createEvidenceWatch(options: EvidenceWatchOptions): EvidenceWatch {
  const { path, serial, records, clock, log } = options;
  const listeners = new Set<() => void>();
  /** Baseline of the report: as read at the start, and adopted since. */
  let base = records;
  let counting = records;
  let latest = records;
  let trouble = options.trouble ?? null;
  let ticking: Disposable | null = null;
  let checkingSinceMs: number | null = null;
  let signature: string | null = null;
  /** Signature of the file at its last successful read. */
  let soundSignature: string | null = null;
  let readsLeft = READS_AFTER_CHANGE;
  /** A record was missing at the last check: an editor may be rewriting the file. */
  let suspected = false;

  function notify(): void {
    for (const listener of [...listeners]) listener();
  }

  function setTrouble(next: string | null): void {
    if (trouble === next) return;
    trouble = next;
    if (next === null) log.info({ audit: true, path }, 'the evidence file is readable again');
    else log.error({ audit: true, path, reason: next }, UNRELIABLE);
    notify();
  }

  function tick(): void {
    const nowMs = clock.monotonicMs();
    if (checkingSinceMs === null) {
      checkingSinceMs = nowMs;
      void check().finally(() => {
        checkingSinceMs = null;
      });
    } else if (nowMs - checkingSinceMs >= HUNG_MS) {
      setTrouble(`Reading the evidence file ${path} timed out; no order relies on it until it succeeds.`);
    }
  }

  async function check(): Promise<void> {
    // A seal may be removed without a change of the file.
    const seen = `${await signatureOf(path)} ${await signatureOf(attachmentFolder(path))}`;
    if (seen !== signature) readsLeft = READS_AFTER_CHANGE;
    signature = seen;
    if (readsLeft === 0 && !suspected && trouble === null) return;
    readsLeft = Math.max(0, readsLeft - 1);
    let read: EvidenceRecord[];
    try {
      read = await loadEvidenceFile(path, clock);
    } catch (error) {
      if (suspected) setTrouble(troubleText(error));
      suspected = true;
      soundSignature = null;
      return;
    }
    apply(read);
  }

  function apply(read: readonly EvidenceRecord[]): void {
    const next = narrowRecords(counting, read);
    const lost = revocations(counting, next);
    // A contradiction takes effect at once; a missing record may be a file that is being rewritten.
    if (lost.length > 0 && !suspected && lost.every(({ how }) => how === 'gone')) {
      suspected = true;
      return;
    }
    suspected = false;
    latest = read;
    if (lost.length > 0) {
      counting = next;
      log.warn({ audit: true, path, facts: lost.map(({ fact, how }) => `${fact}: ${how}`) }, 'evidence was revoked');
      notify();
    }
    // A file that is being rewritten is empty for a moment, and valid.
    if (signature === soundSignature) setTrouble(null);
    soundSignature = signature;
  }

  function report(): EvidenceReport {
    const here = (changes: readonly EvidenceChange[]) => changes.filter((change) => change.serial === serial);
    const gone = here(revocations(base, counting));
    const waiting = here(revocations(latest, counting)).map(({ how: _how, ...about }) => about);
    const later = waiting.length === 0 ? '' : ` New evidence about ${names(waiting)} counts after a restart.`;
    if (trouble !== null) return { status: 'unreadable', detail: `${trouble}${later}`, revoked: gone, waiting };
    if (gone.length > 0) {
      const detail = `Revoked since the start: ${names(gone)}. No order relies on it until gw serve is restarted.`;
      return { status: 'revoked', detail: `${detail}${later}`, revoked: gone, waiting };
    }
    const count = plural(counting.length, 'record');
    const since = base === records ? 'as read at the start' : 'as read at the start and adopted since';
    return { status: 'as-read', detail: `${count}, ${since}.${later}`, revoked: gone, waiting };
  }

  function adopt(added: readonly EvidenceRecord[]): void {
    if (added.length === 0) return;
    base = [...base, ...added];
    counting = [...counting, ...added];
    latest = [...latest, ...added];
    // A check that started before the line was written misses it; the next one finds it.
    suspected = false;
    readsLeft = READS_AFTER_CHANGE;
    log.info({ path, facts: added.map(({ fact }) => fact) }, 'evidence was adopted');
    notify();
  }

  async function adoptFile(): Promise<EvidenceAdoption> {
    const read = await loadEvidenceFile(path);
    const before = counting;
    base = read;
    counting = read;
    latest = read;
    suspected = false;
    readsLeft = READS_AFTER_CHANGE;
    setTrouble(null);
    const factsOf = (changes: readonly EvidenceChange[]) => [...new Set(changes.map(({ fact }) => fact))];
    const adoption = {
      records: read.length,
      adopted: factsOf(revocations(read, before)),
      revoked: factsOf(revocations(before, read)),
    };
    log.warn({ path, ...adoption }, 'the evidence file was adopted by a person');
    notify();
    return adoption;
  }

  return {
    name: 'evidence',
    async start() {
      if (trouble !== null) log.error({ audit: true, path, reason: trouble }, UNRELIABLE);
      ticking?.[Symbol.dispose]();
      signature = null;
      readsLeft = READS_AFTER_CHANGE;
      ticking = clock.every(CHECK_MS, tick);
      tick();
    },
    async stop() {
      ticking?.[Symbol.dispose]();
      ticking = null;
    },
    describe: () => report().detail,
    records: () => counting,
    trouble: () => trouble,
    subscribe(listener) {
      const mine = () => listener();
      listeners.add(mine);
      return { [Symbol.dispose]: () => void listeners.delete(mine) };
    },
    report,
    adopt,
    adoptFile,
  };
}

/**
 * The intersection of two states of an evidence file: a fact that one of them contradicts stays contradicted, and a
 * verification counts only where both have it. So evidence can be revoked while a program runs and never added.
 * Records about unknown facts are left out.
 */
export function narrowRecords(counting: readonly EvidenceRecord[], read: readonly EvidenceRecord[]): EvidenceRecord[] {
  const before = decide(counting);
  const now = decide(read);
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((key) => {
    const [was, is] = [before.get(key), now.get(key)];
    if (was?.verdict === 'differs') return [was.record];
    if (is?.verdict === 'differs') return [is.record];
    return was !== undefined && is !== undefined ? [is.record] : [];
  });
}

/** Facts that are weaker in `to` than in `from`; with the arguments exchanged, stronger. */
export function revocations(from: readonly EvidenceRecord[], to: readonly EvidenceRecord[]): EvidenceChange[] {
  const [before, now] = [decide(from), decide(to)];
  return [...new Set([...before.keys(), ...now.keys()])].flatMap((key) => {
    const was = before.get(key);
    const is = now.get(key);
    const about = (is ?? was)?.record;
    const verdict = is?.verdict ?? 'none';
    if (about === undefined || order.indexOf(verdict) >= order.indexOf(was?.verdict ?? 'none')) return [];
    const { fact, serial, software } = about;
    return [{ fact, serial, software, how: verdict === 'differs' ? ('contradicted' as const) : ('gone' as const) }];
  });
}

/** The newest record about each fact, device and software: the file is appended to, so the last line decides. */
function decide(records: readonly EvidenceRecord[]): ReadonlyMap<string, Deciding> {
  const deciding = new Map<string, Deciding>();
  for (const record of records) {
    const fact = findFact(record.fact);
    if (fact === undefined) continue;
    const key = JSON.stringify([record.fact, record.serial, record.software, record.simulated === true]);
    deciding.set(key, { record, verdict: confirms(record, fact) ? 'holds' : 'differs' });
  }
  return deciding;
}

/**
 * Reads the file at the start of the daemon. An unreadable file does not prevent the start, since STOP must always be
 * available: then no record counts, and the gate stays closed.
 */
export async function readAtStart(path: string): Promise<Pick<EvidenceWatchOptions, 'records' | 'trouble'>> {
  try {
    return { records: await loadEvidenceFile(path), trouble: null };
  } catch (error) {
    return { records: [], trouble: troubleText(error) };
  }
}

/** Changes whenever the file or folder is written, replaced, removed or made unreadable. */
async function signatureOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mode, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mode, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}

function troubleText(error: unknown): string {
  const [first = ''] = asGwError(error).message.split('\n');
  return `The evidence file cannot be read, so no order relies on it: ${first}`;
}

function names(changes: readonly { readonly fact: string }[]): string {
  return [...new Set(changes.map(({ fact }) => fact))].join(', ');
}

/** The records of this site, for the gate while the daemon runs. */
export interface EvidenceSource {
  /** The records that count now: never more than were read at the start. */
  records(): readonly EvidenceRecord[];
  /** Why the file cannot be used now, as text; null when it was read. */
  trouble(): string | null;
  /** Called after evidence was revoked, and after the file became unreadable or readable again. */
  subscribe(listener: () => void): Disposable;
}

/** Records that never change, for a short-lived process. */
export function fixedEvidence(records: readonly EvidenceRecord[]): EvidenceSource {
  return { records: () => records, trouble: () => null, subscribe: () => ({ [Symbol.dispose]: () => {} }) };
}
