const MAX_CHARACTERS = 200;
const MAX_REPETITIONS = 3;
/** Each choice can double the cost; a repetition makes it grow with the text length. */
const MAX_CHOICES = 8;
const CHOICES_PER_REPETITION = 2;

/** Longer texts are not matched against a pattern. */
export const MAX_MATCHED_CHARACTERS = 128;

/**
 * Compiles a pattern of a checklist, or returns what is expected instead. Only patterns whose cost stays bounded on
 * texts of {@link MAX_MATCHED_CHARACTERS} are accepted: no repeated group that holds a repetition or a choice, few
 * repetitions, few choices, no backreference.
 */
export function compilePattern(text: string): RegExp | { readonly expected: string } {
  if (text.length > MAX_CHARACTERS) return { expected: `a pattern of at most ${MAX_CHARACTERS} characters` };
  const problem = costProblem(text);
  if (problem !== undefined) return { expected: problem };
  try {
    return new RegExp(text, 'u');
  } catch {
    return { expected: 'a valid regular expression' };
  }
}

function costProblem(text: string): string | undefined {
  /** Per open group: whether it holds a repetition or a choice. */
  const groups: boolean[] = [];
  let repetitions = 0;
  let choices = 0;
  let closed: boolean | undefined;
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i] ?? '';
    const before = closed;
    closed = undefined;
    if (character === '\\') {
      i += 1;
      if (/[1-9k]/.test(text[i] ?? '')) return 'a pattern without backreferences';
    } else if (character === '[') {
      i = endOfClass(text, i);
    } else if (character === '(') {
      groups.push(false);
      // The question mark of (?: and similar groups is not a repetition.
      if (text[i + 1] === '?') i += 1;
    } else if (character === ')') {
      closed = groups.pop() ?? false;
    } else if (character === '|') {
      choices += 1;
      mark(groups);
    } else if ('*+?{'.includes(character)) {
      if (before === true) return 'a pattern in which no repeated group holds a repetition or a choice';
      if (character === '?') choices += 1;
      else repetitions += 1;
      if (repetitions > MAX_REPETITIONS) return `a pattern with at most ${MAX_REPETITIONS} repetitions`;
      mark(groups);
      if (character === '{') while (i + 1 < text.length && text[i] !== '}') i += 1;
      if (text[i + 1] === '?') i += 1;
    }
    if (choices + repetitions * CHOICES_PER_REPETITION > MAX_CHOICES) {
      return `a pattern with at most ${MAX_CHOICES} choices (| and ?; a repetition counts as ${CHOICES_PER_REPETITION})`;
    }
  }
  return undefined;
}

function mark(groups: boolean[]): void {
  groups.fill(true);
}

function endOfClass(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === ']') return i;
  }
  return text.length;
}
