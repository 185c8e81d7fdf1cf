import { GwError } from '../../error/index.ts';

const plain = /^[A-Za-z0-9_./:,+@%-]+$/;

/**
 * Words as one command line for the shell of the far side, which an SSH server hands every command to. Each word
 * arrives as it is. Written so that shells which read a backslash between single quotes (fish) agree with those that
 * do not (POSIX); a NUL byte, which no program can be given, is refused with USAGE.
 */
export function commandLine(argv: readonly string[]): string {
  if (argv.length === 0) throw new RangeError('a command line needs at least the name of a program');
  return argv.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  if (word.includes('\0')) {
    throw new GwError('USAGE', 'A word with a NUL byte in it cannot be handed to another program.');
  }
  if (plain.test(word)) return word;
  if (word === '') return "''";
  return word
    .split(/(['\\]+)/)
    .filter((part) => part !== '')
    .map((part) => {
      if (part.startsWith("'") || part.startsWith('\\')) return `"${part.replaceAll('\\', '\\\\')}"`;
      return `'${part}'`;
    })
    .join('');
}
