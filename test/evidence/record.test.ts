import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GwError } from '../../src/lib/error/index.ts';
import { loadEvidenceFile } from '../../src/lib/evidence/index.ts';
import { parseEvidenceFile } from '../../src/lib/evidence/record.ts';
import { anyCharacter } from '../text/units.ts';
import { recordOf } from './record-of.ts';

const good = recordOf('vendor.move.request', { moved: 1.25, notes: ['straight', null] });

function problemsOf(content: string | Uint8Array): string[] {
  try {
    parseEvidenceFile(content, 'evidence.jsonl');
    return [];
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    expect(error.code).toBe('EVIDENCE_FILE_INVALID');
    return (error.details?.problems as string[] | undefined) ?? [error.message];
  }
}

describe('an evidence file', () => {
  it('yields its records in order and skips empty lines', () => {
    const other = { ...good, value: false };
    const text = `${JSON.stringify(good)}\n\n  \n${JSON.stringify(other)}\r\n`;
    expect(parseEvidenceFile(text, 'evidence.jsonl')).toEqual([good, other]);
    expect(parseEvidenceFile('', 'evidence.jsonl')).toEqual([]);
  });

  it('reports every invalid line, and none of its records counts', () => {
    const text = `${JSON.stringify(good)}\nnot json\n${JSON.stringify({ ...good, who: '' })}\n${JSON.stringify({ ...good, more: 1 })}\n[]`;
    const problems = problemsOf(text);
    expect(problems.map((problem) => problem.split(':')[1])).toEqual(['2', '3', '4', '5']);
    expect(problems[2]).toContain('more');
  });

  it.each([
    ['a line break in a word', { ...good, who: 'a\nb' }],
    ['an escape sequence', { ...good, how: '\u001b[31m' }],
    ['blanks only', { ...good, serial: '   ' }],
    ['a date that is no UTC time', { ...good, when: '31.01.2026' }],
    ['a word without end', { ...good, fact: 'x'.repeat(2000) }],
  ])('rejects %s', (_what, record) => {
    expect(problemsOf(JSON.stringify(record))).toHaveLength(1);
  });

  it('rejects keys that would reach a prototype and keeps them out of values', () => {
    expect(problemsOf(`${JSON.stringify(good).slice(0, -1)},"__proto__":{"serial":"SN0002"}}`)).toHaveLength(1);
    const nested = JSON.stringify(good).replace('"moved":1.25', '"__proto__":{"polluted":true},"constructor":1');
    const [record] = parseEvidenceFile(nested, 'evidence.jsonl');
    expect(record?.value).not.toHaveProperty('polluted');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('rejects a deeply nested value', () => {
    const deep = JSON.stringify(good).replace('"moved":1.25', `"moved":${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(problemsOf(deep)).toEqual(['evidence.jsonl:1: nested deeper than 10 levels']);
  });

  it('is parsed however long a line is', { tags: 'large' }, () => {
    expect(problemsOf(JSON.stringify({ ...good, who: ' '.repeat(2_000_000) }))).toHaveLength(1);
  });

  it('truncated at any byte is rejected, or complete up to a line end', () => {
    const bytes = new TextEncoder().encode(`${JSON.stringify({ ...good, who: 'Jörg' })}\n${JSON.stringify(good)}\n`);
    const firstLine = bytes.indexOf(10);
    for (let length = 0; length <= bytes.length; length += 1) {
      const cut = bytes.subarray(0, length);
      const whole =
        length === 0 ? 0 : length >= bytes.length - 1 ? 2 : length === firstLine || length === firstLine + 1 ? 1 : -1;
      if (whole < 0) expect(problemsOf(cut).length, `cut at ${length}`).toBeGreaterThan(0);
      else expect(parseEvidenceFile(cut, 'x'), `cut at ${length}`).toHaveLength(whole);
    }
  });

  it('of any bytes yields records or EVIDENCE_FILE_INVALID, never another error', { tags: 'property' }, () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: anyCharacter, maxLength: 300 })),
        (content) => {
          problemsOf(content);
        },
      ),
    );
  });

  it('of any JSON lines yields records or EVIDENCE_FILE_INVALID, never another error', { tags: 'property' }, () => {
    const line = fc.oneof(
      fc.json(),
      fc.record({ fact: fc.string(), value: fc.jsonValue(), serial: fc.anything(), when: fc.string() }).map((value) => {
        try {
          return JSON.stringify(value);
        } catch {
          return '{';
        }
      }),
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 5 }), (lines) => {
        problemsOf(lines.join('\n'));
      }),
    );
  });
});

describe('loading an evidence file', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-evidence-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const load = (name: string) => loadEvidenceFile(join(dir, name));

  it('a missing file counts as empty', async () => {
    await expect(load('none.jsonl')).resolves.toEqual([]);
  });

  it('an existing file yields its records', async () => {
    await writeFile(join(dir, 'good.jsonl'), `${JSON.stringify(good)}\n`);
    await expect(load('good.jsonl')).resolves.toEqual([good]);
  });

  it('a folder, a device, a pipe, binary data and 10 MB are rejected by their type', async () => {
    await mkdir(join(dir, 'folder'));
    await writeFile(join(dir, 'binary.jsonl'), Buffer.from([0x7b, 0xff, 0xfe]));
    await writeFile(join(dir, 'big.jsonl'), Buffer.alloc(10 * 1024 * 1024, ' '));
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    await expect(load('folder')).rejects.toThrow(/it is a folder/);
    await expect(load('pipe')).rejects.toThrow(/not a regular file/);
    await expect(loadEvidenceFile('/dev/null')).rejects.toThrow(/not a regular file/);
    await expect(load('binary.jsonl')).rejects.toThrow(/not text in UTF-8/);
    await expect(load('big.jsonl')).rejects.toThrow(/10485760 bytes/);
    await expect(load('good.jsonl/x')).rejects.toMatchObject({ code: 'EVIDENCE_FILE_INVALID' });
  });
});
