import { GwError } from '../../error/index.ts';

const plain = /^[A-Za-z0-9_./:,+@%-]+$/;

/**
 * Arguments as one command line for the login shell of the remote host. Each argument arrives unchanged, with quoting
 * that shells which interpret a backslash between single quotes (fish) and POSIX shells read alike. Throws USAGE for a
 * NUL byte, which no argument can hold.
 */
export function commandLine(argv: readonly string[]): string {
  if (argv.length === 0) throw new RangeError('a command line needs a program name');
  return argv.map(shellWord).join(' ');
}

function shellWord(word: string): string {
  if (word.includes('\0')) {
    throw new GwError('USAGE', 'A command argument contains a NUL byte.');
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
