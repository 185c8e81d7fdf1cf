import { describe, expect, it } from 'vitest';
import { logHealth } from '../../src/lib/gateway/gateway.ts';

describe('the log in /api/health', () => {
  it.each([
    ['writing', null, 0, 'The log is written.'],
    ['writing', null, 7, 'The log is written. Lines dropped since the start: 7.'],
    ['unread', null, 0, 'The reader of the log is not reading; lines wait, and the gateway continues.'],
    ['discarded', null, 0, 'The log goes to /dev/null and is discarded.'],
    ['failing', 'ENOSPC', 3, 'The log cannot be written: ENOSPC. Lines dropped since the start: 3.'],
  ] as const)('%s %s, %i lines dropped', (status, failure, droppedLines, detail) => {
    expect(logHealth({ status, failure, droppedLines })).toEqual({ status, droppedLines, detail });
  });

  it('is not checked where its destination is unknown', () => {
    const detail = 'The destination of the log is unknown.';
    expect(logHealth(undefined)).toEqual({ status: 'not-checked', droppedLines: null, detail });
  });
});
