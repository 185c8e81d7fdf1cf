import { shorten } from '../../text/index.ts';
import type { Expectation } from '../match/matcher.ts';
import { type MatchVerdict, worse } from '../match/matcher.ts';
import { lookUp, type PathPart } from '../match/path.ts';
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

/** Compares a result with the expectations. */
export function compare(expected: readonly Expectation[], data: object): Outcome {
  const expectations = expected.map(({ path, parts, matcher }) => {
    const match = matcher.match(lookUp(data, parts));
    const detail = match.verdict === 'ok' ? null : detailBeside(data, parts);
    return {
      path,
      expected: matcher.expected,
      ...match,
      ...(detail !== null && { found: `${match.found}: ${detail}` }),
    };
  });
  const verdict = expectations.reduce<MatchVerdict>((sum, one) => worse(sum, one.verdict), 'ok');
  const unmet = expectations.filter((one) => one.verdict !== 'ok');
  const why =
    unmet.length === 0
      ? expectations.map(({ path, found }) => `${path}: ${found}`).join('; ')
      : unmet.map(({ path, expected: wanted, found }) => `${path}: expected ${wanted}, found ${found}`).join('; ');
  return { verdict, why, expectations };
}

const MAX_DETAIL_CHARS = 300;

/** The `detail` beside a `verdict`: the reason as a sentence. */
function detailBeside(data: object, parts: readonly PathPart[]): string | null {
  const last = parts.at(-1);
  if (last?.kind !== 'key' || last.key !== 'verdict') return null;
  const beside = lookUp(data, [...parts.slice(0, -1), { kind: 'key', key: 'detail' }]);
  if (!beside.exists || typeof beside.value !== 'string' || beside.value === '') return null;
  return shorten(beside.value, MAX_DETAIL_CHARS);
}
