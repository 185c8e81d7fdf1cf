import { GwError } from '../../error/index.ts';

/** A shell command for the tablet with every value quoted. Only {@link tabletCommand} creates one. */
export type TabletCommand = string & { readonly tabletCommand: unique symbol };

/**
 * A shell command for the tablet: the text between the values is a literal of the source, and every value is quoted, so
 * that the shell interprets nothing from a profile or an answer.
 *
 *     tabletCommand`settings put ${namespace} ${key} ${value}`
 */
export function tabletCommand(parts: TemplateStringsArray, ...values: readonly (string | number)[]): TabletCommand {
  return parts.reduce((line, part, i) => `${line}${quoteForTablet(String(values[i - 1]))}${part}`) as TabletCommand;
}

/**
 * Quotes one argument for a POSIX shell, such as mksh and toybox sh of Android: within single quotes only the single
 * quote is special. Throws KIOSK_PROFILE_INVALID for a NUL, which no argument can hold, and for a line end (project
 * decision).
 */
export function quoteForTablet(text: string): string {
  if (/[\0\r\n]/.test(text)) {
    throw new GwError('KIOSK_PROFILE_INVALID', 'A value contains a line end or a NUL.', {
      remedy: 'Remove it from the texts of the kiosk profile.',
    });
  }
  return `'${text.replaceAll("'", "'\\''")}'`;
}
