import { shorten } from '../../text/index.ts';
import { inWords } from '../match/excerpt.ts';
import type { Expectation } from '../match/matcher.ts';
import { type MatchVerdict, worse } from '../match/matcher.ts';
import { lookUp, type PathPart, parsePath, pathWords } from '../match/path.ts';
import type { StepResult } from '../run.result.ts';

/** Outcome of one step, before it is merged with the step itself. */
export type Outcome = Pick<StepResult, 'verdict' | 'why'> & {
  readonly [K in 'shown' | 'remedy' | 'expectations' | 'error' | 'answer' | 'values' | 'measured' | 'leftOut']?:
    | StepResult[K]
    | undefined;
} & {
  /** true: interrupted before a result; a resumed run treats the step as never reached. */
  readonly interrupted?: boolean;
};

/**
 * Compares a result with the expectations. The reason is what the findings say, and a path only where there is none. The
 * remedy of a finding is more precise than that of the step, which is for what the check finds wrong.
 */
export function compare(
  step: { readonly expectations: readonly Expectation[]; readonly remedy: string },
  data: object,
): Outcome {
  const compared = step.expectations.map(({ path, parts, matcher }): Compared => {
    const { verdict, found, findings } = matcher.match(lookUp(data, parts));
    const beside = findingAround(data, parts);
    const expectation = { path, expected: matcher.expected, verdict };
    const what = pathWords(parts);
    if (beside !== null) {
      const { title, detail, remedy } = beside;
      const says = verdict === 'ok' || title === null ? detail : `${title}: ${detail}`;
      return {
        what,
        expectation: { ...expectation, found: verdict === 'ok' ? found : `${found}: ${detail}` },
        says,
        remedy,
      };
    }
    const says = findings ? found : null;
    return { what, expectation: { ...expectation, found }, says, remedy: findings?.remedy ?? null };
  });
  const expectations = compared.map(({ expectation }) => expectation);
  const verdict = expectations.reduce<MatchVerdict>((sum, one) => worse(sum, one.verdict), 'ok');
  const unmet = compared.filter(({ expectation }) => expectation.verdict !== 'ok');
  const why = (unmet.length === 0 ? compared.map(metText) : unmet.map((one) => unmetText(one, unmet))).join('; ');
  const own = unmet.find((one) => one.expectation.verdict === verdict && one.remedy !== null)?.remedy ?? null;
  const remedy = verdict === 'wrong' && own !== null && !own.includes(step.remedy) ? `${own} ${step.remedy}` : own;
  return { verdict, why, expectations, ...(remedy !== null && { remedy }) };
}

interface Compared {
  /** The path in words. */
  readonly what: string;
  readonly expectation: StepResult['expectations'][number];
  /** In the words of the findings; null where there are none. */
  readonly says: string | null;
  readonly remedy: string | null;
}

function metText({ what, expectation: { found }, says }: Compared): string {
  return says ?? `${what}: ${inWords(found)}`;
}

function unmetText(
  { what, expectation: { path, expected, found }, says }: Compared,
  unmet: readonly Compared[],
): string {
  if (says !== null) return says;
  // The findings explain the verdict of the whole.
  if (path === 'verdict' && unmet.some((one) => one.says !== null)) return found.replace(/^'(.*)'$/s, '$1');
  return `${what}: expected ${inWords(expected)}, found ${inWords(found)}`;
}

/** What a step expects at a path, in words. */
export function expectationText({ path, expected }: { readonly path: string; readonly expected: string }): string {
  const parts = parsePath(path);
  return `${parts === undefined ? path : pathWords(parts)}: ${inWords(expected)}`;
}

const MAX_DETAIL_CHARS = 300;

/** The finding whose `verdict` is at this path: title, reason as a sentence, remedy. */
function findingAround(data: object, parts: readonly PathPart[]) {
  const last = parts.at(-1);
  if (last?.kind !== 'key' || last.key !== 'verdict') return null;
  const field = (key: string): string | null => {
    const beside = lookUp(data, [...parts.slice(0, -1), { kind: 'key', key }]);
    return beside.exists && typeof beside.value === 'string' && beside.value !== '' ? beside.value : null;
  };
  const detail = field('detail');
  if (detail === null) return null;
  return { title: field('title'), detail: shorten(detail, MAX_DETAIL_CHARS), remedy: field('remedy') };
}
