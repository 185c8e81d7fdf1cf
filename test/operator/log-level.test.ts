import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createLogLevel,
  type LogLevel,
  type LogSetting,
  logLevelBody,
  logLevels,
} from '../../src/lib/operator/log-level.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { get, postJson, signIn, startServer } from './server.ts';

/** A log that writes as the daemon's does, by its level at that moment. */
function start(configured: LogLevel = 'info') {
  const clock = createFakeClock();
  let level = configured;
  const written: string[] = [];
  const set = (next: LogLevel) => {
    level = next;
  };
  const setting: LogSetting = { current: () => level, set };
  const write = (of: LogLevel) => (fields: object, message: string) => {
    if (logLevels.indexOf(of) >= logLevels.indexOf(level)) written.push(`${message} ${JSON.stringify(fields)}`);
  };
  const log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  return { clock, written, control: createLogLevel(setting, clock, log) };
}

describe('the level of the log', () => {
  it('returns by itself, and says who changed it', async () => {
    const { clock, control, written } = start();
    expect(control.view()).toEqual({ level: 'info', configured: 'info', leftS: null });
    control.set('debug', 60, 'a command on the gateway');
    await clock.advance(20_000);
    expect(control.view()).toEqual({ level: 'debug', configured: 'info', leftS: 40 });
    await clock.advance(40_000);
    expect(control.view()).toEqual({ level: 'info', configured: 'info', leftS: null });
    expect(written).toEqual([
      'log level changed {"audit":true,"to":"debug","by":"a command on the gateway","forS":60}',
      'log level returned to the configured one {"audit":true,"to":"info"}',
    ]);
  });

  it('is written about also when it becomes silent, and when it was', async () => {
    const { clock, control, written } = start();
    control.set('error', 10, 'x');
    expect(written).toHaveLength(1);
    await clock.advance(10_000);
    expect(written).toHaveLength(2);
  });

  it('counts a second change from its own moment, and ends with the configured level', async () => {
    const { clock, control } = start('warn');
    control.set('debug', 10, 'x');
    await clock.advance(9_000);
    control.set('info', 10, 'x');
    await clock.advance(9_000);
    expect(control.view()).toEqual({ level: 'info', configured: 'warn', leftS: 1 });
    control.set('warn', 10, 'x');
    expect(control.view()).toEqual({ level: 'warn', configured: 'warn', leftS: null });
    await clock.advance(60_000);
    expect(control.view().level).toBe('warn');
  });

  it('takes a level and a time within a day, and nothing else', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.record({ level: fc.string(), forS: fc.double() })), (value) => {
        const read = logLevelBody.safeParse(value);
        if (!read.success) return;
        expect(logLevels).toContain(read.data.level);
        expect(read.data.forS).toBeGreaterThanOrEqual(1);
        expect(read.data.forS).toBeLessThanOrEqual(86_400);
      }),
    );
    expect(logLevelBody.parse({ level: 'debug' })).toEqual({ level: 'debug', forS: 600 });
    for (const wrong of [{ level: 'trace' }, { level: 'debug', forS: 0 }, { level: 'debug', more: 1 }, {}]) {
      expect(logLevelBody.safeParse(wrong).success).toBe(false);
    }
  });
});

describe('GET and POST /api/protokolle/stufe', () => {
  it('need a session, and are closed on the read-only socket', async () => {
    let level: LogLevel = 'info';
    const set = (next: LogLevel) => {
      level = next;
    };
    const logSetting: LogSetting = { current: () => level, set };
    await using server = await startServer({ password: true, more: { logSetting } });
    const path = '/api/protokolle/stufe';
    for (const method of ['GET', 'POST']) {
      expect((await get(server.full, path, method)).status).toBe(401);
      expect((await get(server.readOnly, path, method)).status).toBe(403);
    }
    expect(level).toBe('info');
    const cookie = await signIn(server.full);
    const change = (body: object) => postJson(server.full, path, body, { cookie });
    expect((await change({ level: 'loud' })).status).toBe(400);
    const changed = await change({ level: 'debug', forS: 60 });
    expect([changed.status, changed.data]).toEqual([200, { level: 'debug', configured: 'info', leftS: 60 }]);
    expect(level).toBe('debug');
  });
});
