/** The result of a check as a whole. */
export type CheckVerdict = 'ok' | 'wrong' | 'not-checked';

/** One line of a check, as far as it decides the whole. */
export interface Deciding {
  /**
   * not-checked: could not be found out. not-decided: looked at, and the answer is still open. not-applicable: does not
   * concern this machine, by its site file.
   */
  readonly verdict: CheckVerdict | 'not-decided' | 'not-applicable';
  /** A line that is 'optional' never decides. Absent: needed. */
  readonly need?: 'needed' | 'optional';
}

/**
 * The verdict of a check: wrong if a line is, else not-checked if a line is not checked or not decided, else ok. A check
 * without a single line that is ok has checked nothing. Project decision, the same for every command.
 */
export function conclude(lines: readonly Deciding[]): CheckVerdict {
  const needed = lines.filter(({ need }) => need !== 'optional').map(({ verdict }) => verdict);
  if (needed.includes('wrong')) return 'wrong';
  const isOpen = needed.some((verdict) => verdict === 'not-checked' || verdict === 'not-decided');
  return isOpen || !needed.includes('ok') ? 'not-checked' : 'ok';
}

/**
 * Whether a command ends with 0. What was not checked passes only by --accept-undecided; what does not concern this
 * machine passes.
 */
export function isPassed(verdict: Deciding['verdict'], { acceptUndecided }: { readonly acceptUndecided: boolean }) {
  switch (verdict) {
    case 'ok':
    case 'not-applicable':
      return true;
    case 'not-checked':
    case 'not-decided':
      return acceptUndecided;
    case 'wrong':
      return false;
  }
}
