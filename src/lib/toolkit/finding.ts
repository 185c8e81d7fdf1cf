import type { Finding } from './finding.result.ts';

/** What a finding is about; its verdict follows. */
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

/** A finding whose verdict was reached elsewhere, such as 'not-applicable'. */
export const finding = <V extends string>(
  id: string,
  title: string,
  verdict: V,
  detail: string,
  remedy: string | null = null,
): Judged<FindingStart, V> => ({ id, title, verdict, detail, remedy, spec: null });
