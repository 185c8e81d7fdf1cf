import type { Finding } from '../../finding.result.ts';

/** What a finding is about, before it is judged. */
export type FindingStart = Pick<Finding, 'id' | 'title' | 'spec'>;

export const ok = (start: FindingStart, detail: string): Finding => ({ ...start, verdict: 'ok', detail, remedy: null });

export const wrong = (start: FindingStart, detail: string, remedy: string): Finding => ({
  ...start,
  verdict: 'wrong',
  detail,
  remedy,
});

export const open = (start: FindingStart, detail: string, remedy: string | null = null): Finding => ({
  ...start,
  verdict: 'not-checked',
  detail,
  remedy,
});
