import type { ChecklistResult, StepResult } from '../checklist/index.ts';
import { codeSpan, escapeMarkdown } from '../text/index.ts';
import { type Block, type DocumentModel, spansOf, table, type Words } from './document.ts';
import { clean, cleanLine, seconds, shown } from './text.ts';
import { recordEn } from './texts/record.en.ts';

const words = {
  ok: 'ok',
  wrong: [{ text: 'WRONG', bold: true }],
  skipped: 'skipped',
  'not-checked': 'not checked',
} as const satisfies Record<StepResult['verdict'], Words>;

/** The acceptance report as Markdown: verdict, summary, one table, then what is not ok and its fix. */
export function toMarkdown(result: ChecklistResult): string {
  const { counts, steps, subject } = result;
  const open = steps.filter((step) => step.verdict !== 'ok');
  const answers = steps.flatMap(({ title, answer }) =>
    answer === null ? [] : [{ cells: [title, answer.answer, answer.by ?? '', answer.remark ?? ''] }],
  );
  const verdict: Words = result.ok
    ? [{ text: `All ${steps.length} steps are ok.`, bold: true }]
    : [
        { text: 'Not accepted:', bold: true },
        ` ${counts.wrong} wrong, ${counts.skipped} skipped, ${counts.notChecked} not checked, ${counts.ok} ok.`,
      ];
  return linesOf([
    { kind: 'title', text: result.title },
    ...(result.simulated
      ? [{ kind: 'banner', tone: 'bad', title: recordEn.simulated, lines: [recordEn.simulatedText] } as const]
      : []),
    { kind: 'paragraph', text: verdict },
    { kind: 'paragraph', text: result.purpose },
    {
      kind: 'facts',
      rows: [
        ['Site', subject?.site ?? 'the site file could not be read'],
        ['Chassis serial', subject === null ? 'not known' : [{ text: subject.serial, code: true }]],
        ['Started', `${result.startedAt}, took ${seconds(result.tookMs)} s`],
        ['Motion', result.motionAllowed ? 'allowed' : 'not allowed'],
        ...(result.noRecord ? [['Record', 'none: nothing of this run is kept, and it is no acceptance'] as const] : []),
        ...(result.dryRun ? [['Dry run', 'nothing was run'] as const] : []),
        ...(result.interrupted ? [['Interrupted', 'before its end'] as const] : []),
      ],
    },
    table(
      ['Step', 'Verdict', 'Found', 'Specification'],
      [],
      steps.map((step) => ({ cells: [step.title, words[step.verdict], step.shown ?? '', step.proves] })),
    ),
    ...(open.length > 0 ? [{ kind: 'heading', text: 'What is not ok' } as const, ...open.flatMap(openStep)] : []),
    ...(answers.length > 0
      ? [
          { kind: 'heading', text: 'Answers of the technician' } as const,
          table(['Question', 'Answer', 'By', 'Remark'], [], answers),
        ]
      : []),
  ]);
}

function openStep(step: StepResult): Block[] {
  const { title, verdict, why, error, remedy } = step;
  return [
    { kind: 'heading', level: 3, text: `${title} (${verdict})` },
    {
      kind: 'facts',
      rows: [
        ['Why', why],
        ...(error?.tried ? [['Tried', [{ text: error.tried, code: true }]] as const] : []),
        ...(remedy === null ? [] : [['Fix', remedy] as const]),
      ],
    },
  ];
}

/** Foreign text of any kind as one line of plain Markdown. */
export function foreign(text: string): string {
  return escapeMarkdown(cleanLine(clean(text)));
}

/** The document as Markdown, for mails, tickets and version control. Foreign text is escaped, so it stays text. */
export function writeMarkdown(model: DocumentModel): string {
  return `${linesOf(model.blocks)}\n---\n\n${plain(model.footer)}\n`;
}

function linesOf(blocks: readonly Block[]): string {
  const texts = blocks.map((block) => blockLines(block).join('\n')).filter((text) => text !== '');
  return `${texts.join('\n\n')}\n`;
}

function blockLines(block: Block): string[] {
  switch (block.kind) {
    case 'title':
      return [...(block.above === undefined ? [] : [plain(block.above), '']), `# ${plain(block.text)}`];
    case 'heading':
      return [`${block.level === 3 ? '###' : '##'} ${plain(block.text)}`];
    case 'paragraph':
      return paragraph(block.text);
    case 'list':
      return block.items.map((item, at) => `${block.ordered === true ? `${at + 1}.` : '-'} ${inline(item)}`);
    case 'table':
      return [
        row(block.columns.map(({ title }) => plain(title))),
        row(block.columns.map(() => '---')),
        ...block.rows.map(({ cells }) => row(block.columns.map((_, at) => inline(cells[at] ?? '')))),
      ];
    case 'facts':
      return block.rows.map(([label, value]) => `- ${plain(label)}: ${inline(value)}`);
    case 'banner':
      return [`> **${plain(block.title)}**`, ...block.lines.flatMap((line) => ['>', `> ${inline(line)}`])];
    case 'figures':
      return [block.cells.map(({ value, label }) => `**${plain(value)}** ${plain(label)}`).join(' · ')];
    case 'letterhead':
      return [...hardLines(block.to), '', ...hardLines(block.from), '', plain(block.place)];
    case 'card':
      return [
        `### ${plain(block.mark)}: ${plain(block.title)}`,
        '',
        ...block.rows.map(([label, value]) => `- ${plain(label)}: ${inline(value)}`),
      ];
    case 'signatures':
      return block.places.flatMap(({ role, lines }) => [
        `**${plain(role)}**`,
        '',
        ...lines.flatMap((line) => [`\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_\\_ ${plain(line)}`, '']),
      ]);
    case 'page-break':
      return [];
  }
}

/** Lines that stay lines: Markdown joins them unless each but the last ends so. */
function hardLines(lines: readonly Words[]): string[] {
  return lines.map((line, at) => `${inline(line)}${at < lines.length - 1 ? '\\' : ''}`);
}

function paragraph(words: Words): string[] {
  const text = inline(words);
  // At the beginning of a line these would make a list or a heading.
  return [text.replace(/^(\d{1,9})([.)])/, '$1\\$2').replace(/^([-+])/, '\\$1')];
}

function inline(words: Words): string {
  return spansOf(words)
    .map((span) => {
      const text = plain(span.text, { keepEnds: true });
      if (text.trim() === '') return text;
      const [, before = '', middle = '', after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
      if (span.code === true) return `${before}${codeSpan(shown(span.text).replace(/\s+/g, ' ').trim())}${after}`;
      return span.bold === true || span.tone !== undefined ? `${before}**${middle}**${after}` : text;
    })
    .join('')
    .trim();
}

/** Text on one line without markup. */
function plain(text: string, { keepEnds = false } = {}): string {
  const [, before = '', , after = ''] = /^(\s*)([\s\S]*?)(\s*)$/.exec(shown(text)) ?? [];
  const escaped = foreign(shown(text));
  return keepEnds && escaped !== ''
    ? `${before === '' ? '' : ' '}${escaped}${after === '' ? '' : ' '}`
    : keepEnds && text !== ''
      ? ' '
      : escaped;
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
