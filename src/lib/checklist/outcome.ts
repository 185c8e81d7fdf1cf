import type { Expectation } from './matcher.ts';
import { type MatchVerdict, worse } from './matcher.ts';
import { look } from './path.ts';
import type { StepResult } from './run.result.ts';

/** What came out of one step, before it is joined with what the step is. */
export type Outcome = Pick<StepResult, 'verdict' | 'why'> & {
  readonly [K in 'shown' | 'remedy' | 'expectations' | 'error' | 'answer' | 'values' | 'measured' | 'leftOut']?:
    | StepResult[K]
    | undefined;
} & {
  /** true: nobody got as far as looking; a resumed run takes it as if it had never been reached. */
  readonly interrupted?: boolean;
};

/** Holds a result against what is expected of it. */
export function compare(expected: readonly Expectation[], data: object): Outcome {
  const expectations = expected.map(({ path, parts, matcher }) => {
    return { path, expected: matcher.expected, ...matcher.match(look(data, parts)) };
  });
  const verdict = expectations.reduce<MatchVerdict>((sum, one) => worse(sum, one.verdict), 'ok');
  const unmet = expectations.filter((one) => one.verdict !== 'ok');
  const why =
    unmet.length === 0
      ? expectations.map(({ path, found }) => `${path}: ${found}`).join('; ')
      : unmet.map(({ path, expected: wanted, found }) => `${path}: expected ${wanted}, found ${found}`).join('; ');
  return { verdict, why, expectations };
}
