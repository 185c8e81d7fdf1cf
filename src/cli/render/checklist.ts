import chalk from 'chalk';
import { type Deviation, expectationText, type StepResult } from '../../lib/checklist/index.ts';
import { plural, pluralWord } from '../../lib/text/index.ts';
import type {
  ChecklistList,
  ChecklistRun,
  ChecklistShow,
  Prerequisite,
} from '../../lib/toolkit/checklist/checklist.result.ts';
import { printable, renderTable, renderVerdict, right, spanText } from '../output.ts';
import { SIMULATED } from './record.ts';

const MAX_TITLE_WIDTH = 52;

/** `gw checklist list` */
export function renderChecklistList({ checklists, checks }: ChecklistList): string {
  const lists = checklists.map(({ name, title, phase, runs, questions, measurements, movesRobot }) => {
    const asked = String(questions + measurements);
    return [name, phase ?? '', String(runs), asked, movesRobot ? 'yes' : 'no', printable(title)];
  });
  const lines = checks.flatMap(({ name, summary, moves, options }) => [
    `  ${name}${moves ? chalk.yellow(' (moves the robot)') : ''}  ${chalk.dim(summary)}`,
    ...options.map((option) => {
      return chalk.dim(`      with ${option.name}${option.required ? ' (required)' : ''}: ${option.description}`);
    }),
  ]);
  return [
    `${plural(checklists.length, 'built-in checklist')}; run one with \`gw checklist run NAME\`.`,
    '',
    renderTable(['name', 'phase', right('checks'), right('questions'), 'moves the robot', 'about'], lists),
    '',
    'Checks for the `run` key of your own checklists:',
    '',
    ...lines,
  ].join('\n');
}

/** `gw checklist show` */
export function renderChecklistShow({ name, title, purpose, phase, sections, steps }: ChecklistShow): string {
  const kinds = [
    ['run', 'check', 'checks'],
    ['confirm', 'question', 'questions'],
    ['measure', 'measured value', 'measured values'],
    ['unavailable', 'step that this version cannot check', 'steps that this version cannot check'],
  ] as const;
  const counts = kinds
    .map(([kind, one, many]) => [steps.filter((step) => step.kind === kind).length, one, many] as const)
    .filter(([n, one]) => n > 0 || one === 'check' || one === 'question')
    .map(([n, one, many]) => plural(n, one, many));
  const last = counts.pop() ?? '';
  const head = `${printable(title)}: ${counts.join(', ')} and ${last} (${printable(name)}).`;
  const lines = steps.flatMap((step, index) => {
    const section = sections.find(({ id }) => id === step.section);
    const begins = section !== undefined && steps[index - 1]?.section !== section.id;
    return [...(begins ? renderSection(section) : []), ...renderShownStep(step, index)];
  });
  const when = phase === null ? [] : [chalk.dim(`phase: ${phase}`)];
  return [head, printable(purpose), ...when, ...lines].join('\n');
}

function renderSection({ id, title, about, needs }: ChecklistShow['sections'][number]): string[] {
  return [
    '',
    `${chalk.bold.underline(printable(title))} ${chalk.dim(`(section ${id})`)}`,
    ...(about === null ? [] : [printable(about)]),
    ...(needs.length > 0 ? [chalk.dim(`needs: ${needs.join(', ')}`)] : []),
  ];
}

function renderShownStep(step: ChecklistShow['steps'][number], index: number): string[] {
  const what = whatItDoes(step);
  const gate = step.precondition ? chalk.yellow(' precondition of this section') : '';
  return [
    '',
    `${String(index + 1).padStart(2)}. ${chalk.bold(printable(step.title))} ${chalk.dim(`(${step.id})`)}${gate}`,
    `    ${what}${step.moves ? chalk.yellow('; moves the robot') : ''}`,
    ...step.expects.map((one) => `    expects ${printable(expectationText(one))}`),
    chalk.dim(`    proves: ${printable(step.proves)}`),
    ...(step.needs.length > 0 ? [chalk.dim(`    needs: ${step.needs.join(', ')}`)] : []),
    ...(step.facts.length > 0 ? [chalk.dim(`    relies on: ${step.facts.join(', ')}`)] : []),
  ];
}

function whatItDoes({ kind, run, question, unit, instead, expires, lacking }: ChecklistShow['steps'][number]): string {
  switch (kind) {
    case 'run':
      return `runs '${run}'`;
    case 'measure':
      return `measures (${printable(unit ?? '')}): ${printable(question ?? '')}`;
    case 'unavailable':
      return chalk.yellow(`not checked by this version: ${printable(lacking ?? '')}`);
    case 'confirm': {
      const by = instead === null ? '' : chalk.dim(` (gw checks it itself with ${flagOf[instead] ?? instead})`);
      const anew = expires ? chalk.dim(' (the answer holds for one run)') : '';
      const beside = run === null ? '' : `runs '${run}', then `;
      return `${beside}asks: ${printable(question ?? '')}${by}${anew}`;
    }
  }
}

/** Flag of `gw checklist run` for each input. */
const flagOf: Readonly<Record<string, string>> = {
  'second-host': '--probe-from',
  password: '--password-file',
};

/** `gw checklist run`: the verdict and what is not ok; `all`: every step. */
export function renderChecklistRun(result: ChecklistRun, { all = false }: { readonly all?: boolean } = {}): string {
  const { steps, sections, robots, subject, tookMs, written, interrupted, record } = result;
  const taken = steps.filter((step) => !step.leftOut);
  const shown = all || result.dryRun ? taken : taken.filter(({ verdict }) => verdict !== 'ok');
  const hidden = taken.length - shown.length;
  const redLines = robots.flatMap(({ redLines: lines, serial }) => lines.map((line) => ({ ...line, serial })));
  return [
    renderChecklistVerdict(result),
    ...(result.simulated ? [chalk.yellow.bold(SIMULATED)] : []),
    chalk.dim(
      [
        subject
          ? `${printable(subject.site)}, chassis ${printable(subject.serial)}`
          : 'the site file could not be read',
        `${(tookMs / 1000).toFixed(1)} s`,
        ...(result.resumed ? ['resumed'] : []),
        ...(interrupted ? ['interrupted'] : []),
      ].join(', '),
    ),
    ...(redLines.length > 0 ? [''] : []),
    ...redLines.map(({ title, detail, remedy, serial }) => {
      const who = robots.length > 1 ? `${printable(serial ?? '')}: ` : '';
      return `${chalk.red.bold('RED LINE')}  ${who}${printable(title)}: ${printable(detail)}\n        ${chalk.cyan('fix:')} ${printable(remedy)}`;
    }),
    ...(shown.length > 0 ? ['', ...renderSteps(shown, sections)] : []),
    ...(hidden > 0 ? ['', chalk.dim(`${plural(hidden, 'step is', 'steps are')} ok; --all lists every step.`)] : []),
    ...renderLeftOut(steps),
    ...(record ? ['', renderRecordLine(record)] : []),
    ...(interrupted ? ['', 'Resume with the same command and --resume.'] : []),
    ...(written.length > 0 ? ['', 'Report:', ...written.map((path) => `  ${printable(path)}`)] : []),
  ].join('\n');
}

function renderRecordLine({ file, signedBy }: NonNullable<ChecklistRun['record']>): string {
  const signed = signedBy === null ? chalk.yellow('not signed') : `signed by ${printable(signedBy)}`;
  return `Record (${signed}):\n  ${printable(file)}`;
}

/** Whether every requested step is ok: with --only or --from, the selected part. */
export function isInOrder({ ok, leftOut, steps, robots, interrupted }: ChecklistRun): boolean {
  if (leftOut === 0) return ok;
  const isClean = robots.every(({ redLines }) => redLines.length === 0);
  return !interrupted && isClean && steps.every((step) => step.leftOut || step.verdict === 'ok');
}

/** Before the first step: all missing prerequisites together. */
export function renderPrerequisites(missing: readonly Prerequisite[]): string {
  const one = missing.length === 1;
  return [
    `${chalk.yellow.bold('MISSING')}  ${plural(missing.length, 'prerequisite is', 'prerequisites are')} not in the site file; the steps that need ${one ? 'it' : 'them'} cannot be ok.`,
    ...missing.map(
      ({ key, what, remedy, steps, serial }) =>
        `  ${key.padEnd(24)} ${printable(what)}${missing.some((other) => other.serial !== serial) ? ` (${serial ?? 'unknown robot'})` : ''}\n` +
        chalk.dim(`  ${' '.repeat(24)} ${printable(remedy)} Steps: ${steps.join(', ')}`),
    ),
    chalk.dim('  Press Ctrl-C, complete the site file and use --resume; or continue, and these steps stay open.'),
  ].join('\n');
}

/** Above the steps of one robot of several. */
export function renderRobotHead({ site, serial }: { readonly site: string; readonly serial: string }): string {
  return `\n${chalk.bold(`${printable(site)}, chassis ${printable(serial)}`)}`;
}

/** A step of a run, counted from 0. */
interface Place {
  readonly index: number;
  readonly of: number;
  readonly leftMs: number | null;
}

/** `step 7 of 47, about 6 min left`; the time only where earlier runs have it. */
export function renderPlace({ index, of, leftMs }: Place): string {
  return `step ${index + 1} of ${of}${leftMs === null ? '' : `, about ${spanText(leftMs)} left`}`;
}

/** Above the steps of a section, while they run. */
export function renderSectionHead(title: string, place: Place): string {
  return `${chalk.bold(printable(title))} ${chalk.dim(`(${renderPlace(place)})`)}`;
}

/** Whether a step is skipped as the one before it in its section: they wait for the same thing, or for each other. */
export function joinsSkipped(before: StepResult | undefined, step: StepResult): boolean {
  if (before?.verdict !== 'skipped' || step.verdict !== 'skipped') return false;
  return before.section === step.section && !before.deviation && !step.deviation;
}

/** Steps that are skipped one after the other, on one line. `section`: its title, where nothing else of it is shown. */
export function renderSkipped(steps: readonly StepResult[], section: string | null = null): string {
  const [first] = steps;
  if (first === undefined) return '';
  if (steps.length === 1 && section === null) return renderStepLine(first);
  const name = section === null ? plural(steps.length, 'step') : `${section}: ${plural(steps.length, 'step')}`;
  const isOne = steps.every(({ why }) => why === first.why);
  const why = `${isOne ? '' : `${idOf(first)}: `}${printable(first.why)}`;
  return `${chalk.yellow('skip')}  ${printable(name)}  ${chalk.dim(`(${steps.map(idOf).join(', ')}) ${why}`)}`;
}

/** Below a step that is not ok, as soon as a person accepts it. */
export function renderAcceptance(deviation: Deviation): string {
  return `        ${renderDeviation(deviation)}`;
}

/** The first line: verdict and title. */
export function renderChecklistVerdict(
  result: Pick<
    ChecklistRun,
    'noRecord' | 'dryRun' | 'title' | 'ok' | 'counts' | 'steps' | 'robots' | 'leftOut' | 'accepted' | 'deviations'
  >,
): string {
  const { ok, counts, steps, robots, leftOut, accepted, deviations } = result;
  const title = printable(result.title);
  if (result.dryRun) {
    return `${chalk.yellow.bold('DRY RUN')}  ${title}: nothing was run; this is what ${plural(steps.length - leftOut, 'step')} would do.`;
  }
  const unkept = result.noRecord ? ', NO RECORD' : '';
  if (ok && unkept) {
    return `${chalk.yellow.bold(`ALL OK${unkept}`)}  ${title}: ${steps.length} of ${steps.length} steps are ok; nothing of this run is kept, and it is no acceptance.`;
  }
  if (ok) return `${chalk.green.bold('ALL OK')}  ${title}: ${steps.length} of ${steps.length} steps are ok.`;
  const chosen = steps.length - leftOut;
  if (leftOut > 0 && counts.ok === chosen && robots.every(({ redLines }) => redLines.length === 0)) {
    return `${chalk.yellow.bold(`PART OK${unkept}`)}  ${title}: ${chosen} of ${chosen} chosen steps are ok, ${leftOut} left out.`;
  }
  const redLines = robots.reduce((sum, robot) => sum + robot.redLines.length, 0);
  const parts = [
    [redLines, pluralWord(redLines, 'red line')],
    [counts.wrong, 'wrong'],
    [counts.skipped, 'skipped'],
    [counts.notChecked - leftOut, 'not checked'],
    [leftOut, 'left out'],
    [counts.ok, 'ok'],
  ] as const;
  const summary = parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`);
  const acceptedText = deviations > 0 ? `; ${plural(deviations, 'deviation')} accepted by name` : '';
  if (accepted)
    return `${chalk.yellow.bold(`${unkept ? 'OK' : 'ACCEPTED'} WITH DEVIATIONS${unkept}`)}  ${title}: ${summary.join(', ')} of ${steps.length} steps.`;
  const isBad = counts.wrong > 0 || redLines > 0;
  const mark = isBad ? chalk.red.bold(`NOT OK${unkept}`) : chalk.yellow.bold(`NOT COMPLETE${unkept}`);
  return `${mark}  ${title}: ${summary.join(', ')} of ${steps.length} steps${acceptedText}.`;
}

const MAX_LEFT_OUT = 8;

/** One line for all steps that --only or --from left out, with their ids. */
function renderLeftOut(steps: readonly StepResult[]): string[] {
  const ids = [...new Set(steps.filter((step) => step.leftOut).map(idOf))];
  if (ids.length === 0) return [];
  const more = ids.length > MAX_LEFT_OUT ? `, and ${ids.length - MAX_LEFT_OUT} more` : '';
  return [chalk.dim(`--    ${plural(ids.length, 'step')} left out: ${ids.slice(0, MAX_LEFT_OUT).join(', ')}${more}`)];
}

/** As --only takes it; of several robots the serial stands before it. */
function idOf({ id }: StepResult): string {
  return printable(id.slice(id.lastIndexOf('/') + 1));
}

/** The steps, one below the other, under their sections; their figures stand in a column. */
export function renderSteps(steps: readonly StepResult[], sections: ChecklistRun['sections'] = []): string[] {
  const width = Math.min(MAX_TITLE_WIDTH, Math.max(0, ...steps.map(({ title }) => title.length)));
  return joined(steps).flatMap((group, index, groups) => {
    const [step] = group;
    const section = sections.find(({ id }) => id === step.section);
    const isSame = (other: readonly StepResult[] | undefined) => other?.[0]?.section === step.section;
    // Where a section holds nothing else, its title stands on the same line.
    const isAlone = step.verdict === 'skipped' && ![groups[index - 1], groups[index + 1]].some(isSame);
    const title = section !== undefined && isAlone ? section.title : null;
    const begins = section !== undefined && title === null && !isSame(groups[index - 1]);
    const isJoined = title !== null || group.length > 1;
    const lines = isJoined ? skippedLines(group, title) : [renderStep(step, width)];
    return [...(begins ? [chalk.bold(printable(section.title))] : []), ...lines];
  });
}

/** The steps; those that are skipped one after the other are together. */
function joined(steps: readonly StepResult[]): (readonly [StepResult, ...StepResult[]])[] {
  const groups: [StepResult, ...StepResult[]][] = [];
  for (const step of steps) {
    const group = groups.at(-1);
    if (group !== undefined && joinsSkipped(group.at(-1), step)) group.push(step);
    else groups.push([step]);
  }
  return groups;
}

function skippedLines(steps: readonly [StepResult, ...StepResult[]], section: string | null): string[] {
  const { remedy } = steps[0];
  return [renderSkipped(steps, section), ...(remedy === null ? [] : [fixLine(remedy)])];
}

function fixLine(remedy: string): string {
  return `        ${chalk.cyan('fix:')} ${printable(remedy)}`;
}

/** A step with its result in words; one that is not ok with reason and fix. */
function renderStep(step: StepResult, width: number): string {
  if (step.verdict === 'ok' || step.leftOut) return renderStepLine(step, width);
  const why = `        ${printable(step.why)}`;
  return [
    renderStepLine(step, width),
    why,
    ...(step.deviation === null ? [] : [`        ${renderDeviation(step.deviation)}`]),
    ...(step.remedy === null ? [] : [fixLine(step.remedy)]),
  ].join('\n');
}

function renderDeviation({ approvedBy, reason }: Deviation): string {
  return chalk.yellow(`accepted by ${printable(approvedBy)}: ${printable(reason)}`);
}

/** What a running step waits for, or asks a person to do. */
export function renderStepProgress(text: string): string {
  return `      ${chalk.dim('…')} ${printable(text)}`;
}

/** A step on one line: verdict, title, result in words. */
export function renderStepLine(step: StepResult, width = MAX_TITLE_WIDTH): string {
  const { verdict, title, shown, why, kind, deviation } = step;
  const mark = verdict === 'skipped' ? chalk.yellow('skip') : renderVerdict(verdict);
  const accepted = deviation === null || verdict === 'ok' ? '' : `accepted by ${deviation.approvedBy}`;
  const found = step.leftOut ? 'left out' : (shown ?? (kind === 'run' && verdict === 'ok' ? why : ''));
  const id = verdict === 'ok' || step.leftOut ? '' : `(${idOf(step)})`;
  const result = [id, [found, accepted].filter(Boolean).join('; ')].filter(Boolean).join(' ');
  return `${mark}  ${printable(title).padEnd(width)}  ${chalk.dim(printable(result))}`.trimEnd();
}
