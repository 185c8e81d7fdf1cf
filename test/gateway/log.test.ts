import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isJournal, type LogOptions, openLog } from '../../src/lib/gateway/index.ts';
import { folderOfEach } from '../lifecycle/folder.ts';

const dir = folderOfEach();
let fd: number;
beforeEach(() => {
  fd = openSync(dir.at('log'), 'a');
});
afterEach(() => {
  closeSync(fd);
});

async function write(options: Omit<LogOptions, 'fd'>): Promise<string> {
  const { log, writer } = await openLog({ ...options, fd });
  log.debug({ n: 1 }, 'looked');
  log.info({ port: 5173 }, 'opened');
  log.warn({ address: '127.0.0.1' }, 'not connected');
  log.error({}, 'broke');
  await writer.end(1_000);
  return readFileSync(dir.at('log'), 'utf8');
}

describe('the log of the daemon', () => {
  it('is one JSON object a line with UTC time and the level by name', async () => {
    const lines = (await write({ level: 'info', format: 'json' })).trim().split('\n');
    const [first, ...rest] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(first).toEqual({ level: 'info', time: expect.stringMatching(/Z$/), port: 5173, msg: 'opened' });
    expect(rest.map(({ level }) => level)).toEqual(['warn', 'error']);
  });

  it.each([
    ['debug', 4],
    ['warn', 2],
    ['error', 1],
  ] as const)('at level %s contains %i of four events', async (level, count) => {
    expect((await write({ level, format: 'json' })).trim().split('\n')).toHaveLength(count);
  });

  it('contains the error, under `error` as well', async () => {
    const { log, writer } = await openLog({ level: 'info', format: 'json', fd });
    log.error({ error: new Error('disk removed') }, 'request failed');
    await writer.end(1_000);
    expect(JSON.parse(readFileSync(dir.at('log'), 'utf8'))).toMatchObject({
      error: { message: 'disk removed' },
    });
  });

  it('begins each line with its priority for the journal', async () => {
    const lines = (await write({ level: 'debug', format: 'json', isJournal: true })).trim().split('\n');
    expect(lines.map((line) => line.slice(0, 4))).toEqual(['<7>{', '<6>{', '<4>{', '<3>{']);
    expect(JSON.parse(lines[3]?.slice(3) ?? '')).toMatchObject({ level: 'error', msg: 'broke' });
    expect(await write({ level: 'error', format: 'pretty', isJournal: true })).toMatch(/^<3>.*broke/m);
  });

  it('is that of the journal only on the descriptor that systemd names', () => {
    const { dev, ino } = fstatSync(fd);
    expect(isJournal(fd, `${dev}:${ino}`)).toBe(true);
    for (const other of [undefined, '', `${dev}:${ino + 1}`, `${dev + 1}:${ino}`])
      expect(isJournal(fd, other)).toBe(false);
  });

  it('has a readable text form', async () => {
    const text = await write({ level: 'info', format: 'pretty' });
    expect(text).toMatch(/INFO.*opened/);
    expect(text).toMatch(/port: 5173/);
    expect(text).not.toContain('looked');
  });
});
