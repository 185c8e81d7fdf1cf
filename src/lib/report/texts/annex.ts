import { markText } from '../../evidence/index.ts';
import { recordEn } from './record.en.ts';

/** The technical annex of a record, in English in every report: what the checks found, word for word. */
export const annexTexts = {
  mark: recordEn.mark,
  row: {
    why: 'Why',
    found: 'Found',
    tried: 'Tried',
    remedy: 'Fix',
    proves: 'Specification',
    answer: 'Answer',
    values: 'Measured',
    earlier: 'Earlier',
  },
  robot: (site: string, serial: string) => `${site}, chassis ${serial}`,
  notOkTitle: 'What is not ok',
  cut: (characters: number) => `[... ${characters} more characters in the file]`,
  expected: (path: string, expected: string, found: string) => `${path}: expected ${expected}, found ${found}`,
  earlier: (word: string, at: string, why: string) => `${word}, ${at}: ${why}`,
  noTime: 'time not known',
  value: (name: string, value: string, mark: string) => `${name}: ${value} [${mark}]`,
  waitingTitle: 'Skipped, because a step they need is not ok, or left out on purpose',
  waitingHead: ['No.', 'Step', 'Why', 'Specification'],

  okTitle: 'What is ok',
  okHead: ['Step', 'Found', 'Specification'],
  valuesTitle: 'Measured values',
  valuesHead: ['Step', 'Value', 'Mark', 'Source'],

  evidenceTitle: 'Facts that the steps rely on',
  evidenceHead: ['Fact', 'Mark', 'Statement', 'Verified on this device'],
  verifiedHere: {
    yes: 'yes',
    'on-a-simulator': 'on a simulator',
    no: 'no',
    contradicted: 'CONTRADICTED',
    'not-checked': 'not checked',
  },
  elsewhere: 'no: on another device or version',
  markText,
  marks:
    'Marks: BELEGT (measured), with its basis. HINWEIS (note), stated by a vendor. VORSICHT (assumed), an assumption. OFFEN (open), unknown.',

  findingsTitle: 'Verification of this record',
  findingsHead: ['Checked', 'Result', 'Detail'],
  finding: { ok: 'ok', wrong: 'WRONG', 'not-checked': 'not checked' },
};
