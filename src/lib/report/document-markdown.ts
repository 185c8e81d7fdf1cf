import { codeSpan } from '../text/index.ts';
import { type Block, type DocumentModel, spansOf, type Words } from './document.ts';
import { foreign } from './markdown.ts';
import { shown } from './text.ts';

/** The document as Markdown, for mails, tickets and version control. Foreign text is escaped, so it stays text. */
export function writeMarkdown(model: DocumentModel): string {
  const blocks = model.blocks.flatMap((block) => {
    const lines = blockLines(block);
    return lines.length === 0 ? [] : [lines.join('\n')];
  });
  return `${blocks.join('\n\n')}\n\n---\n\n${plain(model.footer)}\n`;
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
