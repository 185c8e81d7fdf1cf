/** A strict parser of the XML of reports, independent of the code that writes it: elements, attributes, text. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlElement[];
  text: string;
}

const TOKEN = /<\?xml [^<>]*\?>|<(\/?)([A-Za-z][\w-]*)((?:\s+[A-Za-z][\w-]*="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
const ENTITY = /&(?:amp|lt|gt|quot|#39);/g;

export function parseXml(text: string): XmlElement {
  const top: XmlElement = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  const token = new RegExp(TOKEN);
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (!match) throw new SyntaxError(`not XML at ${at}: ${text.slice(at, at + 60)}`);
    const [whole, closing, name, rawAttributes = '', selfClosing, chars] = match;
    const here = open.at(-1) ?? top;
    if (whole.startsWith('<?xml')) {
      if (at !== 0) throw new SyntaxError('a declaration in the middle');
    } else if (chars !== undefined) here.text += plain(chars);
    else if (closing === '/') {
      if (open.pop()?.name !== name) throw new SyntaxError(`</${name}> closes nothing`);
    } else {
      const element: XmlElement = { name: name ?? '', attributes: attributesOf(rawAttributes), children: [], text: '' };
      here.children.push(element);
      if (selfClosing !== '/') open.push(element);
    }
  }
  const [root, second] = top.children;
  if (!root || second || open.length !== 1 || top.text.trim() !== '')
    throw new SyntaxError('not one closed root element');
  return root;
}

function attributesOf(raw: string): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [, name = '', value = ''] of raw.matchAll(/([A-Za-z][\w-]*)="([^"]*)"/g)) {
    if (Object.hasOwn(result, name)) throw new SyntaxError(`${name} twice`);
    result[name] = plain(value);
  }
  return result;
}

function plain(text: string): string {
  if (text.replace(ENTITY, '').includes('&')) throw new SyntaxError(`a bare & in ${text.slice(0, 60)}`);
  const letters: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
  return text.replace(ENTITY, (entity) => letters[entity] ?? entity);
}
