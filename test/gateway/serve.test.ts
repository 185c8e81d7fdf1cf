import { describe, expect, it } from 'vitest';
import { renderServeEvent } from '../../src/cli/render/gateway.ts';
import { type ServeEvent, serveEventSchema } from '../../src/lib/gateway/serve.result.ts';

const lines: readonly [ServeEvent, string | RegExp][] = [
  [
    { event: 'started', service: 'operator', detail: 'full on [::]:5173, read-only on 127.0.0.1:5174', tookMs: 60 },
    'operator  full on [::]:5173, read-only on 127.0.0.1:5174',
  ],
  [{ event: 'ready', site: 'S', serial: 'A-1', ports: { operator: 5173, readOnly: 5174 }, tookMs: 90 }, /ready/],
  [
    { event: 'failed', service: 'chassis', message: 'it broke', remedy: 'Mend it.', retryInMs: 250 },
    /^chassis.*it broke \(retry in 250 ms\)\. Do next: Mend it\.$/,
  ],
  [{ event: 'stopping' }, 'stopping'],
  [{ event: 'stopped', service: 'motion', tookMs: 3 }, 'motion    stopped'],
  [{ event: 'stop-failed', service: 'motion', message: 'late' }, /did not stop.*late/],
  [{ event: 'ended' }, 'ended'],
];

describe('the lines of gw serve', () => {
  it.each(lines)('%j is one line', (event, expected) => {
    expect(serveEventSchema.parse(event)).toEqual(event);
    const text = renderServeEvent(event);
    if (typeof expected === 'string') expect(text).toBe(expected);
    else expect(text).toMatch(expected);
    expect(text).not.toContain('\n');
  });

  it('pass no control characters of a device', () => {
    const event: ServeEvent = { event: 'started', service: 'chassis', detail: 'evil\u001b[2J\nready', tookMs: 1 };
    expect(renderServeEvent(event)).toBe('chassis   evil\uFFFD[2J\uFFFDready');
  });
});
