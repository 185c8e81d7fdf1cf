import { basename } from 'node:path';
import type { AuditFacts } from '../../tunnel/audit/index.ts';
import { type Block, type DocumentModel, type Language, type Row, type Tone, table } from '../document.ts';
import { type Locale, localeOf } from '../locale.ts';
import { auditDe } from '../texts/audit.de.ts';
import { type AuditText, type AuditValues, auditEn } from '../texts/audit.en.ts';

type AuditTexts = typeof auditEn;
type AuditReport = AuditFacts & { readonly logs: readonly string[] };
export const auditTexts: Readonly<Record<Language, AuditTexts>> = { de: auditDe, en: auditEn };

/**
 * The report of an audit of the support sessions: the verdict and what limits it first, then the checks, the findings and
 * what the audit cannot show.
 */
export function auditDocument(
  audited: AuditReport,
  { lang, madeAt, timeZone }: { readonly lang: Language; readonly madeAt: Date; readonly timeZone: string },
): DocumentModel {
  const texts = auditTexts[lang];
  const locale = localeOf(lang, timeZone);
  const report = withMoments(audited, locale);
  const title = texts.title(report.serial);
  return {
    lang,
    title,
    footer: texts.footer(report.serial),
    madeAt,
    blocks: [
      { kind: 'title', text: title, above: texts.above },
      banner(report, texts),
      figures(report, texts, locale),
      { kind: 'heading', text: texts.checksTitle },
      checks(report, texts),
      ...findings(report, texts),
      { kind: 'heading', text: texts.infoTitle },
      { kind: 'list', items: auditInformation(report, texts) },
      { kind: 'heading', text: texts.factsTitle },
      facts(report, texts, locale.moment(madeAt.toISOString())),
      { kind: 'heading', text: texts.meaningTitle },
      { kind: 'list', items: texts.meaning },
    ],
  };
}

function filled(text: AuditText, values: AuditValues): string {
  return typeof text === 'string' ? text.replace(/\{(\w+)\}/g, (_, name) => String(values[name])) : text(values);
}

/** What a finding says, and what to do. */
export function findingText(
  { code, values }: Pick<AuditFacts['findings'][number], 'code' | 'values'>,
  texts: AuditTexts,
) {
  const sentence = filled(texts.sentence[code], values);
  return { title: texts.finding[code], sentence, remedy: texts.remedy[code] ?? texts.compare };
}

/** What is said of a check beside its verdict; empty when there is nothing to add. */
export function checkText(
  { detail, values }: Pick<AuditFacts['checks'][number], 'detail' | 'values'>,
  texts: AuditTexts,
) {
  return filled(texts.detail[detail], values);
}

/** The report with its times as people read them. */
function withMoments(report: AuditReport, { moment }: Locale): AuditReport {
  const timed = <T extends { readonly values: AuditValues }>(one: T): T => ({
    ...one,
    values: Object.fromEntries(
      Object.entries(one.values).map(([key, value]) => [
        key,
        typeof value === 'string' && /^at$|At$/.test(key) ? moment(value) : value,
      ]),
    ),
  });
  const { firstAt, lastAt, running } = report;
  return {
    ...report,
    checks: report.checks.map(timed),
    findings: report.findings.map(timed),
    firstAt: firstAt === null ? null : moment(firstAt),
    lastAt: lastAt === null ? null : moment(lastAt),
    running: running === null ? null : { ...running, untilAt: moment(running.untilAt) },
  };
}

const tones = { ok: 'good', findings: 'bad', 'not-decided': 'open' } as const satisfies Record<string, Tone>;
const checkTones = { ok: 'good', wrong: 'bad', 'not-checked': 'open' } as const satisfies Record<string, Tone>;

function countOf({ counts }: AuditReport): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

function banner(report: AuditReport, texts: AuditTexts): Block {
  const { verdict, firstBroken, cloud } = report;
  const open = report.checks.filter((check) => check.verdict === 'not-checked');
  return {
    kind: 'banner',
    tone: tones[verdict],
    title: verdict === 'findings' ? texts.verdict.findings(countOf(report)) : texts.verdict[verdict],
    lines: [
      ...(firstBroken === null
        ? []
        : [texts.firstBroken(firstBroken.file === null ? 'head.json' : basename(firstBroken.file), firstBroken.line)]),
      cloud === null ? [{ text: texts.notCompared, bold: true }] : texts.compared,
      ...(open.length === 0 ? [] : [texts.notCheckedNames(open.map(({ id }) => texts.check[id]).join('; '))]),
    ],
  };
}

function figures(report: AuditReport, texts: AuditTexts, locale: Locale): Block {
  const refused = report.refused.reduce((sum, { count }) => sum + count, 0);
  const found = countOf(report);
  const open = report.checks.filter(({ verdict }) => verdict === 'not-checked').length;
  return {
    kind: 'figures',
    cells: [
      { value: locale.number(report.records), label: texts.figures.records, tone: null },
      { value: locale.number(report.sessions), label: texts.figures.sessions, tone: null },
      { value: locale.number(refused), label: texts.figures.refused, tone: null },
      { value: String(found), label: texts.figures.findings, tone: found > 0 ? 'bad' : null },
      { value: String(open), label: texts.figures.open, tone: open > 0 ? 'open' : null },
    ],
  };
}

function checks(report: AuditReport, texts: AuditTexts): Block {
  const rows = report.checks.map((check): Row => {
    const tone = checkTones[check.verdict];
    const mark = [{ text: texts.mark[check.verdict], tone }];
    return { cells: [texts.check[check.id], mark, checkText(check, texts)], tone };
  });
  return table(texts.checksHead, [13, 4, 9], rows);
}

function findings({ findings: list, notListed }: AuditReport, texts: AuditTexts): Block[] {
  if (list.length === 0) return [];
  const rows = list.map((finding): Row => {
    const { file, line, seq, session } = finding;
    const { title, sentence, remedy } = findingText(finding, texts);
    const place = texts.place(file === null ? null : basename(file), line);
    const what = [
      { text: `${title}. `, bold: true },
      sentence,
      session === null ? '' : `\n${texts.sessionOf(session)}`,
    ];
    return { cells: [place, seq === null ? '--' : String(seq), what, remedy], tone: 'bad' };
  });
  return [
    { kind: 'heading', text: texts.findingsTitle },
    table(texts.findingsHead, [5, 2, 8, 7], rows),
    ...(notListed > 0 ? [{ kind: 'paragraph', text: texts.notListed(notListed) } as const] : []),
  ];
}

/** What is no finding and still worth a sentence. */
export function auditInformation(report: AuditReport, texts: AuditTexts): string[] {
  const { info } = texts;
  const {
    refused,
    unusualRefusals,
    uncleanShutdowns,
    unknownDurations,
    clockSteps,
    firstClockStep,
    tornParts,
    running,
  } = report;
  const place = firstClockStep === null ? '' : texts.place(basename(firstClockStep.file), firstClockStep.line);
  const isWhole = report.checks.every(({ id, verdict }) => id !== 'chain' || verdict === 'ok');
  const reasons = refused.map(({ reason, count }) => `${texts.refusal[reason] ?? reason} ${count}`).join(', ');
  return [
    ...(isWhole ? [] : [info.onlyJudged]),
    ...(reasons === '' ? (isWhole ? [info.noRefused] : []) : [info.refused(reasons)]),
    ...(unusualRefusals === null ? [] : [info.unusual(unusualRefusals.day, unusualRefusals.count)]),
    ...(running === null ? [] : [info.running(running.session, running.untilAt)]),
    ...(uncleanShutdowns === 0 ? [] : [info.unclean(uncleanShutdowns)]),
    ...(unknownDurations === 0 ? [] : [info.unknownDurations(unknownDurations)]),
    ...(clockSteps === 0 ? [] : [info.clock(clockSteps, place)]),
    ...(tornParts === 0 ? [] : [info.torn(tornParts)]),
  ];
}

function facts(report: AuditReport, texts: AuditTexts, madeAt: string): Block {
  const { fact } = texts;
  const { firstSeq, lastSeq, firstAt, lastAt, cloud } = report;
  const isEmpty = firstSeq === null || lastSeq === null;
  return {
    kind: 'facts',
    rows: [
      [fact.robot, report.serial ?? texts.unknown],
      [fact.records, isEmpty ? texts.none : texts.range(firstSeq, lastSeq, report.records)],
      [fact.time, firstAt === null || lastAt === null ? texts.unknown : `${firstAt} – ${lastAt}`],
      [fact.files, report.files.length === 0 ? texts.none : report.files.map(({ path }) => path).join('\n')],
      // What was not given is said by the checks.
      ...(cloud === null
        ? []
        : [
            [
              fact.cloud,
              `${cloud.path}: ${texts.cloudFacts(cloud.records, cloud.copies, cloud.others, cloud.older)}`,
            ] as const,
          ]),
      ...(report.logs.length === 0 ? [] : [[fact.logs, report.logs.join('\n')] as const]),
      [fact.madeAt, madeAt],
    ],
  };
}
