/**
 * Names of secrets in German and English, and the values that stand behind them in a text.
 *
 * Every pattern here has bounded repetitions only and starts at a word of the list, and a value is read once: the work is
 * linear in the size of the text, whatever it holds.
 */

export const MARK = '[redacted]';

const UE = '(?:ü|u\\u0308|ue)';
const OE = '(?:ö|o\\u0308|oe)';

/** Secrets also as the last part of a longer word, such as Gerätepasswort or accessToken. */
const words = [
  `pass[-_ ]?wor[dt](?:e?s)?|passw${OE}rter|passwd|pass[-_ ]?(?:phrase|code)s?`,
  `kennwort(?:e?s)?|kennw${OE}rter|geheim(?:nis(?:se)?|zahl|wort)|losungswort`,
  `(?:t${UE}r|zutritts|schl${UE}ssel|sicherheits|entsperr|wlan)[-_ ]?codes?|codew(?:o|${OE})rte?r?|parole`,
  `schl${UE}ssel|zugangs(?:daten|wort)|(?:zugangs|einmal|freischalt|anmelde|aktivierungs)[-_ ]?codes?`,
  '(?:pin|puk|access|one[-_ ]?time|enrol(?:l?ment)?|activation|pairing|log[-_ ]?in|verification)[-_ ]?codes?',
  '(?:doors?|security|unlock)[-_ ]?codes?',
  'secrets?|tokens?|credentials?|authorization|cookies?|psk|pwd',
  '(?:api|access|private|pre[-_ ]?shared|shared|secret|session|encryption|signing|wpa|wi[-_ ]?fi|wlan|ssh|auth)[-_ ]?keys?',
].join('|');

/** Short ones are secrets only as a word, or as the last part of a name such as simPin. */
const shortWords = 'pass|pw|pin|puk|keys?';

/** Names that end in such a word and are known to all. */
const harmless = /(?:public|host|öffentliche[rsn]?)[-_ ]?$/i;

/** Passwords are also kept as these; a name that ends in File, Configured or the like is a place or a state. */
const endings = '(?:[-_ ]?(?:hash|value|wert|plain|text|raw|base64|b64|hex|old|new|alt|neu|\\d{1,4}))?';
/** `Admin` of passwordAdmin, `_gast` of passwort_gast: whose it is, unless it names a place, a state or a number. */
const owners = '(?<owner>[-_]?\\p{L}[\\p{L}\\d]{0,30})?';
const notAnOwner =
  /(?:files?|path|dir|folder|configured|policy|length|ids?|count|at|until|names?|age|set|changed|url|types?|kind|status|state|verdict|problem|title|label|needed|required|expir\w*|valid\w*|enabled|prompt|field|form|manager|check|change|error|invalid|missing|hint)$/i;
const closings = '[\\\\"\'`*_)\\]}]{0,6}';
/** `(Gast)`, `für Gäste` or `WLAN` between a name and its separator. */
const verbs = 'lautet|ist|war|is|was';
const remarks = [
  '[ \\t]{0,4}\\([^()\\r\\n]{0,80}\\)',
  `[ \\t]{1,2}(?!(?:${verbs})\\b)(?<noun>\\p{L}[\\p{L}\\d-]{0,30})`,
].join('|');
const longRemark = '[ \\t]{1,4}(?:für|fuer|von|vom|des|der|im|zum|zur|for|of|to)[ \\t][^:=\\r\\n]{0,60}';
/** A dash, an arrow or the border of a table between spaces counts as `is`: what follows may be a state. */
const verb = (name: string) =>
  `[ \\t]{1,4}(?<${name}>(?:${verbs})\\b(?![ \\t]{0,2}[:=])|(?:[-–—]{1,2}>?|[|→])(?=[ \\t]))`;
const separators = `[ \\t\\u00a0]{0,16}(?:(?:${verbs})[ \\t]{0,2})?(?::=|=>|[:=：])|%3[ad]|>`;

const named = `(?:${words}|(?<short>${shortWords}))${endings}`;
const assigned = new RegExp(
  `(?<head>${named}${owners}(?<closing>${closings}))(?:${longRemark}(?:${separators}|${verb('verb')})|(?:${remarks})?(?:${separators}|${verb('verb')}|(?<bare>[ \\t,])))`,
  'giu',
);
const ended = new RegExp(`${named}${owners}$`, 'iu');

const MAX_NAME = 64;

/** Whether a value of this name is a secret. */
export function isSecretName(name: string): boolean {
  const end = name.slice(-MAX_NAME);
  const found = ended.exec(end);
  const { short, owner } = found?.groups ?? {};
  return found !== null && isName(end.slice(0, found.index), short) && isOwner(owner, short);
}

/** Whether this ends the name of a secret; `tokenizer`, `passwordless` and `keyFile` are others. */
function isOwner(owner: string | undefined, short: string | undefined): boolean {
  if (owner === undefined) return true;
  return short === undefined && /^[_-]|^\p{Lu}/u.test(owner) && !notAnOwner.test(owner);
}

/** Words behind `is` that describe a state and are no secret; participles beside them. */
const states = new Set(
  [
    'a an the of in on at by for to too not no never only still now already used new old same wrong right correct missing unknown',
    'invalid valid known empty open present readable unreadable needed ok true false null longer shorter unset set kept due',
    'das der die den ein eine kein keine keines nicht nie nur noch jetzt schon zu im in am auf von für falsch richtig korrekt fehlerhaft',
    'unbekannt bekannt leer offen da vorhanden lesbar unlesbar ungültig gültig nötig erforderlich neu alt gleich dasselbe',
    'abgelaufen gesperrt gesetzt geändert gespeichert hinterlegt abgelehnt eingetragen',
  ].flatMap((line) => line.split(' ')),
);

/** Whether what stands behind `is` or `ist` may be a secret. */
function isStated(text: string): boolean {
  const word = /^\p{Ll}+(?=[.,;:!?]?(?:\s|$))/u.exec(text)?.[0];
  return text !== '' && (word === undefined || !(states.has(word) || /ed$/.test(word)));
}

/** Whether a word behind these characters is one of its own, or a part of a name that begins with a capital. */
function isName(before: string, short: string | undefined): boolean {
  if (harmless.test(before)) return false;
  if (short === undefined || !/\p{L}$/u.test(before)) return true;
  return /[a-z]$/.test(before) && /^[A-Z]/.test(short);
}

/** Where a value stands in a text. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Values that a text gives to the name of a secret: `Passwort: x`, `"token": "x"`, `?token=x`, `--pin x`, and in YAML the
 * deeper lines that follow. One without quotes reaches to the end of its line, since a secret may hold spaces.
 */
export function* secretValues(text: string): Generator<Span> {
  const pattern = new RegExp(assigned);
  let lineEnd = -1;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const { index, 0: all } = found;
    const { head = '', short, owner, closing = '', noun, bare, verb: is } = found.groups ?? {};
    const before = text.slice(Math.max(0, index - MAX_NAME), index);
    const isOption = /(?:^|[^\w-])--[\w-]{0,62}$/.test(before);
    const isNamed = isName(before, short) && isOwner(owner, short);
    const behind = isNamed && bare !== undefined && !isOption ? endOfCode(text, index + all.length, short) : null;
    if (behind !== null) {
      yield { start: index + all.length, end: behind };
      pattern.lastIndex = behind;
      continue;
    }
    // Of two words without a separator nothing is known, nor of `Key mismatch: x`; a German noun is a remark.
    if (
      !isNamed ||
      (is !== undefined && /^keys?$|^pass$|^pw$/i.test(short ?? '')) ||
      (!isOption && (bare !== undefined || (noun !== undefined && !/^\p{Lu}/u.test(noun))))
    ) {
      pattern.lastIndex = index + 1;
      continue;
    }
    const start = after(isOption ? /[ \t=:,\\]*/y : /[ \t]*/y, text, index + (isOption ? head : all).length);
    if (lineEnd < start) lineEnd = endOfLine(text, start);
    if (is !== undefined && !/lautet/i.test(is)) {
      const isSecret = isStated(text.slice(start, Math.min(lineEnd, start + 256)));
      if (isSecret) yield { start, end: lineEnd };
      pattern.lastIndex = isSecret ? lineEnd : index + head.length;
      continue;
    }
    const end = /(?:[?&]|%3f|%26)[\w.-]*$/i.test(before)
      ? after(/(?:(?!%26)[^&\s"'<>])*/iy, text, start)
      : (quotedEnd(text, start, lineEnd) ??
        (isOption ? after(/[^\s,]*/y, text, start) : undefined) ??
        (/["']/.test(closing) ? jsonEnd(text, start) : undefined) ??
        blockEnd(text, index, start, lineEnd));
    if (end > start) yield { start, end };
    pattern.lastIndex = Math.max(end, index + 1);
  }
}

/** The end of a word right behind a name that looks like a password or a PIN: it has a digit; null for any other word. */
function endOfCode(text: string, start: number, short: string | undefined): number | null {
  const word = /^[^\s,;]{4,64}/.exec(text.slice(start, start + 65))?.[0] ?? '';
  const isPlaceOrTime = /^\d{4}-\d\d-\d\d|^["'`]?[.~]{0,2}\/[^/]*\//.test(word);
  return !/\d/.test(word) || isPlaceOrTime || /^(?:keys?|pass)$/i.test(short ?? '') ? null : start + word.length;
}

/** The end of what a sticky pattern, which matches anything, matches here. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/** The end of a quoted value, whose closing quote is followed by what may follow it; undefined for another value. */
function quotedEnd(text: string, start: number, lineEnd: number): number | undefined {
  const open = /^\\{0,3}["'`]/.exec(text.slice(start, start + 4))?.[0];
  if (open === undefined) return undefined;
  for (let at = start + open.length; at < lineEnd; at += 1) {
    if (text[at] === '\\' && !text.startsWith(open, at)) at += 1;
    else if (text.startsWith(open, at)) {
      const end = at + open.length;
      const next = text.slice(end, end + 8).trimStart();
      if (end >= lineEnd || next === '' || /^[,;}\])&\\]/.test(next)) return at === start + open.length ? start : end;
    }
  }
  return undefined;
}

/** The end of a number, and the begin of what is no secret: true, false and null; undefined for another value. */
function jsonEnd(text: string, start: number): number | undefined {
  const found = /^(?:(true|false|null)|-?[\d.eE+-]{1,40})(?=\s{0,4}(?:[,}\]]|$))/.exec(text.slice(start, start + 64));
  if (found === null) return undefined;
  return found[1] === undefined ? start + found[0].length : start;
}

/** The end of the line, or of the lines of YAML that belong to the value. */
function blockEnd(text: string, index: number, start: number, lineEnd: number): number {
  const lineStart = text.lastIndexOf('\n', index) + 1;
  const column = after(/[ \t]*(?:[-?][ \t]+){0,8}/y, text, lineStart) - lineStart;
  const isOpen = /^(?:[&!][^\s]{0,80}[ \t]*){0,2}(?:[|>][-+\d]{0,2})?\s*$/.test(
    text.slice(start, Math.min(lineEnd, start + 256)),
  );
  let end = lineEnd;
  for (let at = lineEnd + 1; at < text.length; ) {
    const next = endOfLine(text, at);
    const content = after(/[ \t]*/y, text, at);
    const isBlank = content >= next || text.slice(content, next).trim() === '';
    const isDeeper = content - at > column;
    const isItem = isOpen && content - at === column && /^-[ \t]/.test(text.slice(content, content + 2));
    // A person writes a single word on the line below its title.
    const isWord =
      isOpen && end === lineEnd && /^[^\s:=]{1,200}\r?$/.test(text.slice(content, Math.min(next, content + 202)));
    if (!isBlank && !isDeeper && !isItem && !isWord) break;
    if (!isBlank) end = next;
    if (isWord && !isDeeper && !isItem) break;
    at = next + 1;
  }
  return end;
}
