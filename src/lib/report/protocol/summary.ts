import type { Protocol, ProtocolVerification, RobotProtocol } from '../../checklist/index.ts';
import type { Block, Span, Tone, Words } from '../document.ts';
import type { ProtocolTexts } from '../texts/protocol.ts';
import {
  allSteps,
  isBad,
  redLineCount,
  type SignatureState,
  signatureState,
  signatureTone,
  type Verdict,
  verdictOf,
} from './judgement.ts';
import { cut, duration, markIn, moment } from './wording.ts';

/** So much fits on one page with the places for signatures; a test fills each of them to its end. */
const MOST_LINES = 4;
/** Of the reasons of all red lines together. */
const MOST_REASONS = 280;
const MOST_ROBOTS = 3;
const MOST_FINDINGS = 2;

/** The first page: whose, how it came out, what is red, who, when, whether it is signed, and where to sign it. */
export function summaryBlocks(protocol: Protocol, verification: ProtocolVerification, texts: ProtocolTexts): Block[] {
  const { checklist } = protocol;
  const state = signatureState(protocol, verification);
  return [
    { kind: 'title', text: cut(checklist.title, 80), above: texts.above[checklist.phase ?? 'none'] },
    verdictBanner(protocol, state, texts),
    signatureBanner(protocol, verification, state, texts),
    figures(protocol, state, texts),
    { kind: 'facts', rows: factRows(protocol, texts) },
    ...redLines(protocol, state, texts),
    ...acceptance(protocol, texts),
  ];
}

function verdictBanner(protocol: Protocol, state: SignatureState, texts: ProtocolTexts): Block {
  const { counts } = protocol;
  const steps = allSteps(protocol);
  const red = redLineCount(protocol);
  const verdict = verdictOf({ ...protocol, steps, redLines: red });
  const isProven = state === 'verified';
  const titles: Readonly<Record<Verdict, string>> = {
    ok: isProven ? texts.verdictOk(steps.length) : texts.verdictOkUnproven(steps.length),
    accepted: texts.verdictAccepted(protocol.deviations),
    wrong: texts.verdictWrong(steps.filter(isBad).length, red),
    incomplete: texts.verdictIncomplete(counts.skipped + counts.notChecked),
  };
  // An accepted deviation is still something that is not ok, and an unproven protocol proves nothing.
  const tone: Tone = verdict === 'wrong' ? 'bad' : verdict === 'ok' && isProven ? 'good' : 'open';
  const notes = [...(protocol.interrupted ? [texts.interrupted] : []), ...(protocol.leftOut ? [texts.leftOut] : [])];
  return { kind: 'banner', tone, title: titles[verdict], lines: notes.length === 0 ? [] : [notes.join(' ')] };
}

function signatureBanner(
  { signature }: Protocol,
  { findings }: ProtocolVerification,
  state: SignatureState,
  texts: ProtocolTexts,
): Block {
  const open = findings.filter(({ verdict }) => verdict === (state === 'wrong' ? 'wrong' : 'not-checked'));
  const lines = open
    .slice(0, MOST_FINDINGS)
    .map(({ id, title, detail }) => cut(`${texts.findingTitles[id] ?? title}: ${detail}`, 100));
  if (open.length > MOST_FINDINGS) lines.push(texts.more(open.length - MOST_FINDINGS));
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

function figures({ counts, deviations }: Protocol, state: SignatureState, texts: ProtocolTexts): Block {
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

function factRows(protocol: Protocol, texts: ProtocolTexts): (readonly [string, Words])[] {
  const { fact } = texts;
  const { checklist, technician, robots, resumedAt } = protocol;
  const person = [technician.name, technician.initials].filter((one) => one !== null).map((one) => cut(one, 50));
  const shown = robots.slice(0, robots.length > MOST_ROBOTS ? MOST_ROBOTS - 1 : MOST_ROBOTS);
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
        texts.times(moment(protocol.startedAt), moment(protocol.endedAt)),
        texts.worked(duration(protocol.tookMs, texts)),
        ...(resumedAt.length > 0 ? [texts.resumed(resumedAt.length)] : []),
      ].join(', '),
    ],
    [fact.motion, protocol.motionAllowed ? texts.motionYes : texts.motionNo],
    [fact.protocol, `${texts.edition(protocol.id, protocol.edition)}, gw ${cut(protocol.gw, 40)}`],
  ];
}

function robotLine(robot: RobotProtocol, isOne: boolean, texts: ProtocolTexts): (string | Span)[] {
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

function redLines(protocol: Protocol, state: SignatureState, texts: ProtocolTexts): Block[] {
  const { robots } = protocol;
  const where = (serial: string) => (robots.length > 1 ? ` (${cut(serial, 16)})` : '');
  const lines = robots.flatMap(({ serial, redLines: red, steps }) => [
    ...red.map(({ title, detail }) => [title, detail, where(serial)] as const),
    ...steps.filter(isBad).map(({ title, why }) => [title, why, where(serial)] as const),
  ]);
  const told = lines.slice(0, MOST_LINES);
  const room = Math.floor(MOST_REASONS / told.length);
  const items: Words[] = told.map(([title, why, at]) => [
    { text: `${cut(title, 60)}${at}: `, tone: 'bad', bold: true },
    cut(why, room),
  ]);
  const heading: Block = { kind: 'heading', text: texts.redTitle, ...(lines.length > 0 && { tone: 'bad' as const }) };
  if (lines.length === 0) {
    return [heading, { kind: 'paragraph', text: state === 'verified' ? texts.redNone : texts.redNoneUnproven }];
  }
  if (lines.length > MOST_LINES) items.push([{ text: texts.more(lines.length - MOST_LINES), tone: 'bad' }]);
  return [heading, { kind: 'list', items }];
}

function acceptance(protocol: Protocol, texts: ProtocolTexts): Block[] {
  const { counts } = protocol;
  const open = counts.wrong + counts.skipped + counts.notChecked + redLineCount(protocol);
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
