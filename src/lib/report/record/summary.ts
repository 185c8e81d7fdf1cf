import type { CheckRecord, MeasuredValue, RecordVerification, RobotRecord, StepResult } from '../../checklist/index.ts';
import type { Basis, Mark } from '../../evidence/index.ts';
import { mapTexts, shorten } from '../../text/index.ts';
import type { Block, Span, Tone, Words } from '../document.ts';
import type { RecordTexts } from '../texts/record.ts';

/** Verification state of a record. Only `verified` may be green. */
export type SignatureState = 'verified' | 'not-verified' | 'wrong' | 'not-signed';

export function signatureState(record: CheckRecord, verification: RecordVerification): SignatureState {
  if (verification.verdict === 'wrong') return 'wrong';
  if (record.signature === null) return 'not-signed';
  return verification.verified ? 'verified' : 'not-verified';
}

const signatureTone: Readonly<Record<SignatureState, Tone>> = {
  verified: 'good',
  'not-verified': 'open',
  wrong: 'bad',
  'not-signed': 'open',
};

/** Verdict stated by a record, before its verification. */
type Verdict = 'ok' | 'accepted' | 'wrong' | 'incomplete';

export function verdictOf({
  ok,
  accepted,
  steps,
  redLines,
}: Pick<RobotRecord, 'ok' | 'accepted'> & {
  readonly steps: readonly StepResult[];
  readonly redLines: number;
}): Verdict {
  if (ok) return 'ok';
  if (accepted) return 'accepted';
  return redLines > 0 || steps.some(isBad) ? 'wrong' : 'incomplete';
}

/** Wrong and not accepted. */
export function isBad(step: StepResult): boolean {
  return step.verdict === 'wrong' && step.deviation === null;
}

/** Red first: wrong, wrong but accepted, not checked, skipped. Within these the order of the checklist. */
export function notOkFirst(steps: readonly StepResult[]): StepResult[] {
  const rank = (step: StepResult) =>
    isBad(step) ? 0 : step.verdict === 'wrong' ? 1 : step.verdict === 'not-checked' ? 2 : 3;
  return steps.filter(({ verdict }) => verdict !== 'ok').sort((one, other) => rank(one) - rank(other));
}

/** Everything of all robots that this red line or these steps are about. */
function allSteps({ robots }: CheckRecord): StepResult[] {
  return robots.flatMap(({ steps }) => steps);
}

function redLineCount({ robots }: CheckRecord): number {
  return robots.reduce((sum, { redLines }) => sum + redLines.length, 0);
}

/** The beginning of a text, on one line. */
function cut(text: string, most: number): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), most);
}

/** `2026-11-21 14:03 UTC`: to the minute, in UTC for comparison. */
export function moment(iso: string): string {
  return iso.replace(/T(\d\d:\d\d)(:\d\d(\.\d+)?)?Z$/, ' $1 UTC');
}

function duration(ms: number, texts: RecordTexts): string {
  return ms < 60_000 ? texts.seconds((ms / 1000).toFixed(1)) : texts.minutes((ms / 60_000).toFixed(1));
}

/** A measured value with its unit, as it came. */
export function valueText({ value, unit }: Pick<MeasuredValue, 'value' | 'unit'>): string {
  return unit === null ? String(value) : `${value} ${unit}`;
}

const MAX_CHARACTERS = 4_000;

/** Truncates every text that is too long for paper, with the number of characters cut. */
export function bounded<T>(value: T, texts: RecordTexts): T {
  return mapTexts(value, (text) => {
    const rest = text.length - MAX_CHARACTERS;
    return rest <= 0 ? text : `${text.slice(0, MAX_CHARACTERS).toWellFormed()} ${texts.cut(rest)}`;
  });
}

/** Records of older versions have no basis of a mark. */
export function markIn(
  { mark, basis }: { readonly mark: Mark; readonly basis?: Basis | undefined },
  texts: Pick<RecordTexts, 'markText'>,
) {
  return basis === undefined ? mark : texts.markText({ mark, basis });
}

/** So much fits on one page with the places for signatures; a test fills each of them to its end. */
const MAX_LINES = 4;
/** Of the reasons of all red lines together. */
const MAX_REASONS = 280;
const MAX_ROBOTS = 3;
const MAX_FINDINGS = 2;

/** The first page: whose, how it came out, what is red, who, when, whether it is signed, and where to sign it. */
export function summaryBlocks(record: CheckRecord, verification: RecordVerification, texts: RecordTexts): Block[] {
  const { checklist } = record;
  const state = signatureState(record, verification);
  return [
    { kind: 'title', text: cut(checklist.title, 80), above: texts.above[checklist.phase ?? 'none'] },
    verdictBanner(record, state, texts),
    signatureBanner(record, verification, state, texts),
    figures(record, state, texts),
    { kind: 'facts', rows: factRows(record, texts) },
    ...redLines(record, state, texts),
    ...acceptance(record, texts),
  ];
}

function verdictBanner(record: CheckRecord, state: SignatureState, texts: RecordTexts): Block {
  const { counts } = record;
  const steps = allSteps(record);
  const red = redLineCount(record);
  const verdict = verdictOf({ ...record, steps, redLines: red });
  const isProven = state === 'verified';
  const titles: Readonly<Record<Verdict, string>> = {
    ok: isProven ? texts.verdictOk(steps.length) : texts.verdictOkUnproven(steps.length),
    accepted: texts.verdictAccepted(record.deviations),
    wrong: texts.verdictWrong(steps.filter(isBad).length, red),
    incomplete: texts.verdictIncomplete(counts.skipped + counts.notChecked),
  };
  // An accepted deviation is still not ok, and an unverified record proves nothing.
  const tone: Tone = verdict === 'wrong' ? 'bad' : verdict === 'ok' && isProven ? 'good' : 'open';
  const notes = [...(record.interrupted ? [texts.interrupted] : []), ...(record.leftOut ? [texts.leftOut] : [])];
  return { kind: 'banner', tone, title: titles[verdict], lines: notes.length === 0 ? [] : [notes.join(' ')] };
}

function signatureBanner(
  { signature }: CheckRecord,
  { findings }: RecordVerification,
  state: SignatureState,
  texts: RecordTexts,
): Block {
  const open = findings.filter(({ verdict }) => verdict === (state === 'wrong' ? 'wrong' : 'not-checked'));
  const lines = open
    .slice(0, MAX_FINDINGS)
    .map(({ id, title, detail }) => cut(`${texts.findingTitles[id] ?? title}: ${detail}`, 100));
  if (open.length > MAX_FINDINGS) lines.push(texts.more(open.length - MAX_FINDINGS));
  const banner = (title: string, text: string, more: readonly string[] = []): Block => ({
    kind: 'banner',
    tone: signatureTone[state],
    title,
    lines: [text, ...more],
  });
  switch (state) {
    case 'verified':
      return banner(texts.signedVerified, texts.signedVerifiedBy(cut(signature?.serial ?? '', 130)));
    case 'not-verified':
      return banner(texts.signedNotVerified, texts.signedNotVerifiedText, lines);
    case 'wrong':
      return banner(signature === null ? texts.notSignedWrong : texts.signedWrong, texts.signedWrongText, lines);
    case 'not-signed':
      return banner(texts.notSigned, texts.notSignedText);
  }
}

function figures({ counts, deviations }: CheckRecord, state: SignatureState, texts: RecordTexts): Block {
  const cell = (value: number, label: string, tone: Tone | null) => ({
    value: String(value),
    label,
    tone: value === 0 ? null : tone,
  });
  const { figures: words } = texts;
  return {
    kind: 'figures',
    cells: [
      cell(counts.wrong, words.wrong, 'bad'),
      cell(counts.notChecked, words.notChecked, 'open'),
      cell(counts.skipped, words.skipped, 'open'),
      cell(deviations, words.deviations, 'open'),
      cell(counts.ok, words.ok, state === 'verified' ? 'good' : null),
    ],
  };
}

function factRows(record: CheckRecord, texts: RecordTexts): (readonly [string, Words])[] {
  const { fact } = texts;
  const { checklist, technician, robots, resumedAt } = record;
  const person = [technician.name, technician.initials].filter((one) => one !== null).map((one) => cut(one, 50));
  const shown = robots.slice(0, robots.length > MAX_ROBOTS ? MAX_ROBOTS - 1 : MAX_ROBOTS);
  const rest = robots.length - shown.length;
  const robotLines = shown.map((robot) => robotLine(robot, robots.length === 1, texts));
  if (rest > 0) robotLines.push([texts.more(rest)]);
  return [
    [fact.robots, robotLines.flatMap((line, at) => (at === 0 ? line : ['\n', ...line]))],
    [
      fact.checklist,
      `${cut(checklist.name, 30)}, ${cut(checklist.file, 30)}, SHA-256 ${checklist.sha256.slice(0, 16)}`,
    ],
    [fact.technician, person.length === 0 ? [{ text: texts.noTechnician, tone: 'open' }] : person.join(', ')],
    [
      fact.time,
      [
        texts.times(moment(record.startedAt), moment(record.endedAt)),
        texts.worked(duration(record.tookMs, texts)),
        ...(resumedAt.length > 0 ? [texts.resumed(resumedAt.length)] : []),
      ].join(', '),
    ],
    [fact.motion, record.motionAllowed ? texts.motionYes : texts.motionNo],
    [fact.record, `${texts.edition(record.id, record.edition)}, gw ${cut(record.gw, 40)}`],
  ];
}

function robotLine(robot: RobotRecord, isOne: boolean, texts: RecordTexts): (string | Span)[] {
  const { site, serial, software, steps, redLines: red } = robot;
  const verdict = verdictOf({ ...robot, steps, redLines: red.length });
  const word = texts.robotVerdict[verdict === 'incomplete' ? 'open' : verdict];
  const version: Span | string =
    software === null
      ? { text: isOne ? texts.softwareUnknown : texts.softwareUnknownShort, tone: 'open' }
      : `${texts.fact.software} ${cut(software.value, 40)} [${markIn(software, texts)}]`;
  return [
    { text: isOne ? texts.robot(cut(site, 120), serial) : texts.robot(cut(site, 26), cut(serial, 20)), bold: true },
    '; ',
    version,
    ...(!isOne
      ? ['; ', { text: word, ...(verdict !== 'ok' && { tone: verdict === 'wrong' ? 'bad' : 'open' }) } as Span]
      : []),
  ];
}

function redLines(record: CheckRecord, state: SignatureState, texts: RecordTexts): Block[] {
  const { robots } = record;
  const where = (serial: string) => (robots.length > 1 ? ` (${cut(serial, 16)})` : '');
  const lines = robots.flatMap(({ serial, redLines: red, steps }) => [
    ...red.map(({ title, detail }) => [title, detail, where(serial)] as const),
    ...steps.filter(isBad).map(({ title, why }) => [title, why, where(serial)] as const),
  ]);
  const listed = lines.slice(0, MAX_LINES);
  const maxCharacters = Math.floor(MAX_REASONS / listed.length);
  const items: Words[] = listed.map(([title, why, at]) => [
    { text: `${cut(title, 60)}${at}: `, tone: 'bad', bold: true },
    cut(why, maxCharacters),
  ]);
  const heading: Block = { kind: 'heading', text: texts.redTitle, ...(lines.length > 0 && { tone: 'bad' as const }) };
  if (lines.length === 0) {
    return [heading, { kind: 'paragraph', text: state === 'verified' ? texts.redNone : texts.redNoneUnproven }];
  }
  if (lines.length > MAX_LINES) items.push([{ text: texts.more(lines.length - MAX_LINES), tone: 'bad' }]);
  return [heading, { kind: 'list', items }];
}

function acceptance(record: CheckRecord, texts: RecordTexts): Block[] {
  const { counts } = record;
  const open = counts.wrong + counts.skipped + counts.notChecked + redLineCount(record);
  return [
    { kind: 'heading', text: texts.acceptanceTitle },
    { kind: 'paragraph', text: open === 0 ? texts.acceptanceOk : texts.acceptanceOpen(open) },
    {
      kind: 'signatures',
      places: [
        { role: texts.signFor.operator, lines: texts.signLines },
        { role: texts.signFor.customer, lines: texts.signLines },
      ],
    },
  ];
}
