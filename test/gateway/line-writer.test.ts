import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineWriter } from '../../src/lib/gateway/line-writer.ts';
import type { OutputSink } from '../../src/lib/gateway/output-model.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { runs } from '../properties.ts';

type Answer = number | 'EAGAIN' | 'ENOSPC' | 'later';

const failed = (code: string) => Object.assign(new Error(code), { code });

/** A reader that accepts writes as configured, and collects them. `open`: accepts everything. */
function reader() {
  const accepted: Buffer[] = [];
  const answers: Answer[] = [];
  let pending: (() => void) | null = null;
  let isOpen = false;
  const sink: OutputSink = {
    way: 'own',
    end() {},
    write(bytes, done) {
      const answer = isOpen ? bytes.length : (answers.shift() ?? 'EAGAIN');
      const accept = (count: number) => {
        accepted.push(Buffer.from(bytes.subarray(0, count)));
        done(null, Math.min(count, bytes.length));
      };
      if (typeof answer === 'number') accept(answer);
      else if (answer === 'later') pending = () => accept(bytes.length);
      else done(failed(answer), 0);
    },
  };
  return {
    sink,
    answers,
    text: () => Buffer.concat(accepted).toString(),
    pieces: () => accepted.map(({ length }) => length),
    /** Completes a pending write. */
    complete() {
      const go = pending;
      pending = null;
      go?.();
    },
    open() {
      isOpen = true;
    },
  };
}

const notice = (dropped: number) => `dropped ${dropped}\n`;

function writerTo(sink: OutputSink, maxWaitingBytes: number) {
  const clock = createFakeClock({ startMs: 1_000_000 });
  return { clock, writer: createLineWriter({ sink, clock, notice, maxWaitingBytes }) };
}

function world(maxWaitingBytes: number) {
  const far = reader();
  return { far, ...writerTo(far.sink, maxWaitingBytes) };
}

const answer = fc.oneof(fc.integer({ min: 0, max: 60 }), fc.constantFrom<Answer>('EAGAIN', 'ENOSPC', 'later', 5_000));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ line: fc.integer({ min: 1, max: 90 }) }) },
  { weight: 1, arbitrary: fc.record({ waitMs: fc.integer({ min: 0, max: 1_500 }) }) },
  { weight: 1, arbitrary: fc.record({ answers: fc.array(answer, { maxLength: 6 }) }) },
  { weight: 1, arbitrary: fc.constant({ complete: true as const }) },
);

describe('lines for a reader that may stall', () => {
  it('are never dropped for a reader that keeps up, however many they are', async () => {
    const { far, clock, writer } = world(500);
    const lines = Array.from({ length: 300 }, (_, i) => `line ${i}\n`);
    for (const [i, line] of lines.entries()) {
      if (i % 3 === 0) far.answers.push('later');
      else far.answers.push(10_000, 10_000);
      writer.write(line);
      far.complete();
      if (i % 10 === 0) await clock.advance(1_000);
    }
    far.open();
    await clock.advance(1_000);
    expect(far.text()).toBe(lines.join(''));
    expect(writer.state()).toMatchObject({ status: 'writing', droppedLines: 0 });
  });

  it('keep their order, are never torn, and dropped lines are counted in place', { tags: 'property' }, async () => {
    const anySteps = fc.array(step, { maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(anySteps, fc.integer({ min: 100, max: 2_000 }), async (steps, bytes) => {
        const far = reader();
        const { clock, writer } = writerTo(far.sink, bytes);
        let written = 0;
        for (const one of steps) {
          if ('line' in one) writer.write(`${String(written++).padStart(6, '0')} ${'é'.repeat(one.line)}.\n`);
          else if ('waitMs' in one) await clock.advance(one.waitMs);
          else if ('answers' in one) far.answers.push(...one.answers);
          else far.complete();
        }
        const { droppedLines } = writer.state();
        far.open();
        far.complete();
        await clock.advance(2_000);

        let next = 0;
        let counted = 0;
        for (const line of far.text().split('\n').slice(0, -1)) {
          const [, count] = /^dropped (\d+)$/.exec(line) ?? [];
          if (count === undefined) {
            expect(line).toMatch(new RegExp(`^${String(next).padStart(6, '0')} é+\\.$`));
            next += 1;
          } else {
            next += Number(count);
            counted += Number(count);
          }
        }
        expect(next).toBe(written);
        expect(counted).toBe(droppedLines);
        expect(writer.state()).toEqual({ status: 'writing', failure: null, droppedLines });
        expect(far.text().endsWith('\n') || far.text() === '').toBe(true);
      }),
      { numRuns: runs(400) },
    );
  });

  it('are dropped oldest first: the last one before a crash is kept', async () => {
    const { far, clock, writer } = world(300);
    for (let n = 0; n < 1_000; n += 1) writer.write(`line ${n}\n`);
    expect(writer.state()).toMatchObject({ status: 'unread', failure: null });
    far.open();
    await clock.advance(500);
    const lines = far.text().trim().split('\n');
    expect(lines[0]).toBe('line 0');
    expect(lines[1]).toBe(`dropped ${writer.state().droppedLines}`);
    expect(lines.at(-1)).toBe('line 999');
    expect(writer.state().droppedLines).toBe(1_000 - (lines.length - 1));
  });

  it('use bounded memory while the reader stalls, and one timer at most', () => {
    const { clock, writer } = world(10_000);
    for (let n = 0; n < 50_000; n += 1) writer.write(`line ${n}\n`);
    expect(writer.state().droppedLines).toBeGreaterThan(49_800);
    expect(clock.pending).toBe(1);
  });

  it('are written in chunks that a pipe accepts atomically, so that another writer tears none', async () => {
    const { far, clock, writer } = world(200_000);
    for (let n = 0; n < 200; n += 1) writer.write(`${'x'.repeat(100 + ((n * 7) % 900))}\n`);
    far.open();
    await clock.advance(500);
    const pieces = far.pieces().filter((bytes) => bytes > 0);
    expect(pieces.length).toBeGreaterThan(20);
    expect(Math.max(...pieces)).toBeLessThanOrEqual(4_096);
    expect(Math.max(...pieces)).toBeGreaterThan(3_000);
  });

  it('reach a reader that reads one byte at a time', () => {
    const { far, writer } = world(100_000);
    far.answers.push(...Array.from({ length: 30_000 }, () => 1));
    writer.write(`${'x'.repeat(29_999)}\n`);
    expect(far.text()).toHaveLength(30_000);
  });

  it('are reported as unread when a write blocks', async () => {
    const { far, clock, writer } = world(300);
    far.answers.push('later');
    writer.write('line\n');
    await clock.advance(999);
    expect(writer.state()).toMatchObject({ status: 'writing' });
    await clock.advance(1);
    expect(writer.state()).toMatchObject({ status: 'unread' });
    far.complete();
    expect(writer.state()).toMatchObject({ status: 'writing' });
    expect(far.text()).toBe('line\n');
  });

  it('are kept over a full disk, which is retried once a second and reported with its code', async () => {
    const { far, clock, writer } = world(10_000);
    far.answers.push('ENOSPC', 'ENOSPC');
    writer.write('one\n');
    writer.write('two\n');
    expect(writer.state()).toEqual({ status: 'failing', failure: 'ENOSPC', droppedLines: 0 });
    await clock.advance(999);
    expect(far.answers).toHaveLength(1);
    await clock.advance(1);
    expect(far.answers).toHaveLength(0);
    far.open();
    await clock.advance(1_000);
    expect(far.text()).toBe('one\ntwo\n');
    expect(writer.state()).toEqual({ status: 'writing', failure: null, droppedLines: 0 });
  });

  it('are written at the end when the reader is there, and dropped after a deadline when it is not', async () => {
    const there = reader();
    there.open();
    const good = writerTo(there.sink, 1_000);
    good.writer.write('last\n');
    await good.writer.end(300);
    expect(there.text()).toBe('last\n');
    expect(good.clock.pending).toBe(0);

    const away = reader();
    const { clock, writer } = writerTo(away.sink, 1_000);
    writer.write('last\n');
    let isDone = false;
    const ended = writer.end(300).finally(() => {
      isDone = true;
    });
    await clock.advance(299);
    expect(isDone).toBe(false);
    await clock.advance(1);
    await ended;
  });

  it('are written at once at the end although the last failure is due for a later retry', async () => {
    const { far, writer } = world(1_000);
    far.answers.push('ENOSPC');
    writer.write('last\n');
    far.open();
    await writer.end(300);
    expect(far.text()).toBe('last\n');
  });
});
