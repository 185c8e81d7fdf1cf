/** Markdown of our own in a cell of a table: no bar ends the cell, no line end the row, no word becomes an element. */
export function tableCell(markdown: string): string {
  return markdown.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}

/** Foreign text of one line, so that it can make neither markup nor table cells nor HTML. */
export function escapeMarkdown(line: string): string {
  return line.replace(/[\\`*_{}[\]<>#|~!&]/g, (character) => `\\${character}`);
}

/** Foreign text of one line between backticks, where nothing can be escaped: what would end it is replaced. */
export function codeSpan(line: string): string {
  return `\`${line.replaceAll('`', "'").replaceAll('|', '/')}\``;
}
