import { stat } from 'node:fs/promises';
import { asGwError } from '../error/index.ts';
import type { Clock, Log, Service } from '../lifecycle/index.ts';
import { plural } from '../text/index.ts';
import { type EvidenceChange, narrowRecords, takenBack } from './narrow.ts';
import type { EvidenceRecord } from './record.ts';
import { loadEvidenceFile } from './record-file.ts';
import type { EvidenceSource } from './source.ts';

/** Project decision: what is taken back must hold within a second, and a loss is believed on the second look. */
const LOOK_MS = 250;
/** A file system that gives no answer for longer is taken for an unreadable file. Project decision. */
const HUNG_MS = 3_000;
/** After a change the content is read so often again: a file may be written twice within one tick of its times. */
const READS_AFTER_CHANGE = 3;
const UNRELIABLE = 'the evidence file cannot be relied on';

/** How the evidence of a running daemon stands against what it read at its start. */
export interface EvidenceReport {
  readonly status: 'as-read' | 'taken-back' | 'unreadable';
  /** One sentence for a person. */
  readonly detail: string;
  /** Facts whose verification does not count any more, or that were contradicted, since the start. */
  readonly takenBack: readonly EvidenceChange[];
  /** Facts about which the file says more than counts now: that counts after a restart. */
  readonly waiting: readonly Omit<EvidenceChange, 'how'>[];
}

export interface EvidenceWatch extends EvidenceSource, Service {
  report(): EvidenceReport;
  /** Lets records count that this program has just written to the file itself: the verdicts of a trial. */
  adopt(added: readonly EvidenceRecord[]): void;
  /**
   * Reads the file and lets all of it count from now on, as after a restart: a signed-in person has said so. Throws
   * EVIDENCE_FILE_INVALID; nothing is changed then.
   */
  adoptFile(): Promise<EvidenceAdoption>;
}

export interface EvidenceAdoption {
  /** How many records count now. */
  readonly records: number;
  /** Facts that carry more than before, on any device. */
  readonly adopted: readonly string[];
  /** Facts that carry less than before. */
  readonly takenBack: readonly string[];
}

export interface EvidenceWatchOptions {
  readonly path: string;
  /** Of the chassis of this site: the report is about it. */
  readonly serial: string;
  /** As read at the start; none where `trouble` says why it could not be read. */
  readonly records: readonly EvidenceRecord[];
  readonly trouble?: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * What the file says at the start of the daemon. A file that cannot be read does not end the start, since STOP must
 * answer whatever it holds: nothing counts then, and the gate stays closed.
 */
export async function readAtStart(path: string): Promise<Pick<EvidenceWatchOptions, 'records' | 'trouble'>> {
  try {
    return { records: await loadEvidenceFile(path), trouble: null };
  } catch (error) {
    return { records: [], trouble: troubleText(error) };
  }
}

/**
 * Looks at the evidence file while the daemon runs. What a record takes back, and what is not in the file any more,
 * counts at once and until a restart; what is added counts after a restart. While the file cannot be read, whatever
 * the reason, `trouble` says so. It never throws and never fails as a service.
 */
export function createEvidenceWatch(options: EvidenceWatchOptions): EvidenceWatch {
  const { path, serial, records, clock, log } = options;
  const listeners = new Set<() => void>();
  /** What the report compares with: as read at the start, and what was adopted since. */
  let base = records;
  let counting = records;
  let latest = records;
  let trouble = options.trouble ?? null;
  let ticking: Disposable | null = null;
  let lookingSinceMs: number | null = null;
  let signature: string | null = null;
  /** Of the file as it was last read without an error. */
  let soundSignature: string | null = null;
  let readsLeft = READS_AFTER_CHANGE;
  /** Something was missing at the last look: an editor may be in the middle of writing the file anew. */
  let suspected = false;

  function tell(): void {
    for (const listener of [...listeners]) listener();
  }

  function setTrouble(next: string | null): void {
    if (trouble === next) return;
    trouble = next;
    if (next === null) log.info({ audit: true, path }, 'the evidence file is readable again');
    else log.error({ audit: true, path, reason: next }, UNRELIABLE);
    tell();
  }

  function tick(): void {
    const nowMs = clock.monotonicMs();
    if (lookingSinceMs === null) {
      lookingSinceMs = nowMs;
      void look().finally(() => {
        lookingSinceMs = null;
      });
    } else if (nowMs - lookingSinceMs >= HUNG_MS) {
      setTrouble(`The evidence file ${path} gives no answer; no order relies on it until it does.`);
    }
  }

  async function look(): Promise<void> {
    const seen = await signatureOf(path);
    if (seen !== signature) readsLeft = READS_AFTER_CHANGE;
    signature = seen;
    if (readsLeft === 0 && !suspected && trouble === null) return;
    readsLeft = Math.max(0, readsLeft - 1);
    let read: EvidenceRecord[];
    try {
      read = await loadEvidenceFile(path);
    } catch (error) {
      if (suspected) setTrouble(troubleText(error));
      suspected = true;
      soundSignature = null;
      return;
    }
    take(read);
  }

  function take(read: readonly EvidenceRecord[]): void {
    const next = narrowRecords(counting, read);
    const lost = takenBack(counting, next);
    // A contradiction is a line of its own and holds at once; a loss may be a file that is being written.
    if (lost.length > 0 && !suspected && lost.every(({ how }) => how === 'gone')) {
      suspected = true;
      return;
    }
    suspected = false;
    latest = read;
    if (lost.length > 0) {
      counting = next;
      log.warn({ audit: true, path, facts: lost.map(({ fact, how }) => `${fact}: ${how}`) }, 'evidence was taken back');
      tell();
    }
    // A file that is being written anew is empty for a moment, and reads well.
    if (signature === soundSignature) setTrouble(null);
    soundSignature = signature;
  }

  function report(): EvidenceReport {
    const here = (changes: readonly EvidenceChange[]) => changes.filter((change) => change.serial === serial);
    const gone = here(takenBack(base, counting));
    const waiting = here(takenBack(latest, counting)).map(({ how: _how, ...about }) => about);
    const later = waiting.length === 0 ? '' : ` New evidence about ${names(waiting)} counts after a restart.`;
    if (trouble !== null) return { status: 'unreadable', detail: `${trouble}${later}`, takenBack: gone, waiting };
    if (gone.length > 0) {
      const detail = `Taken back since the start: ${names(gone)}. No order relies on it until gw serve is restarted.`;
      return { status: 'taken-back', detail: `${detail}${later}`, takenBack: gone, waiting };
    }
    const count = plural(counting.length, 'record');
    const since = base === records ? 'as read at the start' : 'as read at the start and adopted since';
    return { status: 'as-read', detail: `${count}, ${since}.${later}`, takenBack: gone, waiting };
  }

  function adopt(added: readonly EvidenceRecord[]): void {
    if (added.length === 0) return;
    base = [...base, ...added];
    counting = [...counting, ...added];
    latest = [...latest, ...added];
    // A look that began before the line was written finds it missing; the next one finds it.
    suspected = false;
    readsLeft = READS_AFTER_CHANGE;
    log.info({ path, facts: added.map(({ fact }) => fact) }, 'evidence was adopted');
    tell();
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
      adopted: factsOf(takenBack(read, before)),
      takenBack: factsOf(takenBack(before, read)),
    };
    log.warn({ path, ...adoption }, 'the evidence file was adopted by a person');
    tell();
    return adoption;
  }

  return {
    name: 'evidence',
    async start() {
      if (trouble !== null) log.error({ audit: true, path, reason: trouble }, UNRELIABLE);
      ticking?.[Symbol.dispose]();
      signature = null;
      readsLeft = READS_AFTER_CHANGE;
      ticking = clock.every(LOOK_MS, tick);
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

/** Changes whenever the file is written, replaced, taken away or made unreadable. */
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
