import { GwError } from '../error/index.ts';

/** A line for the tablet's shell in which every value is quoted. Only {@link tabletCommand} makes one. */
export type TabletCommand = string & { readonly tabletCommand: unique symbol };

/**
 * A command line for the tablet: the text between the values stands in our source, and every value is quoted, so
 * that nothing of a profile or of an answer is ever read by the tablet's shell as anything but itself.
 *
 *     tabletCommand`settings put ${namespace} ${key} ${value}`
 */
export function tabletCommand(parts: TemplateStringsArray, ...values: readonly (string | number)[]): TabletCommand {
  return parts.reduce((line, part, i) => `${line}${quoteForTablet(String(values[i - 1]))}${part}`) as TabletCommand;
}

/**
 * One word for a POSIX shell, as Android's mksh and toybox sh are: in single quotes nothing has a meaning but the
 * single quote itself. A NUL cannot be in an argument, and a line end has no business in one (decision of ours).
 */
export function quoteForTablet(text: string): string {
  if (/[\0\r\n]/.test(text)) {
    throw new GwError('KIOSK_PROFILE_INVALID', 'A value with a line end or a NUL cannot be given to the tablet.');
  }
  return `'${text.replaceAll("'", "'\\''")}'`;
}
