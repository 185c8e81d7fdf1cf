import { randomBytes } from 'node:crypto';
import { link, lstat, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Degrees } from '../angle/index.ts';
import { GwError, systemReason } from '../error/index.ts';
import { openFresh } from '../lifecycle/index.ts';
import { oneLine, quoted } from '../text/index.ts';
import { siteSchema } from './schema.ts';

/** The keys that `gw site init` sets; all others start as comments. */
export interface NewSite {
  readonly name: string;
  readonly chassis: {
    readonly host: string;
    /** An invalid one is kept as typed. */
    readonly port?: number | string | undefined;
    readonly serial: string;
    readonly mac?: string | undefined;
  };
  /** An invalid port is kept as typed, so that validation reports it. */
  readonly operator: { readonly port: number | string };
  readonly tablet?: { readonly serial?: string; readonly mac?: string };
}

/** A point of the current map. What it is for is not known: a person names the stations. */
export interface SeenPoint {
  readonly name: string | null;
  readonly xM: number;
  readonly yM: number;
  /** As the map has it; null where it has none. */
  readonly yawDeg: Degrees | null;
}

/** What a chassis said of itself while its site file was made. */
export interface SeenChassis {
  readonly address: string;
  /** Time of the reading, UTC. */
  readonly at: string;
  readonly serial: string;
  readonly model: string | null;
  readonly software: string | null;
  readonly maps: readonly { readonly id: string; readonly name: string; readonly isCurrent: boolean }[];
  readonly points: readonly SeenPoint[];
}

const HEADER = `# Site file of one robot, for gw. \`gw site check\` validates it.
# Paths are relative to the folder of this file. Secrets never stand here: their files are named.
# There is no key for the read-only socket: it is 127.0.0.1:5174 on every gateway.
`;

/**
 * A site file as text: the given values, and every other key as a comment with its default or an example. The
 * comments are the schema's own descriptions.
 */
export function commentedSiteFile(site: NewSite, seen: SeenChassis | null = null): string {
  const head = seen === null ? '' : seenLines(seen, site.chassis.serial).map(comment).join('');
  const isOther = seen !== null && seen.serial !== site.chassis.serial;
  const below = seen === null || isOther ? '' : candidateLines(seen).map(comment).join('');
  return `${HEADER}${head}${keyLines(siteSchema, site, '').join('\n')}\n${below === '' ? '' : `\n${below}`}`;
}

/** Foreign text stays within its line. */
function comment(text: string): string {
  return `# ${oneLine(text)}\n`;
}

function seenLines({ address, at, serial, model, software, maps }: SeenChassis, own: string): string[] {
  const names = maps.map(({ id, name, isCurrent }) => `${id} ${quoted(name)}${isCurrent ? ' (current)' : ''}`);
  return [
    `Read from the chassis at ${address} on ${at}: serial ${serial}, model ${model ?? 'not reported'}, software ${software ?? 'not reported'};`,
    `maps: ${names.length === 0 ? 'none' : names.join(', ')}.`,
    ...(serial === own ? [] : [`THIS FILE NAMES ANOTHER CHASSIS: ${own}.`]),
  ];
}

/** The points of the map as entries that a person may move up into `stations`, under a name of his own. */
function candidateLines({ points, maps }: SeenChassis): string[] {
  if (points.length === 0) return [];
  const map = maps.find(({ isCurrent }) => isCurrent);
  return [
    `Points of the current map${map === undefined ? '' : ` ${quoted(map.name)}`}, as candidates for stations. What a point is for is not known: name those that are`,
    'stations under `stations` above, measure each of them on site, then write their map: `gw site map --measured-on-it`.',
    ...points.map(({ name, xM, yM, yawDeg }) => {
      const pose = inlineYaml({ xM: rounded(xM), yM: rounded(yM), ...(yawDeg !== null && { yawDeg }) });
      return `  ${name === null ? 'a point without a name' : quoted(name)}: ${pose}`;
    }),
  ];
}

/** To the millimetre. */
function rounded(metres: number): number {
  return Math.round(metres * 1000) / 1000;
}

function keyLines(schema: z.ZodType, values: object, indent: string): string[] {
  return keysOf(schema).flatMap(([key, { core, description, example, fallback }]) => {
    const value = (values as Record<string, unknown>)[key];
    const lead = [...(indent === '' ? [''] : []), `${indent}# ${description}`];
    if (typeof value === 'object' && value !== null) {
      return [...lead, `${indent}${key}:`, ...keyLines(core, value, `${indent}  `)];
    }
    if (value !== undefined) return [...lead, `${indent}${key}: ${inlineYaml(value)}`];
    const shown = example ?? fallback;
    if (core instanceof z.ZodRecord) {
      const entries = Object.entries(shown as Record<string, unknown>);
      return [
        ...lead,
        `${indent}# ${key}:`,
        ...entries.map(([name, entry]) => `${indent}#   ${name}: ${inlineYaml(entry)}`),
      ];
    }
    return [...lead, `${indent}# ${key}: ${inlineYaml(shown)}`];
  });
}

/** A key that `gw site init` asks for, as the schema describes it. */
export interface AskedKey {
  /** `chassis.host` */
  readonly path: string;
  readonly description: string;
  readonly fallback: unknown;
  readonly example: unknown;
}

export const askedKeys = {
  name: askedKey('name'),
  host: askedKey('chassis', 'host'),
  port: askedKey('chassis', 'port'),
  serial: askedKey('chassis', 'serial'),
  mac: askedKey('chassis', 'mac'),
  operatorPort: askedKey('operator', 'port'),
  tabletSerial: askedKey('tablet', 'serial'),
  tabletMac: askedKey('tablet', 'mac'),
} as const satisfies Record<string, AskedKey>;

function askedKey(...path: readonly string[]): AskedKey {
  let schema: z.ZodType = siteSchema;
  for (const part of path) {
    const { core } = describeKey(schema);
    const inner = core instanceof z.ZodObject ? (core.shape[part] as z.ZodType | undefined) : undefined;
    if (inner === undefined) throw new RangeError(`the site schema has no key ${path.join('.')}`);
    schema = inner;
  }
  const { description, fallback, example } = describeKey(schema);
  return { path: path.join('.'), description, fallback, example };
}

/**
 * Writes the file atomically, readable for all users (it holds no secret). Throws FILE_EXISTS without `force`,
 * FILE_UNWRITABLE.
 */
export async function writeSiteFile(path: string, text: string, options: { readonly force: boolean }): Promise<void> {
  const target = resolve(path);
  const draft = join(dirname(target), `.${randomBytes(6).toString('hex')}.gw-draft`);
  try {
    await writeDraft(draft, text);
    if (options.force) await rename(draft, target);
    else await link(draft, target);
  } catch (cause) {
    throw writeError(cause, path);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Throws FILE_EXISTS before any question is asked. Writing checks again. */
export async function refuseExisting(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there) throw existsError(path);
}

async function writeDraft(draft: string, text: string): Promise<void> {
  await using file = await openFresh(draft);
  await file.writeFile(text);
  await file.sync();
}

function writeError(cause: unknown, path: string): GwError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'EEXIST') return existsError(path);
  // Its name is known: what is missing is its folder.
  const why = code === 'ENOENT' ? 'its folder does not exist' : systemReason(cause);
  return new GwError('FILE_UNWRITABLE', `${path} cannot be written: ${why}.`, {
    cause,
  });
}

function existsError(path: string): GwError {
  return new GwError('FILE_EXISTS', `${path} exists already.`);
}

/** The properties of one key, collected from the zod wrappers of its type. */
interface KeyDescription {
  /** The type without its wrappers. */
  readonly core: z.ZodType;
  readonly description: string;
  /** Name of the type where the schema gives one: 'host', 'path'. */
  readonly typeWord: string | undefined;
  readonly example: unknown;
  /** undefined when the key has no default. */
  readonly fallback: unknown;
  readonly isRequired: boolean;
}

function describeKey(schema: z.ZodType): KeyDescription {
  let core: z.ZodType = schema;
  let description: string | undefined;
  let typeWord: string | undefined;
  let example: unknown;
  let fallback: unknown;
  let isRequired = true;
  for (;;) {
    const meta = core.meta();
    description ??= meta?.description;
    typeWord ??= typeof meta?.type === 'string' ? meta.type : undefined;
    example ??= meta?.example;
    if (core instanceof z.ZodDefault) fallback ??= core.def.defaultValue;
    if (!(core instanceof z.ZodOptional || core instanceof z.ZodDefault || core instanceof z.ZodPrefault)) break;
    isRequired = false;
    core = core.unwrap() as z.ZodType;
  }
  return { core, description: description ?? '', typeWord, example, fallback, isRequired };
}

/** The keys of an object type with their descriptions, in the order of the schema. */
function keysOf(schema: z.ZodType): readonly (readonly [string, KeyDescription])[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).map(([key, inner]) => [key, describeKey(inner as z.ZodType)] as const);
}

/** A value as YAML on one line. */
function inlineYaml(value: unknown): string {
  const text = stringify(value, { collectionStyle: 'flow', lineWidth: 0, flowCollectionPadding: true }).replace(
    /\n$/,
    '',
  );
  // Some texts would become a block scalar; JSON is valid YAML.
  return typeof value === 'string' && (text.includes('\n') || /^[|>]/.test(text)) ? JSON.stringify(value) : text;
}

/** Every key of the site file as a Markdown table. For docs/site-file.md. */
export function describeSiteSchema(): string {
  return ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rowsOf(siteSchema, '')].join('\n');
}

function rowsOf(schema: z.ZodType, prefix: string): string[] {
  return keysOf(schema).flatMap(([key, described]) => {
    const path = `${prefix}${key}`;
    const inner = described.core;
    const below =
      inner instanceof z.ZodRecord
        ? rowsOf(inner.valueType as z.ZodType, `${path}.<name>.`)
        : rowsOf(inner, `${path}.`);
    return [
      `| \`${path}\` | ${typeText(described)} | ${defaultText(described)} | ${described.description} |`,
      ...below,
    ];
  });
}

function typeText({ core, typeWord }: KeyDescription): string {
  if (typeWord !== undefined) return typeWord;
  if (core instanceof z.ZodArray) return `list of ${typeText(describeKey(core.element as z.ZodType))}`;
  if (core instanceof z.ZodRecord) return 'one entry a name';
  if (core instanceof z.ZodObject) return 'keys';
  if (core instanceof z.ZodBoolean) return 'true or false';
  if (core instanceof z.ZodEnum) return core.options.join(' or ');
  if (core instanceof z.ZodNumber) {
    const { minValue, maxValue } = core;
    return `${core.format === 'safeint' ? 'whole number' : 'number'}, ${minValue} to ${maxValue}`;
  }
  return 'text';
}

function defaultText({ fallback, isRequired, core }: KeyDescription): string {
  if (fallback !== undefined) return `\`${inlineYaml(fallback)}\``;
  if (isRequired) return 'required';
  return core instanceof z.ZodObject && core.safeParse({}).success ? 'its defaults' : 'none';
}
