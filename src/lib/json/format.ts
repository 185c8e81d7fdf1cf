import { isRecord } from './record.ts';

const FORMAT = /^(gw\/[a-z-]{1,60})\/(\d{1,4})$/;

/**
 * Every state file of gw names its format, `gw/<kind>/<number>` in `format` or `schema`. The number of a file of the same
 * kind as `known` that this version does not read; null: no such file.
 */
export function otherFormat(value: unknown, known: string): string | null {
  if (!isRecord(value)) return null;
  const { format = value.schema } = value;
  const found = typeof format === 'string' ? FORMAT.exec(format) : null;
  return found !== null && format !== known && found[1] === FORMAT.exec(known)?.[1] ? found[0] : null;
}

/** What is wrong with such a file, and what to do: its content is kept, for that version. */
export function otherVersionText(format: string, known: string): string {
  return `another version of gw has written it: ${format}, and this one reads ${known}`;
}

export const OTHER_VERSION_REMEDY = 'Install that version of gw again, which reads the file.';
