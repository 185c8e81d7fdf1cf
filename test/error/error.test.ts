import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asGwError, type ErrorCode, errorTable, exitCodes, formatTried, GwError } from '../../src/lib/error/index.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(`${root}docs/errors.md`, 'utf8');
const table = Object.entries(errorTable);
const codes = Object.keys(errorTable) as ErrorCode[];

describe('the error table', () => {
  it.each(table)('%s has a meaning of at most eight words, a remedy and an exit code', (_, { title, remedy, exit }) => {
    for (const sentence of [title, remedy]) {
      expect(sentence.trim()).toBe(sentence);
      expect(sentence).toMatch(/[.!]$/);
    }
    expect(Object.values(exitCodes)).toContain(exit);
    expect([exitCodes.ok]).not.toContain(exit);
    expect(title.split(/\s+/).length).toBeLessThanOrEqual(8);
  });

  it('has no unused code', () => {
    const sources = globSync('src/**/*.ts', { cwd: root })
      .filter((path) => !path.endsWith('error/table.ts'))
      .map((path) => readFileSync(`${root}${path}`, 'utf8'))
      .join('\n');
    expect(codes.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  });
});

describe('docs/errors.md', () => {
  const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (.+) \| (.+) \|$/gm)].map(
    ([, code = '', exit, title, remedy]) => ({ code, exit: Number(exit), title, remedy }),
  );

  it('has a row for every code of the table, word for word', () => {
    for (const [code, { title, remedy, exit }] of table) {
      expect(rows.find((row) => row.code === code)).toEqual({ code, exit, title, remedy });
    }
  });

  it('has no row for a code that is not in the table, and none twice', () => {
    expect(rows.map(({ code }) => code)).toEqual(codes);
  });

  it('names every exit code', () => {
    const named = [...page.matchAll(/^\| (\d+) \| /gm)].map(([, exit]) => Number(exit));
    expect(named).toEqual(Object.values(exitCodes));
  });

  it('shows an error as gw prints it', () => {
    const tried = { address: '192.0.2.7', port: 8090, action: 'GET /device/info', forMs: 1200 };
    expect(page).toContain(`  tried    ${formatTried(tried)}\n  do next  ${errorTable.CHASSIS_NOT_CONNECTED.remedy}`);
  });
});

describe('an error', () => {
  it('has the remedy and exit code of the table unless a remedy is given', () => {
    const { remedy } = errorTable.PORT_IN_USE;
    expect(new GwError('PORT_IN_USE', 'taken')).toMatchObject({ exitCode: exitCodes.refused, remedy });
    expect(new GwError('PORT_IN_USE', 'taken', { remedy: 'End it.' }).remedy).toBe('End it.');
  });

  it('exports a fixed list of fields, never cause or stack', () => {
    const tried = { address: '127.0.0.1', port: 8090 };
    const cause = new Error('inner secret');
    const error = new GwError('CHASSIS_REFUSED', 'no', { tried, details: { status: 400 }, cause });
    const { remedy } = errorTable.CHASSIS_REFUSED;
    const exported = { code: 'CHASSIS_REFUSED', message: 'no', tried, remedy, details: { status: 400 } };
    expect(JSON.parse(JSON.stringify(error))).toEqual(exported);
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(error)).not.toContain('inner secret');
  });

  it('is made from any thrown value: a GwError is kept, an abort is INTERRUPTED, the rest is INTERNAL', {
    tags: 'property',
  }, () => {
    const ours = new GwError('USAGE', 'x');
    expect(asGwError(ours)).toBe(ours);
    expect(asGwError(new DOMException('aborted', 'AbortError')).code).toBe('INTERRUPTED');
    // NaN differs from itself.
    expect(asGwError(Number.NaN).code).toBe('INTERNAL');
    fc.assert(
      fc.property(fc.anything(), (thrown) => {
        expect(asGwError(thrown)).toMatchObject({ code: 'INTERNAL', exitCode: 70 });
      }),
    );
  });
});

describe('what was tried', () => {
  it.each([
    [{ address: '127.0.0.1', port: 8090 }, '127.0.0.1:8090'],
    [{ address: '::1', port: 8090, forMs: 1199.6 }, '[::1]:8090 (1200 ms)'],
    [{ address: 'robot.local', port: 80, action: 'GET /x' }, 'robot.local:80 (GET /x)'],
    [{ address: 'unix:/run/x' }, 'unix:/run/x'],
  ])('%j reads %s', (tried, text) => {
    expect(formatTried(tried)).toBe(text);
  });
});

describe('an error thrown during another', () => {
  it('yields to the first one', () => {
    const first = new GwError('FILE_UNWRITABLE', '/state/x cannot be written (ENOSPC).');
    const inner = new SuppressedError(new Error('closing failed'), first, 'An error was suppressed during disposal.');
    const outer = new SuppressedError(new Error('closing the rest failed'), inner);
    expect(asGwError(inner)).toBe(first);
    expect(asGwError(outer)).toBe(first);
  });

  it('is recognised by its name, as a compiler creates its own where the runtime has none', () => {
    const made = Object.assign(new Error('An error was suppressed during disposal.'), {
      name: 'SuppressedError',
      error: new Error('later'),
      suppressed: new Error('the original error'),
    });
    expect(asGwError(made)).toMatchObject({ code: 'INTERNAL', message: 'the original error' });
  });

  it('as `await using` throws it', async () => {
    const work = async () => {
      await using stack = new AsyncDisposableStack();
      stack.defer(() => Promise.reject(new Error('closing failed')));
      throw new GwError('PORT_IN_USE', 'taken');
    };
    expect(asGwError(await work().catch((error: unknown) => error))).toMatchObject({ code: 'PORT_IN_USE' });
  });

  it('that contains itself terminates', () => {
    const knot = Object.assign(new Error('cyclic'), { name: 'SuppressedError', suppressed: null as unknown });
    knot.suppressed = knot;
    expect(asGwError(knot)).toMatchObject({ code: 'INTERNAL' });
  });
});

describe('a system error of a disk', () => {
  it.each(['ENOSPC', 'EROFS', 'EDQUOT', 'EIO'])('%s is not internal, and has its path in the message', (code) => {
    const system = { code, syscall: 'open', path: '/state/x' };
    const error = Object.assign(new Error(`${code}: no, open '/state/x'`), system);
    const message = expect.stringContaining('/state/x');
    expect(asGwError(error)).toMatchObject({ code: 'FILE_UNWRITABLE', exitCode: 2, message });
  });

  it('is not a program output that only contains the word', () => {
    expect(asGwError(Object.assign(new Error('x'), { code: 'ENOSPC' })).code).toBe('INTERNAL');
  });

  it.each(['ANSWERS_INVALID', 'KIOSK_PROFILE_INVALID', 'SSH_CONFIG_INVALID', 'FILE_UNREADABLE'] as const)(
    'of a file speaks of no lines where none could be read: %s',
    (code) => {
      const of = (system: string) => Object.assign(new Error(system), { code: system, syscall: 'open' });
      const remedyOf = (cause: Error, more = {}) => new GwError(code, 'x', { cause, ...more }).remedy;
      expect(remedyOf(of('ENOENT'))).toBe('There is no such file: name one that exists.');
      expect(remedyOf(of('EACCES'))).toBe(errorTable.FILE_UNREADABLE.remedy);
      expect(remedyOf(new Error('content'))).toBe(errorTable[code].remedy);
      expect(remedyOf(of('ENOENT'), { remedy: 'Do that.' })).toBe('Do that.');
    },
  );
});
