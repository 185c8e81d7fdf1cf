import type { Finding } from './finding.result.ts';

/** A finding without its verdict. */
export type FindingStart = Pick<Finding, 'id' | 'title' | 'spec'>;

export const fine = (start: FindingStart, detail: string): Finding => ({
  ...start,
  verdict: 'ok',
  detail,
  remedy: null,
});

export const wrong = (start: FindingStart, detail: string, remedy: string): Finding => ({
  ...start,
  verdict: 'wrong',
  detail,
  remedy,
});

export const notChecked = (start: FindingStart, detail: string, remedy: string | null = null): Finding => ({
  ...start,
  verdict: 'not-checked',
  detail,
  remedy,
});
