import type { Finding } from './finding.result.ts';

/** A finding without its verdict. */
export type FindingStart = Pick<Finding, 'id' | 'title' | 'spec'>;

type Judged<S, V> = S & { verdict: V; detail: string; remedy: string | null };

export const ok = <S extends FindingStart>(start: S, detail: string): Judged<S, 'ok'> => ({
  ...start,
  verdict: 'ok',
  detail,
  remedy: null,
});

export const wrong = <S extends FindingStart>(start: S, detail: string, remedy: string): Judged<S, 'wrong'> => ({
  ...start,
  verdict: 'wrong',
  detail,
  remedy,
});

export const notChecked = <S extends FindingStart>(
  start: S,
  detail: string,
  remedy: string | null = null,
): Judged<S, 'not-checked'> => ({
  ...start,
  verdict: 'not-checked',
  detail,
  remedy,
});

/** Does not concern this machine, by its site file. */
export const notApplicable = <S extends FindingStart>(start: S, detail: string): Judged<S, 'not-applicable'> => ({
  ...start,
  verdict: 'not-applicable',
  detail,
  remedy: null,
});

/** A finding whose verdict was reached elsewhere. */
export const finding = <V extends string>(
  id: string,
  title: string,
  verdict: V,
  detail: string,
  remedy: string | null = null,
): Judged<FindingStart, V> => ({ id, title, verdict, detail, remedy, spec: null });
