import { quote } from '../../json/index.ts';
import { isRecord } from '../drawing.ts';
import type { RuleInput } from './input.ts';
import { counted, naming, namingAll, rounded } from './wording.ts';

/** So few names are asked of every drawing; of more, every drawing is asked for its own. */
const FEW = 16;

interface SpeedProperty {
  readonly path: string;
  readonly drawings: number[];
  /** How many values are numbers, in either JSON type, and between which they lie. */
  numbers: number;
  lowest: number;
  highest: number;
  /** How many are texts, with a number in them or not, and how many neither number nor text. */
  texts: number;
  others: number;
}

/** Names that sound like a speed; which of them is a limit, and in which unit, nobody knows. */
export function soundsLikeSpeed(name: string): boolean {
  return /speed|velocity|limit/i.test(name);
}

/** Properties that may limit the speed, down to one level inside a property; and names that hide something. */
export function findPropertyFaults({ overlays: { drawings, topLevel }, survey, report }: RuleInput): void {
  const found = new Map<string, SpeedProperty>();
  lookInto(topLevel, null);
  const suspects = new Set<string>();
  for (const { name, types } of survey.propertyNames) {
    if (soundsLikeSpeed(name) || types.includes('list') || types.includes('object')) suspects.add(name);
  }
  for (const drawing of drawings) {
    const { name, properties } = drawing;
    for (const key of suspects.size > FEW ? Object.keys(properties) : suspects) {
      if (suspects.has(key) && Object.hasOwn(properties, key)) look(key, properties[key], drawing.index);
    }
    if (name !== null && hidesSomething(name)) {
      report('name-with-control-characters', [drawing.index], () => {
        return `The name of ${naming(drawing)} has characters that cannot be seen.`;
      });
    }
  }
  for (const { path, drawings: carriers, numbers, lowest, highest, texts, others } of found.values()) {
    report('speed-limit-uninterpreted', carriers, () => {
      const low = rounded(lowest, 4);
      const range = numbers === 0 ? [] : [lowest === highest ? low : `${low} to ${rounded(highest, 4)}`];
      const asText = texts === 0 ? [] : [`${texts} as text`];
      const neither = others === 0 ? [] : [`${others} neither number nor text`];
      const values = [...range, ...asText, ...neither].join(', ');
      const where = carriers.length === 0 ? 'The collection itself carries' : carry(carriers.length);
      const which = carriers.length === 0 ? '' : `: ${namingAll(drawings, carriers)}`;
      return `${where} the property ${quote(path)} (${values}). Whether it limits the speed, and its unit, is not known${which}.`;
    });
  }

  function lookInto(record: Readonly<Record<string, unknown>>, drawing: number | null) {
    for (const key of Object.keys(record)) look(key, record[key], drawing);
  }

  /** Looks at a property, and at what lies inside it. */
  function look(key: string, value: unknown, drawing: number | null) {
    const isWanted = soundsLikeSpeed(key);
    const isAnswered = typeof value === 'object' && value !== null && lookInside(key, value, drawing, isWanted);
    if (isWanted && !isAnswered) take(key, value, drawing);
  }

  /** Inside a property whose name is wanted everything is; returns whether there was anything. */
  function lookInside(outer: string, value: object, drawing: number | null, isWanted: boolean): boolean {
    let isFound = false;
    for (const item of Array.isArray(value) ? value : [value]) {
      if (!isRecord(item)) continue;
      for (const key in item) {
        if (!isWanted && !soundsLikeSpeed(key)) continue;
        take(`${outer}.${key}`, item[key], drawing);
        isFound = true;
      }
    }
    return isFound;
  }

  function take(path: string, value: unknown, drawing: number | null): void {
    let property = found.get(path);
    if (property === undefined) {
      property = {
        path,
        drawings: [],
        numbers: 0,
        lowest: Number.POSITIVE_INFINITY,
        highest: Number.NEGATIVE_INFINITY,
        texts: 0,
        others: 0,
      };
      found.set(path, property);
    }
    if (drawing !== null && property.drawings.at(-1) !== drawing) property.drawings.push(drawing);
    if (typeof value === 'string') property.texts += 1;
    else if (typeof value !== 'number') property.others += 1;
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number)) return;
    property.numbers += 1;
    property.lowest = Math.min(property.lowest, number);
    property.highest = Math.max(property.highest, number);
  }
}

function carry(count: number): string {
  return counted(count, 'drawing carries', 'drawings carry');
}

/** Control characters, line separators, and marks that turn the direction of writing. */
function hidesSomething(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    const code = name.charCodeAt(at);
    if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
    if (code < 0x200e) continue;
    if (code <= 0x200f || (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return true;
  }
  return false;
}
