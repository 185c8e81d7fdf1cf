import type { CheckRecord, RecordVerification, RobotRecord, StepResult } from '../../checklist/index.ts';
import { type Block, type Row, table, type Words, withCode } from '../document.ts';
import { type Locale, localeOf } from '../locale.ts';
import { annexTexts as texts } from '../texts/annex.ts';
import { type Entry, isBad, isLeftOut } from './entries.ts';
import { markIn, robotPart, valueText } from './summary.ts';

/**
 * The technical annex, in English: what each check found, word for word, the measured values, the facts that the steps
 * rely on, and the findings of the verification.
 */
export function annexBlocks(
  record: CheckRecord,
  verification: RecordVerification,
  entries: readonly Entry[],
): readonly Block[] {
  const locale = localeOf('en', record.timeZone ?? 'UTC');
  const notOk = entries.length === 0 ? [] : [{ kind: 'heading', level: 3, text: texts.notOkTitle } as const];
  return [
    ...notOk,
    ...record.robots.flatMap((robot) => notOkBlocks(record, robot, entries, locale)),
    ...okBlocks(record),
    ...values(record),
    ...evidence(record),
    ...findings(verification),
  ];
}

function notOkBlocks(record: CheckRecord, robot: RobotRecord, entries: readonly Entry[], locale: Locale): Block[] {
  const own = entries.filter((entry) => entry.robot === robot);
  if (own.length === 0) return [];
  const waiting = own.filter((entry) => entry.kind === 'step' && isWaiting(entry.step));
  const rows = waiting.flatMap((entry): Row[] =>
    entry.kind === 'step'
      ? [{ cells: [String(entry.number), entry.step.title, withCode(entry.step.why), entry.step.proves], tone: 'open' }]
      : [],
  );
  return robotPart(
    record,
    robot,
    [
      ...own.filter((entry) => !waiting.includes(entry)).map((entry) => card(entry, locale)),
      ...(rows.length === 0
        ? []
        : [
            { kind: 'heading', level: 3, text: texts.waitingTitle, tone: 'open' } as const,
            table(texts.waitingHead, [2, 9, 9, 7], rows),
          ]),
    ],
    texts.robot,
  );
}

/** It adds no finding of its own; a row is enough. */
function isWaiting(step: StepResult): boolean {
  return isLeftOut(step) || (step.verdict === 'skipped' && step.deviation === null);
}

function card(entry: Entry, locale: Locale): Block {
  const { mark, row } = texts;
  if (entry.kind === 'red-line') {
    const { title, detail, remedy } = entry.redLine;
    const rows = [[row.why, withCode(detail)] as const, [row.remedy, withCode(remedy)] as const];
    return { kind: 'card', tone: 'bad', mark: `${entry.number}  ${mark.redLine}`, title, rows };
  }
  const { step } = entry;
  const word = step.deviation === null ? mark[step.verdict] : `${mark[step.verdict]}, ${mark.accepted}`;
  return {
    kind: 'card',
    tone: isBad(step) ? 'bad' : 'open',
    mark: `${entry.number}  ${word}`,
    title: step.title,
    rows: rowsOf(step, locale),
  };
}

function rowsOf(step: StepResult, locale: Locale): (readonly [string, Words])[] {
  const { row } = texts;
  const rows: (readonly [string, Words])[] = [[row.why, withCode(step.why)]];
  const unstated = step.expectations.filter((one) => one.verdict !== 'ok' && !isStated(one, step.why));
  if (unstated.length > 0) {
    const lines = unstated.map(({ path, expected, found }) => texts.expected(path, expected, found));
    rows.push([row.found, withCode(lines.join('\n'))]);
  }
  if (step.error?.tried != null) rows.push([row.tried, [{ text: step.error.tried, code: true }]]);
  if (step.values.length > 0) {
    const lines = step.values.map((one) => texts.value(one.name, valueText(one), markIn(one, texts)));
    rows.push([row.values, lines.join('\n')]);
  }
  if (step.remedy !== null) rows.push([row.remedy, withCode(step.remedy)]);
  if (step.earlier.length > 0) rows.push([row.earlier, withCode(earlierText(step, locale))]);
  rows.push([row.proves, step.proves]);
  return rows;
}

/** Whether the reason names the path, or the finding at it in its own words. */
function isStated({ path, found }: StepResult['expectations'][number], why: string): boolean {
  return why.includes(path) || why.includes(found.replace(/^'[^']*': /, '').replace(/^'(.*)'$/s, '$1'));
}

function earlierText(step: StepResult, locale: Locale): string {
  return step.earlier
    .map(({ at, verdict, why }) =>
      texts.earlier(texts.mark[verdict], at === null ? texts.noTime : locale.moment(at), why),
    )
    .join('\n');
}

function okBlocks(record: CheckRecord): Block[] {
  const parts = record.robots.flatMap((robot): Block[] => {
    const ok = robot.steps.filter(({ verdict }) => verdict === 'ok');
    if (ok.length === 0) return [];
    const rows = ok.map((step) => ({ cells: [step.title, withCode(step.shown ?? step.why), step.proves] }));
    return robotPart(record, robot, [table(texts.okHead, [9, 10, 7], rows)], texts.robot);
  });
  return parts.length === 0 ? [] : [{ kind: 'heading', level: 3, text: texts.okTitle }, ...parts];
}

function values({ robots }: CheckRecord): Block[] {
  const rows = robots.flatMap(({ steps, serial }) =>
    steps.flatMap((step) =>
      step.values.map((one): Row => {
        const title = robots.length > 1 ? `${step.title} (${serial})` : step.title;
        return { cells: [title, `${one.name}: ${valueText(one)}`, markIn(one, texts), one.source] };
      }),
    ),
  );
  if (rows.length === 0) return [];
  return [
    { kind: 'heading', level: 3, text: texts.valuesTitle },
    { kind: 'paragraph', text: texts.marks, quiet: true },
    table(texts.valuesHead, [8, 8, 5, 7], rows),
  ];
}

function evidence(record: CheckRecord): Block[] {
  const parts = record.robots.flatMap((robot): Block[] => {
    if (robot.evidence.length === 0) return [];
    const rows = robot.evidence.map(
      (fact): Row => ({
        cells: [[{ text: fact.id, code: true }], markIn(fact, texts), fact.statement, verifiedText(fact)],
      }),
    );
    return robotPart(record, robot, [table(texts.evidenceHead, [9, 5, 10, 5], rows)], texts.robot);
  });
  if (parts.length === 0) return [];
  return [
    { kind: 'heading', level: 3, text: texts.evidenceTitle },
    // Above the measured values they are explained already.
    ...(hasValues(record) ? [] : [{ kind: 'paragraph', text: texts.marks, quiet: true } as const]),
    ...parts,
  ];
}

function hasValues({ robots }: CheckRecord): boolean {
  return robots.some(({ steps }) => steps.some(({ values: own }) => own.length > 0));
}

function verifiedText({ mark, verifiedHere }: RobotRecord['evidence'][number]): string {
  return mark === 'BELEGT' && verifiedHere === 'no' ? texts.elsewhere : texts.verifiedHere[verifiedHere];
}

function findings({ findings: list }: RecordVerification): Block[] {
  const rows = list.map(
    ({ title, verdict, detail }): Row => ({
      cells: [title, texts.finding[verdict], withCode(detail)],
      ...(verdict !== 'ok' && { tone: verdict === 'wrong' ? ('bad' as const) : ('open' as const) }),
    }),
  );
  return [{ kind: 'heading', level: 3, text: texts.findingsTitle }, table(texts.findingsHead, [7, 4, 12], rows)];
}
