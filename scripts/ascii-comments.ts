import { parseSync, type Rolldown } from 'vite';

/**
 * For the build: writes the comments that are kept, which are licenses, in ASCII. The bundler (`charset: 'ascii'`) escapes
 * other characters in code, and leaves comments as they are: one letter in one would double the memory of its file.
 */
export function asciiComments() {
  return {
    name: 'gw:ascii-comments',
    generateBundle(_: unknown, files: Rolldown.OutputBundle) {
      for (const file of Object.values(files)) if (file.type === 'chunk') file.code = withAsciiComments(file.code);
    },
  };
}

/** The code with `\uXXXX` for each UTF-16 unit of its comments that is not ASCII; all else as it is. */
export function withAsciiComments(code: string): string {
  if (isAscii(code)) return code;
  const { comments, errors } = parseSync('chunk.js', code);
  if (errors.length > 0) throw new Error(errors[0]?.message);
  let result = '';
  let at = 0;
  for (const { start, end } of comments) {
    result += code.slice(at, start) + code.slice(start, end).replace(/[^\0-\x7f]/g, escaped);
    at = end;
  }
  return result + code.slice(at);
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text);
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
