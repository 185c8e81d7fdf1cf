/** Escapes trusted Markdown for a table cell: `|`, line ends and `<`. */
export function tableCell(markdown: string): string {
  return markdown.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

/** Escapes foreign text of one line against Markdown, table cells and HTML. */
export function escapeMarkdown(line: string): string {
  return line.replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}

/** A code span with foreign text of one line; characters that would end it are replaced, since none can be escaped. */
export function codeSpan(line: string): string {
  return `\`${line.replaceAll('`', "'").replaceAll('|', '/')}\``;
}
