import { createHash } from 'node:crypto';
import type { CheckRecord, RecordVerification, RobotRecord, StepResult } from '../../checklist/index.ts';
import { type Block, type DocumentModel, type Language, type Row, type Span, type Tone, table } from '../document.ts';
import { localeOf } from '../locale.ts';
import { annexTexts } from '../texts/annex.ts';
import { type RecordTexts, recordTexts } from '../texts/record.ts';
import { annexBlocks } from './annex.ts';
import { type Entry, entriesOf, isBad, isLeftOut, redLineTitle, titleIn, type Writing } from './entries.ts';
import { basisOf, bounded, robotPart, signatureState, summaryBlocks, valueText } from './summary.ts';

/**
 * The report of a record: what the customer signs in his language, a summary with the deviations and the signatures, then
 * titles, verdicts and persons; and what the checks found, as a technical annex in English. Without a verified signature
 * nothing in it is green.
 */
export function recordDocument(
  whole: CheckRecord,
  verification: RecordVerification,
  { lang, madeAt }: { readonly lang: Language; readonly madeAt: Date },
): DocumentModel {
  const record = bounded({ ...whole, robots: whole.robots.map(forReaders) }, annexTexts);
  const texts = recordTexts[lang];
  const writing = { lang, texts, locale: localeOf(lang, record.timeZone ?? 'UTC') };
  const entries = entriesOf(record);
  return {
    lang,
    title: titleIn(record.checklist, lang),
    footer: footerOf(record, verification, texts),
    madeAt,
    blocks: [
      ...summaryBlocks(record, verification, entries, writing),
      ...(isWhole(record, lang) ? [] : [{ kind: 'paragraph', text: texts.titlesOfList, quiet: true } as const]),
      { kind: 'heading', text: texts.notOkTitle },
      ...notOkBlocks(record, entries, writing),
      { kind: 'heading', text: texts.okTitle },
      ...record.robots.flatMap((robot) => robotPart(record, robot, okBlocks(robot, writing), texts.robot)),
      ...attachments(record, writing),
      ...signature(record, texts),
      { kind: 'heading', text: texts.annexTitle },
      { kind: 'paragraph', text: texts.annexText, quiet: true },
      ...annexBlocks(record, verification, entries),
    ],
  };
}

/** On every page: a page alone must not look like one of a robot. */
function footerOf(record: CheckRecord, verification: RecordVerification, texts: RecordTexts): string {
  const state = texts.state[signatureState(record, verification)];
  const isSimulated = record.robots.some(({ simulated }) => simulated);
  return texts.footer(record.id, record.edition, isSimulated ? `${state}, ${texts.simulatedShort}` : state);
}

/** The full measured data is for programs, and only in the record. */
function forReaders(robot: RobotRecord): RobotRecord {
  return { ...robot, steps: robot.steps.map((step) => ({ ...step, measured: null })) };
}

/** Whether every title is there in this language. */
function isWhole({ checklist, robots }: CheckRecord, lang: Language): boolean {
  const all = [checklist, ...robots.flatMap(({ steps, sections }) => [...steps, ...sections])];
  const translated = all.filter(({ titleDe }) => titleDe !== undefined).length;
  return translated === all.length || (translated === 0 && lang === 'en');
}

function notOkBlocks(record: CheckRecord, entries: readonly Entry[], writing: Writing): Block[] {
  const { texts } = writing;
  if (entries.length === 0) return [{ kind: 'paragraph', text: texts.notOkNone }];
  const rowOf = (entry: Entry): Row => {
    const { title, mark, tone } = entry.kind === 'red-line' ? redLineRow(entry, texts) : stepRow(entry.step, writing);
    return { cells: [String(entry.number), title, [{ text: mark, tone, bold: true }]], tone };
  };
  return [
    { kind: 'paragraph', text: texts.listNote, quiet: true },
    ...record.robots.flatMap((robot) => {
      const own = entries.filter((entry) => entry.robot === robot);
      if (own.length === 0) return [];
      return robotPart(record, robot, [table(texts.listHead, [2, 14, 9], own.map(rowOf))], texts.robot);
    }),
  ];
}

function redLineRow(entry: Extract<Entry, { kind: 'red-line' }>, texts: RecordTexts) {
  return { title: redLineTitle(entry.redLine, texts), mark: texts.mark.redLine, tone: 'bad' as const };
}

function stepRow(step: StepResult, writing: Writing) {
  const { lang, texts } = writing;
  const word = isLeftOut(step) ? texts.leftOutMark : texts.mark[step.verdict];
  const mark = step.deviation === null ? word : `${word}, ${texts.mark.accepted}`;
  const tone: Tone = isBad(step) ? 'bad' : 'open';
  const said = step.answer === null ? '' : `\n${proofText(step, writing)}`;
  return { title: `${titleIn(step, lang)}${said}`, mark, tone };
}

function okBlocks({ steps, sections }: RobotRecord, writing: Writing): Block[] {
  const { lang, texts } = writing;
  const ok = steps.filter(({ verdict }) => verdict === 'ok');
  const tableOf = (of: readonly StepResult[]) =>
    table(
      texts.okHead,
      [13, 12],
      of.map((step) => ({ cells: [titleIn(step, lang), proofText(step, writing)] })),
    );
  if (ok.length === 0) return [{ kind: 'paragraph', text: '–' }];
  const named = new Set(sections.map(({ id }) => id));
  const loose = ok.filter(({ section }) => section === null || !named.has(section));
  return [
    ...(loose.length === 0 ? [] : [tableOf(loose)]),
    ...sections.flatMap((section): Block[] => {
      const own = ok.filter((step) => step.section === section.id);
      return own.length === 0 ? [] : [{ kind: 'heading', level: 3, text: titleIn(section, lang) }, tableOf(own)];
    }),
  ];
}

/** Who or what says that it is ok. */
function proofText(step: StepResult, { texts, locale }: Writing): string {
  const { answer } = step;
  const basis = basisOf(step);
  if (answer === null) return texts.checkedByGw;
  const who = [answer.by, answer.initials].filter((one) => one !== null).join(', ');
  const said = basis === 'person' && answer.answer === 'yes' ? texts.confirmedOnly : texts.answered[answer.answer];
  const word = step.kind === 'measure' ? texts.measured : said;
  const values =
    step.kind === 'measure' ? `: ${step.values.map((one) => locale.figure(valueText(one))).join(', ')}` : '';
  return [
    ...(basis === 'both' && step.verdict === 'ok' ? [texts.checkedInPart] : []),
    `${who === '' ? word : texts.answerBy(word, who)}${answer.at === null ? '' : `, ${locale.moment(answer.at)}`}${values}`,
    ...(answer.remark === null ? [] : [texts.remark(answer.remark)]),
    ...(answer.attachments.length === 0 ? [] : [texts.photos(answer.attachments.join(', '))]),
  ].join('\n');
}

function attachments({ attachments: files }: CheckRecord, { texts, locale }: Writing): Block[] {
  if (files.length === 0) return [];
  const rows = files.map(
    ({ name, mediaType, bytes, sha256 }): Row => ({
      cells: [name, mediaType, locale.number(bytes), [{ text: sha256, code: true }]],
    }),
  );
  return [{ kind: 'heading', text: texts.attachmentsTitle }, table(texts.attachmentsHead, [8, 5, 4, 13], rows)];
}

function signature({ signature: signed }: CheckRecord, texts: RecordTexts): Block[] {
  const { signatureRows: words } = texts;
  const unsigned: readonly Span[] = [
    { text: `${texts.notSigned}. `, tone: 'open', bold: true },
    { text: texts.notSignedText },
  ];
  return [
    { kind: 'heading', text: texts.signatureTitle },
    signed === null
      ? { kind: 'paragraph', text: unsigned }
      : {
          kind: 'facts',
          rows: [
            [words.serial, signed.serial],
            [words.algorithm, signed.algorithm],
            [words.fingerprint, [{ text: fingerprintOf(signed.certificate), code: true }]],
          ],
        },
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
