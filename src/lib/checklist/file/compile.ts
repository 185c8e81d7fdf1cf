import type { Catalogue, CatalogueEntry } from '../catalogue.ts';
import { compileExpectations } from '../match/matcher.ts';
import { parsePath } from '../match/path.ts';
import { parseTemplate, pathsOf } from '../match/template.ts';
import {
  type ChecklistFile,
  DEFAULT_WITHIN_S,
  type KnownFile,
  NO_RULE,
  type SectionFile,
  type StepFile,
} from './schema.ts';
import type { Checklist, QuestionTemplate, Requirement, RunStep, Step, StepBase, Titled, WantedValue } from './step.ts';

/** A checklist from its valid file: checks joined with the catalogue, matchers compiled. */
export function compile(
  file: ChecklistFile,
  from: Pick<Checklist, 'file' | 'sha256'>,
  catalogue: Catalogue,
): Checklist {
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

/** A step of the file with the requirements of its section. */
interface Placed {
  readonly step: StepFile;
  readonly section: string | null;
  readonly precondition: boolean;
  /** What its section needs, and the preconditions before it. */
  readonly gates: readonly string[];
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
      template: questionTemplate(step.measure),
      unit: step.unit ?? '',
      mark: step.mark ?? 'BELEGT',
      tool: step.tool ?? null,
      expectations: compileExpectations(step.expect, () => {}),
    };
  }
  if (step.unavailable !== undefined) {
    return { ...base, kind: 'unavailable', facts, moves: false, lacking: step.unavailable };
  }
  const run = runOf(step, all);
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
      template: questionTemplate(step.confirm ?? ''),
      instead,
      expires: step.expires !== undefined,
      personMoves: step.moves ?? false,
      known: step.known === undefined ? null : compileKnown({ ...base, facts }, step.known, all, catalogue),
      needsRemark: step.remark !== undefined,
    };
  }
  return compileRun({ ...base, facts }, { file: step, run, entry });
}

function runOf({ run, reads }: Pick<StepFile, 'run' | 'reads'>, all: readonly Placed[]): string | undefined {
  return run ?? all.find((other) => other.step.id === reads)?.step.run;
}

/** The check beside a question, as a step of the same id. */
function compileKnown(
  base: Omit<StepBase, 'moves'>,
  file: KnownFile,
  all: readonly Placed[],
  catalogue: Catalogue,
): RunStep | null {
  const run = runOf(file, all);
  const entry = run === undefined ? undefined : catalogue[run];
  return run === undefined || entry === undefined ? null : compileRun(base, { file, run, entry });
}

interface RunParts {
  readonly file: Pick<StepFile, 'reads' | 'with' | 'expect' | 'moves' | 'shows' | 'values' | 'withinS' | 'retry'>;
  readonly run: string;
  readonly entry: CatalogueEntry;
}

function compileRun(base: Omit<StepBase, 'moves'>, { file: step, run, entry }: RunParts): RunStep {
  const options = step.reads === undefined ? entry.with.parse(step.with ?? {}) : null;
  return {
    ...base,
    kind: 'run',
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

function ownLimitMs(entry: CatalogueEntry, step: RunParts['file'], options: unknown): number {
  const own = step.reads === undefined ? entry.withinMs?.(options) : undefined;
  return own ?? DEFAULT_WITHIN_S * 1_000;
}

function questionTemplate(question: string): QuestionTemplate {
  const template = parseTemplate(question) ?? [];
  return pathsOf(template).length === 0 ? null : template;
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
