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

/** Where the results of trials go. */
export interface TrialStore {
  /**
   * Keeps what happened, and writes a record for each fact that was decided; without the samples only for those that were
   * contradicted. Never rejects.
   */
  keep(report: TrialReport): Promise<Kept>;
  /** Lets everything that the evidence file says count from now on. Throws EVIDENCE_FILE_INVALID. */
  adoptAll(): Promise<EvidenceAdoption>;
}

/** Everything that a trial leaves: the content of its file. */
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
  /** What could not be kept, each in one sentence. */
  readonly problems: readonly string[];
}

export interface TrialStoreOptions {
  /** The site's evidence file. */
  readonly path: string;
  readonly log: Log;
  /** What counts while the daemon runs: a trial's records at once, for they were measured here through the gate. */
  readonly ledger: Pick<EvidenceWatch, 'adopt' | 'adoptFile'>;
}

/** Of a record. */
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
        fail('The samples of the trial could not be kept', error);
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
      // What a verification rests on are its samples; a contradiction closes the gate also without them.
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

/** One line of a record. */
function plain(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').slice(0, MAX_HOW);
}
