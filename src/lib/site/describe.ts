import { stringify } from 'yaml';
import { z } from 'zod';
import { siteSchema } from './schema.ts';

/** The properties of one key, collected from the zod wrappers of its type. */
export interface KeyDescription {
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

export function describeKey(schema: z.ZodType): KeyDescription {
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
export function keysOf(schema: z.ZodType): readonly (readonly [string, KeyDescription])[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).map(([key, inner]) => [key, describeKey(inner as z.ZodType)] as const);
}

/** A value as YAML on one line. */
export function inlineYaml(value: unknown): string {
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
  return core instanceof z.ZodObject && keysOf(core).every(([, inner]) => !inner.isRequired) ? 'its defaults' : 'none';
}
