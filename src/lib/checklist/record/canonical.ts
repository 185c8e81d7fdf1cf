/** Deeper structures are refused; a record has about a dozen levels. */
const MAX_LEVELS = 40;

/**
 * The one text that a JSON value has: keys sorted by their UTF-16 code units, numbers and texts as ECMAScript writes
 * them. Without an indent it is what RFC 8785 (JSON Canonicalization Scheme) prescribes, and what is signed; with one it
 * is the same with a line for every member, and what stands in the file. Throws RangeError for a value outside JSON.
 */
export function canonicalText(value: unknown, indent = 0): string {
  return write(value, indent, 0);
}

function write(value: unknown, indent: number, level: number): string {
  if (level > MAX_LEVELS) throw new RangeError('The value is nested too deeply.');
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new RangeError('A text contains a lone surrogate.');
    return JSON.stringify(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new RangeError('A number is not finite.');
    return JSON.stringify(value);
  }
  if (typeof value !== 'object') throw new RangeError(`A ${typeof value} is not a JSON value.`);
  const isList = Array.isArray(value);
  const members = isList
    ? value.map((item) => write(item, indent, level + 1))
    : Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, item]) => `${write(key, 0, level + 1)}:${indent > 0 ? ' ' : ''}${write(item, indent, level + 1)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (members.length === 0 || indent === 0) return `${open}${members.join(',')}${close}`;
  const inner = `\n${' '.repeat(indent * (level + 1))}`;
  return `${open}${inner}${members.join(`,${inner}`)}\n${' '.repeat(indent * level)}${close}`;
}
