import { asGwError } from '../../error/index.ts';
import {
  appendRecord,
  type EvidenceAdoption,
  type EvidenceRecord,
  type EvidenceWatch,
  writeAttachment,
} from '../../evidence/index.ts';
import type { Log } from '../../lifecycle/index.ts';
import type { TrialFinding } from './model.ts';

/** Storage of trial results. */
export interface TrialStore {
  /**
   * Writes the report, and a record for each decided fact; if the report cannot be written, only for contradicted ones.
   * Never rejects.
   */
  keep(report: TrialReport): Promise<Kept>;
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

interface Kept {
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
}

/** Maximum length of `how` in a record. */
const MAX_HOW = 900;

export function createTrialStore({ path, log, ledger }: TrialStoreOptions): TrialStore {
  return {
    adoptAll: () => ledger.adoptFile(),

    async keep(report) {
      const problems: string[] = [];
      const fail = (what: string, error: unknown) => {
        problems.push(`${what}: ${asGwError(error).message}`);
        log.error({ path, trial: report.id, error: asGwError(error).message }, what);
      };
      let attachment: Kept['report'] = null;
      try {
        const text = `${JSON.stringify({ format: 'gw/trial/1', ...report }, null, 1)}\n`;
        attachment = await writeAttachment(path, `${report.id}.json`, text);
      } catch (error) {
        fail('The samples of the trial could not be saved', error);
      }
      const written: EvidenceRecord[] = [];
      for (const record of recordsOf(report, attachment)) {
        try {
          await appendRecord(path, record);
          written.push(record);
        } catch (error) {
          fail(`${record.fact} could not be recorded`, error);
        }
      }
      ledger.adopt(written);
      return { report: attachment, recorded: written.map(({ fact }) => fact), problems };
    },
  };
}

function recordsOf(report: TrialReport, attachment: Kept['report']): EvidenceRecord[] {
  const { kind, who, when, serial, software, simulated, facts } = report;
  if (serial === null || software === null) return [];
  return (
    facts
      // A verification needs its samples as evidence; a contradiction closes the gate also without them.
      .filter(({ value, verdict }) => value !== null && (attachment !== null || verdict === 'differs'))
      .map(({ fact, value, why }) => ({
        fact,
        value,
        serial,
        software,
        how: plain(`trial ${kind} through the gate: ${why}`),
        who,
        when,
        ...(simulated && { simulated: true as const }),
        ...(attachment !== null && { attachment }),
      }))
  );
}

/** Text without control characters, for one line of a record. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_HOW);
}
