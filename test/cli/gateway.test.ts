import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderHealth, renderLog } from '../../src/cli/render/gateway.ts';
import type { GatewayLog, JudgedHealth } from '../../src/lib/toolkit/gateway/gateway.result.ts';
import { standInHealth } from '../operator/stand-ins.ts';
import { character } from './characters.ts';
import { firstLine, plain } from './shown.ts';

const health = (over: Partial<JudgedHealth> = {}) =>
  ({ verdict: 'ok', ...standInHealth({ version: '1.2.3', upForMs: 7_300_000 }), ...over }) as JudgedHealth;

describe('gw health', () => {
  it.each<[JudgedHealth['verdict'], string]>([
    ['ok', 'Gateway ok: gw 1.2.3, up for 2 h.'],
    ['wrong', 'Gateway DEGRADED: gw 1.2.3, up for 2 h.'],
    ['not-checked', 'Gateway not completely checked: gw 1.2.3, up for 2 h.'],
  ])('gives the verdict %s in its first line', (verdict, line) => {
    expect(firstLine(renderHealth(health({ verdict })))).toBe(line);
  });

  it('shows each part with its state, what to do, and the last error of a service that was restarted', () => {
    const service = {
      ...{ name: 'fleet', status: 'restarting' as const, restarts: 2, lastError: 'EACCES', remedy: 'Free it.' },
    } as const;
    const text = plain(renderHealth(health({ services: [{ ...service, detail: 'waits' }] })));
    expect(text.split('\n')[1]).toBe('  do next  Free it.');
    expect(text).toMatch(/^service fleet +restarting +waits; 2 restarts, last error: EACCES$/m);
    expect(text).toMatch(/^disk of the state +ok +9000 MB of 10000 MB free\.$/m);
    expect(text).toMatch(/^other robots +not-checked +No heartbeat is received\.$/m);
    expect(text).toMatch(/^cloud +not-configured +The site file has no cloud\.$/m);
    expect(text).toMatch(/^log output +writing +The log is written\.$/m);
  });
});

describe('gw log', () => {
  const time = '2026-01-31T12:00:00.000Z';
  const entry = (over: Partial<GatewayLog['entries'][number]> = {}) => ({
    ...{
      ...{ time, level: 'info' as const, message: 'robot stopped', fields: {}, count: 1, lastTime: time },
      lastFields: null,
    },
    ...over,
  });

  it('counts errors and warnings with the folded ones, and shows the events oldest first', () => {
    const failed = entry({ level: 'error', message: 'it failed', fields: { path: '/x', code: 7 } });
    const more = { level: 'warn', message: 'late', count: 3, lastTime: '2026-01-31T12:05:00.000Z' } as const;
    const text = plain(renderLog({ entries: [failed, entry(more)], audit: [], clientAborts: 0 }));
    expect(text.split('\n')).toEqual([
      '4 log events since 2026-01-31T12:00:00.000Z: 1 error, 3 warnings.',
      '',
      '2026-01-31T12:00:00.000Z error it failed path=/x code=7',
      '2026-01-31T12:00:00.000Z warn  late (3 times, last 2026-01-31T12:05:00.000Z)',
    ]);
  });

  it('shows the acts of people that the last events no longer hold, and none twice', () => {
    const before = entry({ lastTime: '2026-01-30T00:00:00.000Z', message: 'stop cleared' });
    const text = plain(renderLog({ entries: [entry()], audit: [before, entry()], clientAborts: 0 }));
    expect(text.split('\n').filter((line) => line.includes('stop cleared'))).toHaveLength(1);
    expect(text.split('\n').filter((line) => line.includes('robot stopped'))).toHaveLength(1);
    expect(text).toMatch(/Earlier acts:\n.*stop cleared/);
    expect(renderLog({ entries: [], audit: [], clientAborts: 0 })).toBe('No log event since the gateway started.');
  });

  it('is safe for a terminal whatever a client had written into the log', { tags: 'property' }, () => {
    const fields = fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.jsonValue()));
    fc.assert(
      fc.property(fc.string({ unit: character }), fields, (message, found) => {
        const text = plain(renderLog({ entries: [entry({ message, fields: found })], audit: [], clientAborts: 0 }));
        expect(text.split('\n')).toHaveLength(3);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
        expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });
});
