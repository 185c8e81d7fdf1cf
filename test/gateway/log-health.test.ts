import { describe, expect, it } from 'vitest';
import { logHealth } from '../../src/lib/gateway/gateway.ts';

describe('the log in /api/health', () => {
  it.each([
    [undefined, 'not-checked', null, 'The destination of the log is unknown.'],
    [{ status: 'writing', failure: null, droppedLines: 0 }, 'writing', 0, 'The log is written.'],
    [
      { status: 'writing', failure: null, droppedLines: 7 },
      'writing',
      7,
      'The log is written. Lines dropped since the start: 7.',
    ],
    [
      { status: 'unread', failure: null, droppedLines: 0 },
      'unread',
      0,
      'The reader of the log is not reading; lines wait, and the gateway continues.',
    ],
    [
      { status: 'discarded', failure: null, droppedLines: 0 },
      'discarded',
      0,
      'The log goes to /dev/null and is discarded.',
    ],
    [
      { status: 'failing', failure: 'ENOSPC', droppedLines: 3 },
      'failing',
      3,
      'The log cannot be written: ENOSPC. Lines dropped since the start: 3.',
    ],
  ] as const)('%o', (state, status, droppedLines, detail) => {
    expect(logHealth(state)).toEqual({ status, droppedLines, detail });
  });
});
