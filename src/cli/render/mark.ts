import chalk from 'chalk';
import { type Basis, type Mark, markText } from '../../lib/evidence/index.ts';

/** A mark with its basis. */
export interface Evidence {
  readonly mark: Mark;
  readonly basis: Basis;
}

/** Unknown. */
export const open: Evidence = { mark: 'OFFEN', basis: 'not-shown' };

const markColours: Readonly<Record<Mark, (text: string) => string>> = {
  BELEGT: chalk.green,
  HINWEIS: chalk.cyan,
  VORSICHT: chalk.yellow,
  OFFEN: chalk.magenta,
};

/** `BELEGT measured` in the colour of its mark. */
export function colourMark(evidence: Evidence): string {
  return markColours[evidence.mark](markText(evidence));
}
