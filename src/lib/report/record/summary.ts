import type { CheckRecord, MeasuredValue, RecordVerification, RobotRecord, StepResult } from '../../checklist/index.ts';
import type { Basis, Mark } from '../../evidence/index.ts';
import { mapTexts, shorten } from '../../text/index.ts';
import type { Block, Span, Tone, Words } from '../document.ts';
import type { RecordTexts } from '../texts/record.ts';
import { deviations } from './deviations.ts';
import { type Entry, isBad, redLineTitle, titleIn, type Writing } from './entries.ts';

/** Verification state of a record. Only `verified` may be green. */
export type SignatureState = 'verified' | 'not-verified' | 'wrong' | 'not-signed';

export function signatureState(record: CheckRecord, verification: RecordVerification): SignatureState {
  if (verification.verdict === 'wrong') return 'wrong';
  if (record.signature === null) return 'not-signed';
  return verification.verified ? 'verified' : 'not-verified';
}

const signatureTone: Readonly<Record<Exclude<SignatureState, 'verified'>, Tone>> = {
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

/** A measured value with its unit, as it came. */
export function valueText({ value, unit }: Pick<MeasuredValue, 'value' | 'unit'>): string {
  return unit === null ? String(value) : `${value} ${unit}`;
}

const MAX_CHARACTERS = 4_000;

/** Truncates every text that is too long for paper, with the number of characters cut. */
export function bounded<T>(value: T, texts: { readonly cut: (characters: number) => string }): T {
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

/** The blocks of one robot, under its name where there are several. */
export function robotPart(
  { robots }: CheckRecord,
  { site, serial }: RobotRecord,
  blocks: readonly Block[],
  nameOf: RecordTexts['robot'],
): Block[] {
  return robots.length === 1 ? [...blocks] : [{ kind: 'heading', level: 3, text: nameOf(site, serial) }, ...blocks];
}

/** So much fits on one page with the places for signatures; a test fills each of them to its end. */
const MAX_LINES = 2;
const MAX_ROBOTS = 3;
const MAX_FINDINGS = 2;

/** The first page: whose, how it came out, what is red, who, when, whether it is signed, and where to sign it. */
export function summaryBlocks(
  record: CheckRecord,
  verification: RecordVerification,
  entries: readonly Entry[],
  writing: Writing,
): Block[] {
  const { checklist } = record;
  const { lang, texts } = writing;
  const state = signatureState(record, verification);
  return [
    { kind: 'title', text: cut(titleIn(checklist, lang), 80), above: texts.above[checklist.phase ?? 'none'] },
    ...simulatedBanner(record, texts),
    verdictBanner(record, state, texts),
    // A good signature says nothing of the robot, and must not stand beside a verdict as if it did.
    ...(state === 'verified' ? [] : [signatureBanner(record, verification, state, texts)]),
    figures(record, state, texts),
    { kind: 'facts', rows: factRows(record, state, writing) },
    // A mark stands there with the software.
    ...(record.robots.some(({ software }) => software !== null)
      ? [{ kind: 'paragraph', text: texts.marks, quiet: true } as const]
      : []),
    ...redLines(record, entries, state, writing),
    ...deviations(record, writing),
    ...acceptance(record, texts),
  ];
}

/** A record of a simulator looks like one of a robot, and is none. */
function simulatedBanner({ robots }: CheckRecord, texts: RecordTexts): Block[] {
  const simulated = robots.filter((robot) => robot.simulated);
  if (simulated.length === 0) return [];
  const which = simulated.length === robots.length ? [] : [cut(simulated.map(({ serial }) => serial).join(', '), 100)];
  return [{ kind: 'banner', tone: 'bad', title: texts.simulated, lines: [texts.simulatedText, ...which] }];
}

/** An unverified record proves nothing, and one of a simulator nothing of a robot. */
function isGreen({ robots }: CheckRecord, state: SignatureState): boolean {
  return state === 'verified' && robots.every(({ simulated }) => !simulated);
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
  // An accepted deviation is still not ok.
  const tone: Tone = verdict === 'wrong' ? 'bad' : verdict === 'ok' && isGreen(record, state) ? 'good' : 'open';
  const notes = [...(record.interrupted ? [texts.interrupted] : []), ...(record.leftOut ? [texts.leftOut] : [])];
  return { kind: 'banner', tone, title: titles[verdict], lines: notes.length === 0 ? [] : [notes.join(' ')] };
}

function signatureBanner(
  { signature }: CheckRecord,
  { findings }: RecordVerification,
  state: Exclude<SignatureState, 'verified'>,
  texts: RecordTexts,
): Block {
  const open = findings.filter(({ verdict }) => verdict === (state === 'wrong' ? 'wrong' : 'not-checked'));
  const lines = open.slice(0, MAX_FINDINGS).map(({ id, title }) => cut(texts.findingTitles[id] ?? title, 100));
  if (open.length > MAX_FINDINGS) lines.push(texts.more(open.length - MAX_FINDINGS));
  const banner = (title: string, text: string, more: readonly string[] = []): Block => ({
    kind: 'banner',
    tone: signatureTone[state],
    title,
    lines: [text, ...more],
  });
  switch (state) {
    case 'not-verified':
      return banner(texts.signedNotVerified, texts.signedNotVerifiedText, lines);
    case 'wrong':
      return banner(signature === null ? texts.notSignedWrong : texts.signedWrong, texts.signedWrongText, lines);
    case 'not-signed':
      return banner(texts.notSigned, texts.notSignedText);
  }
}

/** Each step is counted once: an accepted one as a deviation, whatever it came out as. */
function figures(record: CheckRecord, state: SignatureState, texts: RecordTexts): Block {
  const open = allSteps(record).filter(({ deviation }) => deviation === null);
  const count = (verdict: StepResult['verdict']) => open.filter((step) => step.verdict === verdict).length;
  const cell = (value: number, label: string, tone: Tone | null) => ({
    value: String(value),
    label,
    tone: value === 0 ? null : tone,
  });
  const { figures: words } = texts;
  return {
    kind: 'figures',
    cells: [
      cell(count('wrong'), words.wrong, 'bad'),
      cell(count('not-checked'), words.notChecked, 'open'),
      cell(count('skipped'), words.skipped, 'open'),
      cell(record.deviations, words.deviations, 'open'),
      cell(count('ok'), words.ok, isGreen(record, state) ? 'good' : null),
    ],
  };
}

function factRows(
  record: CheckRecord,
  state: SignatureState,
  { texts, locale }: Writing,
): (readonly [string, Words])[] {
  const { fact } = texts;
  const { checklist, technician, robots, resumedAt } = record;
  const person = [technician.name, technician.initials].filter((one) => one !== null).map((one) => cut(one, 50));
  const shown = robots.slice(0, robots.length > MAX_ROBOTS ? MAX_ROBOTS - 1 : MAX_ROBOTS);
  const rest = robots.length - shown.length;
  const robotLines = shown.map((robot) => robotLine(robot, robots.length === 1, texts));
  if (rest > 0) robotLines.push([texts.more(rest)]);
  const parties = (['customer', 'operator'] as const).flatMap((role) => {
    const names = partyNames(record, role);
    return names === null ? [] : [[fact[role], cut(names, 72)] as const];
  });
  return [
    ...parties,
    [fact.robots, robotLines.flatMap((line, at) => (at === 0 ? line : ['\n', ...line]))],
    [
      fact.checklist,
      `${cut(checklist.name, 30)}, ${cut(checklist.file, 30)}, SHA-256 ${checklist.sha256.slice(0, 16)}`,
    ],
    [fact.proof, proofText(record, texts)],
    [fact.technician, person.length === 0 ? [{ text: texts.noTechnician, tone: 'open' }] : person.join(', ')],
    [
      fact.time,
      [
        texts.times(locale.moment(record.startedAt), locale.moment(record.endedAt)),
        texts.took(locale.duration(record.tookMs)),
        ...(resumedAt.length > 0 ? [texts.resumed(resumedAt.length)] : []),
      ].join(', '),
    ],
    [fact.motion, record.motionAllowed ? texts.motionYes : texts.motionNo],
    [fact.record, `${texts.edition(record.id, record.edition)}, gw ${cut(record.gw, 40)}`],
    ...(state === 'verified' ? [[fact.signature, [signedSpan(record, texts)]] as const] : []),
  ];
}

function signedSpan(record: CheckRecord, texts: RecordTexts): Span {
  const text = texts.signedVerified(cut(record.signature?.serial ?? '', 60));
  return isGreen(record, 'verified') ? { text, tone: 'good' } : { text };
}

/** How many of the steps that are ok the program checked, and how many rest on the word of a person. */
function proofText(record: CheckRecord, { proof }: RecordTexts): string {
  const ok = allSteps(record).filter(({ verdict }) => verdict === 'ok');
  const count = (basis: ReturnType<typeof basisOf>) => ok.filter((step) => basisOf(step) === basis).length;
  return proof(count('program'), count('both'), count('person'));
}

/** Who vouches for a step. */
export function basisOf({ kind, run }: Pick<StepResult, 'kind' | 'run'>): 'program' | 'person' | 'both' {
  if (kind === 'run' || kind === 'unavailable') return 'program';
  return run === null ? 'person' : 'both';
}

/** Company and person of one side, each once; null where no site file names them. */
function partyNames({ robots }: CheckRecord, role: 'customer' | 'operator'): string | null {
  const names = robots.flatMap((robot) => {
    const party = robot[role];
    if (party === undefined) return [];
    return [[party.company, party.name].filter((one) => one !== null).join(', ')];
  });
  return names.length === 0 ? null : [...new Set(names)].join('; ');
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

function redLines(
  { robots }: CheckRecord,
  entries: readonly Entry[],
  state: SignatureState,
  { lang, texts }: Writing,
): Block[] {
  const red = entries.filter((entry) => entry.kind === 'red-line' || isBad(entry.step));
  const items: Words[] = red.slice(0, MAX_LINES).map((entry) => {
    // The title of a step says what is required: alone it would read as a fact.
    const title = entry.kind === 'red-line' ? redLineTitle(entry.redLine, texts) : titleIn(entry.step, lang);
    const text = cut(entry.kind === 'red-line' ? title : texts.notMet(title), 64);
    const where = robots.length > 1 ? ` (${cut(entry.robot.serial, 16)})` : '';
    return [{ text: `${text}${where}`, tone: 'bad', bold: true }, `, ${texts.number(entry.number)}`];
  });
  const heading: Block = { kind: 'heading', text: texts.redTitle, ...(red.length > 0 && { tone: 'bad' as const }) };
  if (red.length === 0) {
    return [heading, { kind: 'paragraph', text: state === 'verified' ? texts.redNone : texts.redNoneUnproven }];
  }
  if (red.length > MAX_LINES) items.push([{ text: texts.more(red.length - MAX_LINES), tone: 'bad' }]);
  return [heading, { kind: 'list', items }];
}

function acceptance(record: CheckRecord, texts: RecordTexts): Block[] {
  const { counts } = record;
  const open = counts.wrong + counts.skipped + counts.notChecked + redLineCount(record);
  const signFor = (role: 'customer' | 'operator') => {
    const company = record.robots[0]?.[role]?.company ?? null;
    return company === null ? texts.signFor[role] : texts.signForName[role](cut(company, 40));
  };
  return [
    { kind: 'heading', text: texts.acceptanceTitle, isKept: true },
    { kind: 'paragraph', text: open === 0 ? texts.acceptanceOk : texts.acceptanceOpen(open) },
    {
      kind: 'signatures',
      places: [
        { role: signFor('operator'), lines: texts.signLines },
        { role: signFor('customer'), lines: texts.signLines },
      ],
    },
  ];
}
