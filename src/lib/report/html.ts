import { type Markup, markup, type Part, standalonePage } from '../markup/index.ts';
import { type Block, type DocumentModel, spansOf, type Words } from './document.ts';
import { pageStyle } from './html-style.ts';
import { shown } from './text.ts';

/**
 * The document as one HTML file, for tablet, phone and A4 paper. It has no script and loads nothing: its own policy
 * lets in its style, by digest, and nothing else.
 */
export function writeHtml(model: DocumentModel): string {
  const footer = shown(model.footer);
  return standalonePage({
    lang: model.lang,
    title: oneLine(shown(model.title)),
    style: pageStyle(oneLine(footer)),
    body: markup`<main>
${model.blocks.map(blockMarkup)}</main>
<footer>${footer}</footer>`,
  });
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

function blockMarkup(block: Block): Markup {
  switch (block.kind) {
    case 'title':
      return markup`<header class="${block.isSubject === true ? 'subject' : 'front'}">${block.above === undefined ? null : markup`<p class="above">${shown(block.above)}</p>`}<h1>${shown(block.text)}</h1></header>
`;
    case 'heading': {
      const tone = block.tone ?? 'none';
      return block.level === 3
        ? markup`<h3 class="${tone}">${shown(block.text)}</h3>
`
        : markup`<h2 class="${tone}">${shown(block.text)}</h2>
`;
    }
    case 'paragraph':
      return markup`<p class="${block.quiet === true ? 'quiet' : 'text'}">${words(block.text)}</p>
`;
    case 'list': {
      const items = block.items.map((item) => markup`<li>${words(item)}</li>`);
      return block.ordered === true
        ? markup`<ol>${items}</ol>
`
        : markup`<ul>${items}</ul>
`;
    }
    case 'table':
      return tableMarkup(block);
    case 'facts':
      return markup`<dl class="facts">${factRows(block.rows)}</dl>
`;
    case 'banner':
      return markup`<div class="banner ${block.tone}"><p class="big">${shown(block.title)}</p>${block.lines.map((line) => markup`<p>${words(line)}</p>`)}</div>
`;
    case 'figures':
      return markup`<ul class="figures">${block.cells.map(
        ({ value, label, tone }) =>
          markup`<li class="${tone ?? 'none'}"><b>${shown(value)}</b><span>${shown(label)}</span></li>`,
      )}</ul>
`;
    case 'letterhead':
      return markup`<div class="letterhead"><div class="to">${linesOf(block.to)}</div><div class="from">${linesOf(block.from)}</div><p class="place">${shown(block.place)}</p></div>
`;
    case 'card':
      return markup`<section class="card ${block.tone}"><h3><span class="mark">${shown(block.mark)}</span> ${shown(block.title)}</h3><dl class="facts">${factRows(block.rows)}</dl></section>
`;
    case 'signatures':
      return markup`<div class="signatures">${block.places.map(
        ({ role, lines }) =>
          markup`<div><b>${shown(role)}</b>${lines.map((line) => markup`<span>${shown(line)}</span>`)}</div>`,
      )}</div>
`;
    case 'page-break':
      return markup`<div class="break"></div>
`;
  }
}

function tableMarkup({ columns, rows }: Extract<Block, { kind: 'table' }>): Markup {
  const head = columns.map(({ title }) => markup`<th scope="col">${shown(title)}</th>`);
  const bodyRows = rows.map(
    ({ cells, tone }) =>
      markup`<tr class="${tone ?? 'none'}">${columns.map(
        ({ title }, at) =>
          markup`<td data-c="${shown(title)}" class="${isEmpty(cells[at]) ? 'none' : 'some'}"><div>${words(cells[at] ?? '')}</div></td>`,
      )}</tr>
`,
  );
  return markup`<table class="cards"><colgroup>${columns.map(({ width }) => markup`<col class="w${Math.min(20, Math.max(1, Math.round(width)))}"/>`)}</colgroup><thead><tr>${head}</tr></thead><tbody>
${bodyRows}</tbody></table>
`;
}

function isEmpty(text: Words = ''): boolean {
  return spansOf(text).every((span) => span.text === '');
}

function factRows(rows: readonly (readonly [string, Words])[]): Part {
  return rows.map(([label, value]) => markup`<div><dt>${shown(label)}</dt><dd>${words(value)}</dd></div>`);
}

function linesOf(lines: readonly Words[]): Part {
  return lines.map((line) => markup`<p>${words(line)}</p>`);
}

function words(text: Words): Part {
  return spansOf(text).map((span) => {
    const lines = shown(span.text)
      .split('\n')
      .map((line, at) => (at === 0 ? markup`${line}` : markup`<br/>${line}`));
    const classes = [span.tone, span.bold === true && 'strong', span.quiet === true && 'soft'].filter(
      (name) => typeof name === 'string',
    );
    if (span.code === true) return markup`<code class="${classes.join(' ')}">${lines}</code>`;
    return classes.length === 0 ? lines : markup`<span class="${classes.join(' ')}">${lines}</span>`;
  });
}
