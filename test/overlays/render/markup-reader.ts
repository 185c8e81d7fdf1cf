/** An element of strictly read markup. */
export interface ReadElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (ReadElement | string)[];
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
/** Characters that XML 1.0 does not allow. */
function illegalAt(text: string): number {
  if (!text.isWellFormed()) return 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if ((code < 0x20 && code !== 9 && code !== 10 && code !== 13) || code === 0xfffe || code === 0xffff) return at;
  }
  return -1;
}

/**
 * Reads markup as an XML parser does, and more strictly: five entities, quoted attributes, every element closed.
 * Throws with the position of the first error.
 */
export function readMarkup(source: string): ReadElement {
  const bad = illegalAt(source);
  if (bad >= 0) throw new Error(`illegal character at ${bad}`);
  const text = source.replace(/^<!DOCTYPE html>\s*/, '').trimEnd();
  const root: ReadElement = { name: '#root', attributes: new Map(), children: [] };
  const open = [root];
  const token = /<\/([a-zA-Z0-9]+)>|<([a-zA-Z][a-zA-Z0-9]*)((?: [a-zA-Z:-]+="[^"<]*")*)(\/?)>|([^<]+)/gy;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    const parent = open.at(-1);
    if (match === null || parent === undefined) throw new Error(`no markup at ${at}: ${text.slice(at, at + 60)}`);
    const [, closed, opened, written = '', isEmpty, words] = match;
    if (closed !== undefined) {
      if (open.pop()?.name !== closed) throw new Error(`</${closed}> at ${at} closes another element`);
    } else if (opened !== undefined) {
      const element: ReadElement = { name: opened, attributes: attributesOf(written), children: [] };
      parent.children.push(element);
      if (isEmpty !== '/') open.push(element);
    } else if (words !== undefined) {
      parent.children.push(decode(words));
    }
  }
  const [only, ...more] = root.children;
  if (open.length !== 1 || more.length > 0 || typeof only !== 'object') throw new Error('not one whole document');
  return only;
}

export function* elementsOf(element: ReadElement): Generator<ReadElement> {
  yield element;
  for (const child of element.children) if (typeof child !== 'string') yield* elementsOf(child);
}

export function textOf(element: ReadElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

export const find = (root: ReadElement, name: string) => [...elementsOf(root)].filter((it) => it.name === name);
export const byId = (root: ReadElement, id: string) =>
  [...elementsOf(root)].find(({ attributes }) => attributes.get('id') === id);

/** What a picture may consist of. No script, no style, no foreign content, nothing that loads. */
export const pictureElements = new Set(
  'svg title defs pattern clipPath g a path rect circle text tspan image'.split(' '),
);
export const pageElements = new Set([
  ...pictureElements,
  ...'html head meta link style body header main nav section div h1 h2 p dl dt dd ul li span b strong em'.split(' '),
  ...'small code br input label table thead tbody tr th td bdi'.split(' '),
]);

/** Throws unless the document is well-formed and has only expected elements, attributes and links. */
export function prove(document: string, allowed: ReadonlySet<string>): ReadElement {
  const root = readMarkup(document);
  const elements = [...elementsOf(root)];
  const ids = new Set(elements.map(({ attributes }) => attributes.get('id')));
  for (const { name, attributes } of elements) {
    if (!allowed.has(name)) throw new Error(`an element <${name}>`);
    proveAttributes(attributes);
    const href = attributes.get('href');
    if (href?.startsWith('#') && !ids.has(href.slice(1))) throw new Error(`an address ${href}`);
  }
  return root;
}

/** Throws where an element has a script, an address outside the document or an invalid number. */
function proveAttributes(attributes: ReadElement['attributes']): void {
  for (const [key, value] of attributes) {
    if (/^on|^style$|^src$/i.test(key)) throw new Error(`an attribute ${key}`);
    const isInside = /^(#[\w-]+|data:image\/png;base64,[\w+/=]*|data:,)$/.test(value);
    if (key.endsWith('href') && !isInside) throw new Error(`an address ${value.slice(0, 80)}`);
    const isNumeric = /^(d|x|y|cx|cy|r|width|height|points|transform|viewBox)$/.test(key);
    if (isNumeric && /NaN|Infinity|undefined|null|e[+-]?\d/.test(value))
      throw new Error(`${key}="${value.slice(0, 80)}"`);
  }
}

function attributesOf(written: string): Map<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name = '', value = ''] of written.matchAll(/ ([a-zA-Z:-]+)="([^"<]*)"/g)) {
    if (attributes.has(name)) throw new Error(`${name} is a duplicate attribute`);
    attributes.set(name, decode(value));
  }
  return attributes;
}

function decode(text: string): string {
  return text.replace(/&([^;]*;?)/g, (_, name: string) => {
    const char = name.endsWith(';') ? entities[name.slice(0, -1)] : undefined;
    if (char === undefined) throw new Error(`unknown entity &${name.slice(0, 20)}`);
    return char;
  });
}
