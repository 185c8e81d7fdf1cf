import { createHash } from 'node:crypto';
import type { CheckRecord, RecordVerification, RobotRecord, StepResult } from '../../checklist/index.ts';
import { type Block, type DocumentModel, type Language, type Row, type Tone, table, type Words } from '../document.ts';
import { type RecordTexts, recordTexts } from '../texts/record.ts';
import { bounded, isBad, markIn, moment, notOkFirst, signatureState, summaryBlocks, valueText } from './summary.ts';

/**
 * The report of a record: one page of summary, then steps that are not ok, wrong ones first, then ok steps, measured values,
 * facts, attachments and verification findings. Without a verified signature nothing in it is green.
 */
export function recordDocument(
  whole: CheckRecord,
  verification: RecordVerification,
  { lang, madeAt }: { readonly lang: Language; readonly madeAt: Date },
): DocumentModel {
  const texts = recordTexts[lang];
  const record = { ...whole, robots: whole.robots.map((robot) => forReaders(robot, texts)) };
  const state = signatureState(record, verification);
  const isOne = record.robots.length === 1;
  return {
    lang,
    title: record.checklist.title,
    footer: texts.footer(record.id, record.edition, texts.state[state]),
    madeAt,
    blocks: [
      ...summaryBlocks(record, verification, texts),
      { kind: 'page-break' },
      ...(texts.wording === '' ? [] : [{ kind: 'paragraph', text: texts.wording, quiet: true } as const]),
      { kind: 'heading', text: texts.notOkTitle },
      ...record.robots.flatMap((robot) => robotPart(robot, isOne, texts, notOkBlocks(robot, texts))),
      ...deviations(record, texts),
      { kind: 'heading', text: texts.okTitle },
      ...record.robots.flatMap((robot) => robotPart(robot, isOne, texts, okBlocks(robot, texts))),
      ...values(record, texts),
      ...evidence(record, isOne, texts),
      ...attachments(record, texts),
      ...signature(record, verification, texts),
    ],
  };
}

/** The full measured data is for programs, and only in the record. */
function forReaders(robot: RobotRecord, texts: RecordTexts): RobotRecord {
  return bounded({ ...robot, steps: robot.steps.map((step) => ({ ...step, measured: null })) }, texts);
}

/** The blocks of one robot, under its name where there are several. */
function robotPart(robot: RobotRecord, isOne: boolean, texts: RecordTexts, blocks: readonly Block[]): Block[] {
  if (isOne) return [...blocks];
  return [{ kind: 'heading', level: 3, text: texts.robot(robot.site, robot.serial) }, ...blocks];
}

function notOkBlocks({ redLines, steps }: RobotRecord, texts: RecordTexts): Block[] {
  const { row, mark } = texts;
  // Skipped and left-out steps add no finding of their own; a list of them is enough.
  const left = steps.filter(({ leftOut, verdict }) => leftOut && verdict === 'not-checked');
  const skipped = steps.filter(({ verdict, deviation }) => verdict === 'skipped' && deviation === null);
  const blocks: Block[] = redLines.map(({ title, detail, remedy }) => ({
    kind: 'card',
    tone: 'bad',
    mark: mark.redLine,
    title,
    rows: [
      [row.why, detail],
      [row.remedy, remedy],
    ],
  }));
  for (const step of notOkFirst(steps)) {
    if (!left.includes(step) && !skipped.includes(step)) blocks.push(stepCard(step, texts));
  }
  if (skipped.length > 0) {
    const rows = skipped.map(({ title, why, proves }): Row => ({ cells: [title, why, proves], tone: 'open' }));
    blocks.push({ kind: 'heading', level: 3, text: texts.skippedTitle, tone: 'open' });
    blocks.push(table(texts.skippedHead, [9, 9, 7], rows));
  }
  if (left.length > 0) {
    const [stepHead = '', , provesHead = ''] = texts.okHead;
    const rows = left.map(({ title, proves }): Row => ({ cells: [title, proves], tone: 'open' }));
    blocks.push({ kind: 'heading', level: 3, text: texts.leftOutTitle, tone: 'open' });
    blocks.push(table([stepHead, provesHead], [10, 8], rows));
  }
  return blocks.length === 0 ? [{ kind: 'paragraph', text: texts.notOkNone }] : blocks;
}

function stepCard(step: StepResult, texts: RecordTexts): Block {
  const { row } = texts;
  const tone: Tone = isBad(step) ? 'bad' : 'open';
  const mark =
    step.deviation === null ? texts.mark[step.verdict] : `${texts.mark[step.verdict]}, ${texts.mark.accepted}`;
  const rows: (readonly [string, Words])[] = [[row.why, step.why]];
  const missed = step.expectations.filter(({ verdict }) => verdict !== 'ok');
  const unstated = missed.filter((one) => !isStated(one, step.why));
  if (unstated.length > 0) {
    rows.push([
      row.found,
      unstated.map(({ path, expected, found }) => texts.expected(path, expected, found)).join('\n'),
    ]);
  }
  if (step.error?.tried != null) rows.push([row.tried, [{ text: step.error.tried, code: true }]]);
  if (step.values.length > 0) rows.push([row.values, valueLines(step, texts)]);
  if (step.answer !== null) rows.push([row.answer, answerText(step.answer, texts)]);
  if (step.remedy !== null) rows.push([row.remedy, step.remedy]);
  if (step.deviation !== null) {
    const { reason, approvedBy, at } = step.deviation;
    rows.push([row.deviation, texts.deviation(reason, approvedBy, moment(at))]);
  }
  if (step.earlier.length > 0) rows.push([row.earlier, earlierText(step, texts)]);
  rows.push([row.proves, step.proves]);
  return { kind: 'card', tone, mark, title: step.title, rows };
}

/** Whether the reason names the path, or the finding at it in its own words. */
function isStated({ path, found }: StepResult['expectations'][number], why: string): boolean {
  return why.includes(path) || why.includes(found.replace(/^'[^']*': /, '').replace(/^'(.*)'$/s, '$1'));
}

function okBlocks({ steps, sections }: RobotRecord, texts: RecordTexts): Block[] {
  const ok = steps.filter(({ verdict }) => verdict === 'ok');
  const tableOf = (of: readonly StepResult[]) =>
    table(
      texts.okHead,
      [9, 10, 7],
      of.map((step) => ({ cells: [step.title, provenText(step, texts), step.proves] })),
    );
  if (ok.length === 0) return [{ kind: 'paragraph', text: '–' }];
  const named = new Set(sections.map(({ id }) => id));
  const loose = ok.filter(({ section }) => section === null || !named.has(section));
  return [
    ...(loose.length === 0 ? [] : [tableOf(loose)]),
    ...sections.flatMap(({ id, title }): Block[] => {
      const own = ok.filter(({ section }) => section === id);
      return own.length === 0 ? [] : [{ kind: 'heading', level: 3, text: title }, tableOf(own)];
    }),
  ];
}

function provenText(step: StepResult, texts: RecordTexts): string {
  const lines = [step.shown ?? (step.answer === null ? step.why : '')];
  if (step.answer !== null) lines.push(answerText(step.answer, texts));
  if (step.earlier.length > 0) lines.push(`${texts.row.earlier}: ${earlierText(step, texts)}`);
  return lines.filter((line) => line !== '').join('\n');
}

function answerText(answer: NonNullable<StepResult['answer']>, texts: RecordTexts): string {
  const who = [answer.by, answer.initials, answer.at === null ? null : moment(answer.at)].filter((one) => one !== null);
  const word = texts.answered[answer.answer];
  return [
    who.length === 0 ? word : texts.answerBy(word, who.join(', ')),
    ...(answer.remark === null ? [] : [answer.remark]),
    ...(answer.attachments.length === 0 ? [] : [`${texts.row.photos}: ${answer.attachments.join(', ')}`]),
  ].join('\n');
}

function earlierText(step: StepResult, texts: RecordTexts): string {
  return step.earlier
    .map(({ at, verdict, why }) => texts.earlier(texts.mark[verdict], at === null ? texts.noTime : moment(at), why))
    .join('\n');
}

function valueLines(step: StepResult, texts: RecordTexts): string {
  return step.values.map((one) => texts.value(one.name, valueText(one), markIn(one, texts))).join('\n');
}

function deviations({ robots }: CheckRecord, texts: RecordTexts): Block[] {
  const rows = robots.flatMap(({ steps, serial }) =>
    steps.flatMap((step): Row[] => {
      if (step.deviation === null) return [];
      const { reason, approvedBy, at } = step.deviation;
      const title = robots.length > 1 ? `${step.title} (${serial})` : step.title;
      return [{ cells: [title, texts.mark[step.verdict], reason, approvedBy, moment(at)], tone: 'open' }];
    }),
  );
  if (rows.length === 0) return [];
  return [
    { kind: 'heading', text: texts.deviationsTitle, tone: 'open' },
    { kind: 'paragraph', text: texts.deviationsText },
    table(texts.deviationsHead, [7, 5, 9, 5, 5], rows),
  ];
}

function values({ robots }: CheckRecord, texts: RecordTexts): Block[] {
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
    { kind: 'heading', text: texts.valuesTitle },
    table(texts.valuesHead, [8, 8, 5, 7], rows),
    // Where facts follow, the marks are explained below them.
    ...(robots.some(({ evidence: facts }) => facts.length > 0)
      ? []
      : [{ kind: 'paragraph', text: texts.marks, quiet: true } as const]),
  ];
}

function verifiedText({ mark, verifiedHere }: RobotRecord['evidence'][number], texts: RecordTexts): string {
  return mark === 'BELEGT' && verifiedHere === 'no' ? texts.elsewhere : texts.verifiedHere[verifiedHere];
}

function evidence({ robots }: CheckRecord, isOne: boolean, texts: RecordTexts): Block[] {
  const parts = robots.flatMap((robot): Block[] => {
    if (robot.evidence.length === 0) return [];
    const rows = robot.evidence.map(
      (fact): Row => ({
        cells: [[{ text: fact.id, code: true }], markIn(fact, texts), fact.statement, verifiedText(fact, texts)],
      }),
    );
    return robotPart(robot, isOne, texts, [table(texts.evidenceHead, [9, 5, 10, 5], rows)]);
  });
  if (parts.length === 0) return [];
  return [
    { kind: 'heading', text: texts.evidenceTitle },
    ...parts,
    { kind: 'paragraph', text: texts.marks, quiet: true },
  ];
}

function attachments({ attachments: files }: CheckRecord, texts: RecordTexts): Block[] {
  if (files.length === 0) return [];
  const rows = files.map(
    ({ name, mediaType, bytes, sha256 }): Row => ({
      cells: [name, mediaType, String(bytes), [{ text: sha256, code: true }]],
    }),
  );
  return [{ kind: 'heading', text: texts.attachmentsTitle }, table(texts.attachmentsHead, [8, 5, 4, 13], rows)];
}

function signature(record: CheckRecord, { findings }: RecordVerification, texts: RecordTexts): Block[] {
  const { signature: signed } = record;
  const rows = findings.map(
    ({ id, title, verdict, detail }): Row => ({
      cells: [texts.findingTitles[id] ?? title, texts.finding[verdict], detail],
      ...(verdict !== 'ok' && { tone: verdict === 'wrong' ? ('bad' as const) : ('open' as const) }),
    }),
  );
  const { signatureRows: words } = texts;
  return [
    { kind: 'heading', text: texts.signatureTitle },
    signed === null
      ? { kind: 'paragraph', text: [{ text: `${texts.notSigned}. `, tone: 'open', bold: true }, texts.notSignedText] }
      : {
          kind: 'facts',
          rows: [
            [words.serial, signed.serial],
            [words.algorithm, signed.algorithm],
            [words.fingerprint, [{ text: fingerprintOf(signed.certificate), code: true }]],
          ],
        },
    table(texts.findingsHead, [7, 4, 12], rows),
  ];
}

/** SHA-256 of the certificate itself, to compare with `gw enrol status`; of any other text, of what is there. */
function fingerprintOf(pem: string): string {
  // The certificate of the key stands first; those of its issuers may follow.
  const [first = pem] = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/.exec(pem) ?? [];
  const der = Buffer.from(first.replace(/-----[^-]*-----/g, ''), 'base64');
  const hex = createHash('sha256').update(der).digest('hex').toUpperCase();
  return hex.match(/../g)?.join(':') ?? hex;
}
