import chalk from 'chalk';
import { plural, pluralWord } from '../../lib/text/index.ts';
import type {
  RecordDiff,
  RecordReport,
  RecordSubject,
  RecordVerify,
  RobotDiff,
} from '../../lib/toolkit/checklist/checklist.result.ts';
import { printable, renderTable, renderVerdict, right, worstFirst } from '../output.ts';

type State = RecordVerify['state'];

/** Beside every verdict of such a run or record. */
export const SIMULATED = 'SIMULATED ROBOT: not an acceptance';

/** `gw checklist verify` */
export function renderRecordVerify({ path, state, signedBy, findings, subject }: RecordVerify): string {
  const name = printable(path);
  const heads: Readonly<Record<State, string>> = {
    verified: `${chalk.green.bold('VERIFIED')}  ${name}, signed by ${printable(signedBy ?? '')}.`,
    'not-verified': `${chalk.yellow.bold('NOT VERIFIED')}  no check of ${name} failed, but not all could be made.`,
    wrong: `${chalk.red.bold('INVALID')}  ${name}, do not rely on it.`,
    'not-signed': `${chalk.yellow.bold('NOT SIGNED')}  ${name} carries no device signature.`,
  };
  const lines = worstFirst(findings).map(({ title, verdict, detail }) => {
    return `${renderVerdict(verdict)}  ${printable(title)}${chalk.dim(`: ${printable(detail)}`)}`;
  });
  const needsCa = findings.some(({ id, verdict }) => id === 'chain' && verdict === 'not-checked');
  return [
    heads[state],
    ...(subject === null ? [] : [chalk.dim(subjectLine(subject)), saysLine(subject, state)]),
    '',
    ...lines,
    ...(needsCa && signedBy !== null
      ? [
          '',
          'Name the CA of the device certificates with --ca-file FILE, or the site file of the robot with --site FILE.',
        ]
      : []),
  ].join('\n');
}

/** `gw checklist report`: the report itself, or its file and how far its record is verified. */
export function renderRecordReport({ document, written, subject, state, format }: RecordReport): string {
  if (written === null) return document ?? '';
  const { path, bytes, pages, replacedCharacters } = written;
  const size = `${bytes} bytes${pages === null ? '' : `, ${plural(pages, 'page')}`}`;
  return [
    `Report written to ${printable(path)} (${format}, ${size}).`,
    chalk.dim(subjectLine(subject)),
    saysLine(subject, state),
    ...reportNotes({ state, replacedCharacters }),
  ].join('\n');
}

/** Warnings about a report before it is handed over. */
export function reportNotes({
  state,
  replacedCharacters = 0,
}: {
  state: State;
  replacedCharacters?: number;
}): string[] {
  const notes: Readonly<Record<State, string | null>> = {
    verified: null,
    'not-verified': chalk.yellow('The signature was not verified, as the report states; see `gw checklist verify`.'),
    wrong: chalk.red('The verification failed, as the report states; see `gw checklist verify`.'),
    'not-signed': chalk.yellow('The record is not signed, as the report states.'),
  };
  const note = notes[state];
  const letters = plural(replacedCharacters, 'character');
  return [
    ...(note === null ? [] : [note]),
    ...(replacedCharacters === 0
      ? []
      : [chalk.yellow(`${letters} missing in the PDF fonts replaced; the report lists them.`)]),
  ];
}

/** `gw checklist diff` */
export function renderRecordDiff({ from, to, same, worse, versions, sameChecklist, robots }: RecordDiff): string {
  const counted = (count: (robot: RobotDiff) => number) => robots.reduce((sum, robot) => sum + count(robot), 0);
  const parts = [
    [counted(({ newlyWrong }) => newlyWrong.length), 'newly wrong'],
    [counted(({ lost }) => lost.length), 'no longer ok'],
    [counted(({ redLines }) => redLines.added.length), 'new red lines', 'new red line'],
    [counted(({ fixed }) => fixed.length), 'fixed'],
    [counted(({ nowChecked }) => nowChecked.length), 'now checked and ok'],
    [counted(({ reasons }) => reasons.length), 'not ok for another reason'],
    [counted(({ values }) => values.filter(({ counts }) => counts).length), 'values moved', 'value moved'],
    [counted(({ deviations }) => deviations.length), 'deviations changed', 'deviation changed'],
  ] as const;
  const summary = parts.filter(([count]) => count > 0).map(([count, word, one = word]) => plural(count, one, word));
  const what = summary.length === 0 ? 'see below' : summary.join(', ');
  const head = same
    ? 'No difference between the two visits.'
    : worse
      ? `${chalk.red.bold('WORSE')}  ${what}.`
      : `No worse: ${what}.`;
  return [
    head,
    `  old  ${printable(from.path)}, ${from.subject.endedAt}, ${stateWord(from.state)}`,
    `  new  ${printable(to.path)}, ${to.subject.endedAt}, ${stateWord(to.state)}`,
    ...(sameChecklist
      ? []
      : [
          chalk.yellow(
            `  Two different checklists: '${printable(from.subject.checklist)}' and '${printable(to.subject.checklist)}'.`,
          ),
        ]),
    ...(versions.gw.from === versions.gw.to ? [] : [`  gw ${change(versions.gw)}`]),
    ...(versions.checklist.from === versions.checklist.to ? [] : ['  the checklist file has changed']),
    ...robots.flatMap(robotLines),
    ...scatterLines(counted(({ values }) => values.filter(({ counts }) => !counts).length)),
  ].join('\n');
}

/** Values that differ at every run are counted here, and listed in JSON only. */
function scatterLines(count: number): string[] {
  if (count === 0) return [];
  const values = plural(count, 'value that differs', 'values that differ');
  return [
    '',
    chalk.dim(`Not counted: ${values} at every run (times, durations, rates, ids, folders); --json lists them.`),
  ];
}

function robotLines(robot: RobotDiff): string[] {
  const lines = [
    ...presenceLines(robot),
    ...stepLines(chalk.red('newly wrong'), robot.newlyWrong),
    ...robot.redLines.added.map(
      ({ title, detail }) => `  ${chalk.red('new red line')}  ${printable(`${title}: ${detail}`)}`,
    ),
    ...stepLines(chalk.yellow('no longer ok'), robot.lost),
    ...stepLines(chalk.green('fixed'), robot.fixed),
    ...stepLines(chalk.green('now checked'), robot.nowChecked),
    ...robot.redLines.gone.map(({ title }) => `  red line gone  ${printable(title)}`),
    ...robot.redLines.changed.map(
      ({ title, from, to }) =>
        `  ${chalk.red('red line changed')}  ${printable(title)}: ${printable(from)} -> ${printable(to)}`,
    ),
    ...stepLines('otherwise', robot.otherwise),
    ...robot.reasons.map(
      ({ title, verdict, from, to }) =>
        `  ${chalk.yellow('other reason')}  ${printable(title)} ${chalk.dim(`(${verdict}): ${printable(from)} -> ${printable(to)}`)}`,
    ),
    ...robot.deviations.map(deviationLine),
    ...valueTable(robot.values),
    ...robot.evidence.map(({ fact, mark, verifiedHere }) => {
      const parts = [
        ...(mark.from === mark.to ? [] : [`mark ${change(mark)}`]),
        ...(verifiedHere.from === verifiedHere.to ? [] : [`verified here ${change(verifiedHere)}`]),
      ];
      return `  fact  ${printable(fact)}: ${parts.join(', ')}`;
    }),
  ];
  if (lines.length === 0) return [];
  return ['', chalk.bold(`${printable(robot.site.to ?? robot.site.from ?? '')}, ${printable(robot.serial)}`), ...lines];
}

function presenceLines({ presence, site, software, device }: RobotDiff): string[] {
  if (presence === 'old-only') return [chalk.red('  is missing in the new record')];
  if (presence === 'new-only') return ['  is only in the new record'];
  return [
    ...(site.from === site.to ? [] : [`  site ${change(site)}`]),
    ...(software.from === software.to ? [] : [`  software ${change(software)}`]),
    ...(isOther(device) ? [`  ${chalk.red('another device')}  ${change(device)}`] : []),
  ];
}

/** Where both records say it. */
function isOther({ from, to }: RobotDiff['device']): boolean {
  return from !== null && to !== null && from !== to;
}

function stepLines(word: string, steps: RobotDiff['newlyWrong']): string[] {
  return steps.map(({ title, from, to, why }) => {
    const way = `${from ?? 'missing'} -> ${to ?? 'missing'}`;
    return `  ${word}  ${printable(title)} ${chalk.dim(`(${way}): ${printable(why)}`)}`;
  });
}

const deviationWords = {
  accepted: 'accepted',
  withdrawn: 'withdrawn',
  reason: 'other reason',
  'approved-by': 'other person',
  verdict: 'other verdict of the step',
  finding: 'the step fails for another reason',
  value: 'other value',
} as const;

function deviationLine({ title, to, changed }: RobotDiff['deviations'][number]): string {
  if (to === null) return `  deviation withdrawn  ${printable(title)}`;
  const isNew = changed.includes('accepted');
  const words = changed.map((what) => deviationWords[what]).join(', ');
  const word = isNew ? 'deviation accepted' : `deviation changed (${words})`;
  return `  ${chalk.yellow(word)}  ${printable(`${title}: ${to.reason}; by ${to.approvedBy}`)}`;
}

function valueTable(all: RobotDiff['values']): string[] {
  const values = all.filter(({ counts }) => counts);
  if (values.length === 0) return [];
  const shown = (value: RobotDiff['values'][number]['from'], unit: string | null) =>
    value === null ? '-' : printable(unit === null ? String(value) : `${value} ${unit}`);
  const rows = values.map(({ title, name, from, to, unit, mark, delta }) => [
    printable(title),
    printable(name),
    shown(from, unit.from),
    shown(to, unit.to),
    delta === null ? '' : `${delta > 0 ? '+' : ''}${delta}`,
    mark.from === mark.to ? (mark.to ?? '') : change(mark),
  ]);
  const table = renderTable(['step', 'value', right('old'), right('new'), right('moved'), 'mark'], rows);
  return ['', ...table.split('\n').map((line) => `  ${line}`)];
}

function subjectLine({ title, robots, technician, endedAt, edition, id }: RecordSubject): string {
  const who = robots.map(({ site, serial }) => `${site}, ${serial}`).join('; ');
  return printable(`${title}; ${who}; ${technician ?? 'no technician named'}; ${endedAt}; ${id}, edition ${edition}`);
}

/** Verdict of the record; green only when verified. */
function saysLine({ verdict, simulated, counts, deviations, redLines }: RecordSubject, state: State): string {
  const words = {
    ok: 'all ok',
    accepted: 'accepted with deviations',
    wrong: 'not accepted',
    incomplete: 'not complete',
  };
  const parts = [
    [counts.wrong, 'wrong'],
    [redLines, pluralWord(redLines, 'red line')],
    [counts.notChecked, 'not checked'],
    [counts.skipped, 'skipped'],
    [deviations, 'accepted deviations'],
    [counts.ok, 'ok'],
  ] as const;
  const summary = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const text = `Verdict of the record: ${words[verdict]} (${summary.join(', ')}).`;
  if (simulated) return `${chalk.red.bold(SIMULATED)}\n${chalk.yellow(text)}`;
  if (verdict === 'wrong') return chalk.red(text);
  return verdict === 'ok' && state === 'verified' ? chalk.green(text) : chalk.yellow(text);
}

function stateWord(state: State): string {
  const word = state.replace('-', ' ');
  return state === 'verified' ? chalk.green(word) : state === 'wrong' ? chalk.red(word) : chalk.yellow(word);
}

function change({ from, to }: { readonly from: string | null; readonly to: string | null }): string {
  return `${printable(from ?? 'none')} -> ${printable(to ?? 'none')}`;
}
