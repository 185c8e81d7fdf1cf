import { type Block, type DocumentModel, spansOf, type Words } from '../document.ts';

/** The same document with every text passed through `showable`. */
export function fitDocument(model: DocumentModel, showable: (text: string) => string): DocumentModel {
  const words = (text: Words): Words => spansOf(text).map((span) => ({ ...span, text: showable(span.text) }));
  const rows = (all: readonly (readonly [string, Words])[]) =>
    all.map(([label, value]) => [showable(label), words(value)] as const);

  function block(one: Block): Block {
    switch (one.kind) {
      case 'title':
        return { ...one, text: showable(one.text), ...(one.above !== undefined && { above: showable(one.above) }) };
      case 'heading':
        return { ...one, text: showable(one.text) };
      case 'paragraph':
        return { ...one, text: words(one.text) };
      case 'list':
        return { ...one, items: one.items.map(words) };
      case 'table':
        return {
          ...one,
          columns: one.columns.map((column) => ({ ...column, title: showable(column.title) })),
          rows: one.rows.map((row) => ({ ...row, cells: row.cells.map(words) })),
        };
      case 'facts':
        return { ...one, rows: rows(one.rows) };
      case 'banner':
        return { ...one, title: showable(one.title), lines: one.lines.map(words) };
      case 'figures':
        return {
          ...one,
          cells: one.cells.map((cell) => ({ ...cell, value: showable(cell.value), label: showable(cell.label) })),
        };
      case 'letterhead':
        return { ...one, from: one.from.map(words), to: one.to.map(words), place: showable(one.place) };
      case 'card':
        return { ...one, title: showable(one.title), mark: showable(one.mark), rows: rows(one.rows) };
      case 'signatures':
        return {
          ...one,
          places: one.places.map(({ role, lines }) => ({ role: showable(role), lines: lines.map(showable) })),
        };
      case 'page-break':
        return one;
    }
  }
  return { ...model, footer: showable(model.footer), blocks: model.blocks.map(block) };
}
