import { isDeepStrictEqual } from 'node:util';
import { asGwError } from '../../error/index.ts';
import {
  appendRecord,
  type EvidenceAdoption,
  type EvidenceRecord,
  type EvidenceWatch,
  replaceAttachment,
  sealAttachment,
  unsealAttachment,
  writeAttachment,
} from '../../evidence/index.ts';
import type { Log } from '../../lifecycle/index.ts';
import type { TrialFinding, TrialVerdict } from './model.ts';

/** Storage of trial results. */
export interface TrialStore {
  /**
   * Writes the report, and a record for each decided fact; if the report cannot be written, only for contradicted ones.
   * `reportNow` is asked again at each step, since a disk may be slow and the robot may set out meanwhile: records of
   * verified facts count only where it still says so when everything else is on the disk, also after a crash. Never
   * rejects.
   */
  keep<Report extends TrialReport>(reportNow: () => Report): Promise<Kept<Report>>;
  /** Adopts the whole evidence file from now on. Throws EVIDENCE_FILE_INVALID. */
  adoptAll(): Promise<EvidenceAdoption>;
}

/** Content of the report file of a trial. */
export interface TrialReport {
  readonly id: string;
  readonly kind: string;
  readonly who: string;
  /** UTC, for people. */
  readonly when: string;
  readonly serial: string | null;
  readonly software: string | null;
  readonly simulated: boolean;
  readonly facts: readonly TrialFinding[];
  readonly [more: string]: unknown;
}

interface Kept<Report extends TrialReport> {
  /** What was reported at last, and counts. What these records lead to is no part of it. */
  readonly said: Report;
  readonly report: { readonly file: string; readonly sha256: string } | null;
  readonly recorded: readonly string[];
  /** What could not be written, each in one sentence. */
  readonly problems: readonly string[];
}

export interface TrialStoreOptions {
  /** The site's evidence file. */
  readonly path: string;
  readonly log: Log;
  /** The records of the running daemon: those of a trial count at once, as they were measured here through the gate. */
  readonly ledger: Pick<EvidenceWatch, 'adopt' | 'adoptFile'>;
  /** Another disk, for tests. */
  readonly append?: typeof appendRecord;
}

/** Maximum length of `how` in a record. */
const MAX_HOW = 900;

export function createTrialStore({ path, log, ledger, append = appendRecord }: TrialStoreOptions): TrialStore {
  return {
    adoptAll: () => ledger.adoptFile(),

    async keep(reportNow) {
      const problems: string[] = [];
      /** undefined: it failed, and the problem is noted. */
      async function attempt<T>(work: Promise<T>, what: string): Promise<T | undefined> {
        try {
          return await work;
        } catch (error) {
          problems.push(`${what}: ${asGwError(error).message}`);
          log.error({ path, error: asGwError(error).message }, what);
          return undefined;
        }
      }
      const record = async (one: EvidenceRecord) =>
        (await attempt(append(path, one), `${one.fact} could not be recorded`)) === undefined ? [] : [one];

      let report = reportNow();
      const isStill = () => isDeepStrictEqual(verdictOf(reportNow()), verdictOf(report));
      const file = `${report.id}.json`;
      const contradicted: EvidenceRecord[] = [];
      let attachment = await attempt(writeAttachment(path, file, textOf(report)), SAMPLES_NOT_SAVED);
      async function contradict(): Promise<void> {
        for (const one of recordsOf(report, 'differs', attachment)) contradicted.push(...(await record(one)));
      }
      // First, as they count in any case.
      await contradict();
      const verifying = attachment ? recordsOf(report, 'holds', { ...attachment, needsSeal: true }) : [];
      const written: EvidenceRecord[] = [];
      for (const one of verifying) if (problems.length === 0 && isStill()) written.push(...(await record(one)));
      let isSealed = false;
      if (written.length > 0 && written.length === verifying.length && problems.length === 0 && isStill()) {
        await attempt(sealAttachment(path, file), NOT_SEALED);
        isSealed = problems.length === 0;
      }
      while (!isStill()) {
        isSealed = false;
        report = reportNow();
        if (written.length > 0) await attempt(unsealAttachment(path, file), NOT_UNSEALED);
        if (attachment !== undefined)
          attachment = await attempt(replaceAttachment(path, file, textOf(report)), SAMPLES_NOT_SAVED);
        // Again also those that are written: with the hash of this report.
        await contradict();
      }
      // Together, and last: what contradicts a fact ends every activity that relies on it, and so this trial.
      const adopted = [...(isSealed ? written : []), ...contradicted];
      ledger.adopt(adopted);
      return {
        said: report,
        report: attachment ?? null,
        recorded: [...new Set(adopted.map(({ fact }) => fact))],
        problems,
      };
    },
  };
}

/** What must not change while it is written. */
function verdictOf({ facts, alarm, outcome }: TrialReport) {
  return { facts, alarm, outcome };
}

const SAMPLES_NOT_SAVED = 'The samples of the trial could not be saved';
const NOT_SEALED = 'The records of the trial could not be sealed';
const NOT_UNSEALED = 'The seal of the trial could not be removed durably, so remove it by hand';

function textOf(report: TrialReport): string {
  return `${JSON.stringify({ format: 'gw/trial/1', ...report }, null, 1)}\n`;
}

/** A verification needs its samples as evidence; a contradiction closes the gate also without them. */
function recordsOf(
  { kind, who, when, serial, software, simulated, facts }: TrialReport,
  of: TrialVerdict,
  attachment: EvidenceRecord['attachment'],
): EvidenceRecord[] {
  if (serial === null || software === null) return [];
  return facts
    .filter(({ value, verdict }) => value !== null && verdict === of)
    .map(({ fact, value, why }) => ({
      fact,
      value,
      serial,
      software,
      how: plain(`trial ${kind} through the gate: ${why}`),
      who,
      when,
      ...(simulated && { simulated: true as const }),
      ...(attachment && { attachment }),
    }));
}

/** Text without control characters, for one line of a record. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_HOW);
}
