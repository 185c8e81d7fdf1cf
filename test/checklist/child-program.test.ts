import { link, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ChildProgram, startProgram } from '../../src/lib/toolkit/demo/child-program.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { isFull } from '../properties.ts';
import { sharedFolder } from '../toolkit/kit.ts';

const dir = sharedFolder();

const never = new AbortController().signal;
const wait = (program: ChildProgram, event = 'ready') => program.waitFor(event, never);

const run = (script: string, environment: Record<string, string> = {}, clock = createFakeClock()) =>
  startProgram({
    name: 'the part',
    argv: [process.execPath, '-e', script],
    environment,
    logPath: join(dir, 'part.log'),
    clock,
  });

const READY = `console.log(JSON.stringify({event:'ready',port:7}));`;
/** Nothing connects, so it stays. */
const STAY = `require('node:net').createServer().listen(0, '127.0.0.1');`;

describe('a child program', () => {
  test('is ready when it reports so, and ends cleanly when requested', async () => {
    await using part = run(`process.on('SIGTERM', () => process.exit(0)); console.log('hello'); ${READY} ${STAY}`);
    expect(await wait(part)).toEqual({ event: 'ready', port: 7 });
    expect(part.endedByItself).toBe(false);
    expect(await part.stop()).toEqual({ code: 0, signal: null });
    expect(part.endedByItself).toBe(false);
    expect(await readFile(join(dir, 'part.log'), 'utf8')).toContain('hello\n{"event":"ready","port":7}');
  });

  test('writes its log through no link and into no file with a second name', async () => {
    const [log, victim] = [join(dir, 'part.log'), join(dir, 'victim')];
    await writeFile(victim, 'precious');
    for (const trap of [symlink, link]) {
      await rm(log, { force: true });
      await trap(victim, log);
      await using part = run(`console.log('hello'); ${READY} ${STAY}`);
      await wait(part);
      await part.stop();
      expect(await readFile(victim, 'utf8')).toBe('precious');
      expect(await readFile(log, 'utf8')).toContain('hello');
    }
  });

  test('has the given environment, and nothing else of the parent', async () => {
    await using part = run(`console.log(JSON.stringify({event:'ready',env:Object.keys(process.env)})); ${STAY}`, {
      A: '1',
    });
    expect((await wait(part)).env).toEqual(['A']);
  });

  test('that exits before it is ready is reported with its last lines', async () => {
    await using part = run(`console.error('first'); console.error('the disk is on fire'); process.exit(3)`);
    await expect(wait(part)).rejects.toMatchObject({
      code: 'PART_ENDED',
      message: expect.stringContaining('the disk is on fire'),
    });
    expect(part.endedByItself).toBe(true);
    expect(part.endError().message).toContain('exit code 3');
  });

  test('that ends with an error envelope is reported with its error', async () => {
    const envelope = JSON.stringify({ schema: 'x', ok: false, error: { code: 'PORT_IN_USE', message: 'taken' } });
    await using part = run(`console.log(${JSON.stringify(envelope)}); process.exit(4)`);
    await expect(wait(part)).rejects.toThrow(/exit code 4\. Last output:\n {2}taken/);
  });

  test('that cannot be started is reported too', async () => {
    await using part = startProgram({
      name: 'the part',
      argv: [join(dir, 'no-such-program')],
      environment: {},
      logPath: join(dir, 'none.log'),
      clock: createFakeClock(),
    });
    await expect(wait(part)).rejects.toThrow(/could not be started/);
  });

  test('that is slow is waited for, and shows what it said last and where its log is', async () => {
    const clock = createFakeClock();
    const waiting = JSON.stringify({ event: 'waiting', what: 'the keys', ms: 7000 });
    await using part = run(
      `process.on('SIGUSR2', () => { ${READY} }); console.log(${JSON.stringify(waiting)}); ${STAY}`,
      {},
      clock,
    );
    expect(part.lastSaid()).toBe(`it has written nothing; log: ${join(dir, 'part.log')}`);
    const ready = wait(part);
    await wait(part, 'waiting');
    await clock.advance(3_600_000);
    expect(part.lastSaid()).toBe(`its last line: it waits for the keys, 7000 ms; log: ${join(dir, 'part.log')}`);
    process.kill(part.pid ?? 0, 'SIGUSR2');
    expect(await ready).toMatchObject({ port: 7 });
    const aborted = new AbortController();
    const never = part.waitFor('other', aborted.signal);
    aborted.abort(new Error('enough'));
    await expect(never).rejects.toThrow('enough');
  });

  test('that ignores SIGTERM is killed', async () => {
    const clock = createFakeClock();
    await using part = run(
      `process.on('SIGTERM', () => console.log(JSON.stringify({event:'asked'}))); ${READY} ${STAY}`,
      {},
      clock,
    );
    await wait(part);
    const stopped = part.stop();
    await wait(part, 'asked');
    await clock.advance(20_000);
    expect(await stopped).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('can be killed at once during its termination', async () => {
    await using part = run(`process.on('SIGTERM', () => {}); ${READY} ${STAY}`);
    await wait(part);
    const stopped = part.stop();
    part.kill();
    expect(await stopped).toEqual({ code: null, signal: 'SIGKILL' });
  });

  test('that prints endlessly without line breaks does not exhaust memory', { tags: 'property' }, async () => {
    await using part = run(
      `const piece = 'x'.repeat(1 << 16); let n = 0; const more = () => { if (++n < ${isFull ? 400 : 40}) process.stdout.write(piece, more); else { console.log(''); ${READY} } }; more(); ${STAY}`,
    );
    expect(await wait(part)).toMatchObject({ port: 7 });
  });
});
