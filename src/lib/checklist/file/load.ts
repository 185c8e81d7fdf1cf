import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { nearest, parseDocument, type Report, readDocumentBytes } from '../../document/index.ts';
import { GwError } from '../../error/index.ts';
import type { Mark } from '../../evidence/index.ts';
import { sha256 } from '../../lifecycle/index.ts';
import type { Catalogue, CatalogueEntry, Given } from '../catalogue.ts';
import { compileExpectations, type Expectation } from '../match/matcher.ts';
import { type PathPart, parsePath } from '../match/path.ts';
import { parseTemplate, type Template } from '../match/template.ts';
import type { Phase } from '../run.result.ts';
import {
  CHECKLIST_MAX_BYTES,
  type ChecklistFile,
  checklistSchema,
  DEFAULT_WITHIN_S,
  NO_RULE,
  type SectionFile,
  type StepFile,
} from './schema.ts';
import { checkSoundness } from './soundness.ts';

/** Something that must be ok before a step runs. */
interface Requirement {
  /** Display name: `'address'`, `section 'network'`. */
  readonly name: string;
  readonly steps: readonly string[];
  /** own: the step needs it. section: its section does, or it is a precondition of it. */
  readonly of: 'own' | 'section';
}

/** A title in a language of its own, and in German where the checklist has it. */
interface Titled {
  readonly title: string;
  /** Absent: the title has one form only. */
  readonly titleDe?: string;
}

interface StepBase extends Titled {
  readonly id: string;
  readonly proves: string;
  /** Id of its section; null in a checklist without sections. */
  readonly section: string | null;
  /** Unless it is ok, its whole section is skipped. */
  readonly precondition: boolean;
  /** Steps and sections that it needs, as its file names them. */
  readonly needs: readonly string[];
  readonly requires: readonly Requirement[];
  /** Facts of the ledger that it relies on. */
  readonly facts: readonly string[];
  readonly moves: boolean;
  /** Empty where an own list names none. */
  readonly remedy: string;
}

/** A measured value for the record. */
export interface WantedValue {
  readonly name: string;
  readonly parts: readonly PathPart[];
  /** Used where the result has neither unit nor mark. */
  readonly unit: string | null;
  readonly mark: Mark | null;
}

/** gw checks it itself. */
export interface RunStep extends StepBase {
  readonly kind: 'run';
  readonly run: string;
  /** The step whose result this one reads instead of running a check. */
  readonly reads: string | null;
  readonly entry: CatalogueEntry;
  readonly options: unknown;
  readonly expectations: readonly Expectation[];
  /** The expectations as their file has them: path and matcher. */
  readonly expected: Readonly<Record<string, unknown>>;
  readonly shows: Template | null;
  readonly values: readonly WantedValue[];
  readonly withinMs: number;
  /** Further attempts until the step is ok, and the pause before each. */
  readonly retry: { readonly times: number; readonly everyMs: number };
}

/** The technician answers a question. */
export interface ConfirmStep extends StepBase {
  readonly kind: 'confirm';
  readonly question: string;
  /** With this input gw runs the check instead of asking; null for a plain question. */
  readonly instead: Given | null;
  /** The answer holds only for the session in which it was given. */
  readonly expires: boolean;
  /** The check in whose place it is asked moves the robot, so the person does. */
  readonly personMoves: boolean;
}

/** The technician measures and gives a number. */
export interface MeasureStep extends StepBase {
  readonly kind: 'measure';
  readonly question: string;
  readonly unit: string;
  readonly mark: Mark;
  readonly tool: string | null;
  readonly expectations: readonly Expectation[];
}

/** A step that this version of gw cannot check. It is never ok, so no step may need it. */
export interface UnavailableStep extends StepBase {
  readonly kind: 'unavailable';
  /** What is lacking, as a sentence. */
  readonly lacking: string;
}

/** A step that a person answers. */
export type AskedStep = ConfirmStep | MeasureStep;
export type Step = RunStep | AskedStep | UnavailableStep;

export interface Section extends Titled {
  readonly id: string;
  readonly about: string | null;
  readonly needs: readonly string[];
}

/** A validated checklist: every check it names exists, every matcher is compiled. */
export interface Checklist extends Titled {
  /** Path as given. */
  readonly file: string;
  /** Of the bytes of the file, in hex. */
  readonly sha256: string;
  readonly name: string;
  readonly purpose: string;
  readonly phase: Phase | null;
  /** Empty when the file has plain steps. */
  readonly sections: readonly Section[];
  /** All steps in their order; the preconditions of a section stand before its steps. */
  readonly steps: readonly Step[];
}

/** Reads a checklist from text. Throws CHECKLIST_INVALID with every problem. */
export function parseChecklist(text: string | Uint8Array, file: string, catalogue: Catalogue): Checklist {
  const document = parseDocument({ ...rules(catalogue), text, file });
  return compile(document, { file, sha256: sha256(text) }, catalogue);
}

/** Reads a checklist from a file of at most 256 KiB. Throws CHECKLIST_UNKNOWN, CHECKLIST_INVALID with every problem. */
export async function loadChecklist(path: string, catalogue: Catalogue): Promise<Checklist> {
  const { maxBytes, error } = rules(catalogue);
  const bytes = await readDocumentBytes({ path, maxBytes, error, notFound: 'CHECKLIST_UNKNOWN' });
  return parseChecklist(bytes, path, catalogue);
}

function rules(catalogue: Catalogue) {
  return {
    schema: checklistSchema,
    maxBytes: CHECKLIST_MAX_BYTES,
    error: 'CHECKLIST_INVALID',
    check: (value: unknown, report: Report) => checkSoundness(value, catalogue, report),
  } as const;
}

/** A step of the file with the requirements of its section. */
interface Placed {
  readonly step: StepFile;
  readonly section: string | null;
  readonly precondition: boolean;
  /** What its section needs, and the preconditions before it. */
  readonly gates: readonly string[];
}

function compile(file: ChecklistFile, from: Pick<Checklist, 'file' | 'sha256'>, catalogue: Catalogue): Checklist {
  const sections = file.sections ?? [];
  const plain = (file.steps ?? []).map((step) => ({ step, section: null, precondition: false, gates: [] }));
  const placed: readonly Placed[] = [...plain, ...sections.flatMap(place)];
  const { name, purpose, phase = null } = file;
  return {
    ...from,
    name,
    ...titlesOf(file.title),
    purpose,
    phase,
    sections: sections.map((section) => {
      const { id, title, about = null, needs = [] } = section;
      return { id, ...titlesOf(title), about, needs };
    }),
    steps: placed.map((one) => compileStep(one, placed, catalogue)),
  };
}

function place({ id, needs = [], preconditions = [], steps }: SectionFile): Placed[] {
  const gates = [...needs, ...preconditions.map((step) => step.id)];
  return [
    ...preconditions.map((step) => ({ step, section: id, precondition: true, gates: needs })),
    ...steps.map((step) => ({ step, section: id, precondition: false, gates })),
  ];
}

function compileStep(placed: Placed, all: readonly Placed[], catalogue: Catalogue): Step {
  const { step, section, precondition, gates } = placed;
  const { id, proves = NO_RULE, remedy = '', needs = [], facts = [] } = step;
  const base = {
    id,
    ...titlesOf(step.title),
    proves,
    section,
    precondition,
    needs,
    requires: [
      ...needs.map((need) => requirement(need, 'own', all)),
      ...gates.map((gate) => requirement(gate, 'section', all)),
    ],
    remedy,
  };
  if (step.measure !== undefined) {
    return {
      ...base,
      kind: 'measure',
      facts,
      moves: false,
      question: step.measure,
      unit: step.unit ?? '',
      mark: step.mark ?? 'BELEGT',
      tool: step.tool ?? null,
      expectations: compileExpectations(step.expect, () => {}),
    };
  }
  if (step.unavailable !== undefined) {
    return { ...base, kind: 'unavailable', facts, moves: false, lacking: step.unavailable };
  }
  const run = step.run ?? all.find((other) => other.step.id === step.reads)?.step.run;
  const entry = run === undefined ? undefined : catalogue[run];
  const isGiven = step.given === undefined || (entry?.given ?? []).includes(step.given);
  if (run === undefined || !entry || !isGiven) {
    const instead = step.given ?? null;
    return {
      ...base,
      kind: 'confirm',
      facts,
      moves: false,
      question: step.confirm ?? '',
      instead,
      expires: step.expires !== undefined,
      personMoves: step.moves ?? false,
    };
  }
  const options = step.reads === undefined ? entry.with.parse(step.with ?? {}) : null;
  return {
    ...base,
    kind: 'run',
    facts,
    run,
    reads: step.reads ?? null,
    entry,
    // Reading the result of another step moves nothing.
    moves: step.reads === undefined && (entry.moves || step.moves === true),
    options,
    expectations: compileExpectations(step.expect, () => {}),
    expected: step.expect ?? {},
    shows: step.shows === undefined ? null : (parseTemplate(step.shows) ?? null),
    values: Object.entries(step.values ?? {}).map(([name, written]) => wantedValue(name, written)),
    withinMs: step.withinS === undefined ? ownLimitMs(entry, step, options) : step.withinS * 1_000,
    retry: { times: step.retry?.times ?? 0, everyMs: (step.retry?.everyS ?? 1) * 1_000 },
  };
}

function ownLimitMs(entry: CatalogueEntry, step: StepFile, options: unknown): number {
  const own = step.reads === undefined ? entry.withinMs?.(options) : undefined;
  return own ?? DEFAULT_WITHIN_S * 1_000;
}

/** The title is the English one; in a list of one language, what stands there. */
function titlesOf(title: StepFile['title']): Titled {
  return typeof title === 'string' ? { title } : { title: title.en, titleDe: title.de };
}

function requirement(id: string, of: Requirement['of'], all: readonly Placed[]): Requirement {
  const held = all.filter(({ section }) => section === id).map(({ step }) => step.id);
  return held.length > 0 ? { name: `section '${id}'`, steps: held, of } : { name: `'${id}'`, steps: [id], of };
}

function wantedValue(name: string, written: NonNullable<StepFile['values']>[string]): WantedValue {
  const { path, unit = null, mark = null } = typeof written === 'string' ? { path: written } : written;
  return { name, parts: parsePath(path) ?? [], unit, mark };
}

/** Names of the checklists in a folder: every `<name>.yaml`. */
export async function listChecklists(dir: string): Promise<string[]> {
  const files = await readdir(dir);
  return files
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length))
    .sort();
}

/**
 * The file of a checklist: a plain word is the name of one in the folder, everything with a dot or a slash is a
 * path. Throws CHECKLIST_UNKNOWN.
 */
export async function findChecklist(nameOrFile: string, dir: string): Promise<string> {
  if (!/^[A-Za-z0-9_-]+$/.test(nameOrFile)) return nameOrFile;
  const names = await listChecklists(dir);
  if (names.includes(nameOrFile)) return join(dir, `${nameOrFile}.yaml`);
  const near = nearest(nameOrFile, names);
  const guess = near === undefined ? '' : ` Did you mean '${near}'?`;
  throw new GwError('CHECKLIST_UNKNOWN', `Unknown checklist '${nameOrFile}'.${guess}`, {
    remedy: `Use one of ${names.join(', ')}, or name a file with its extension: ./${nameOrFile}.yaml.`,
  });
}
