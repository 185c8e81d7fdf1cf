import chalk from 'chalk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { printable, renderError, renderTable, renderVerdict, right } from '../../src/cli/output.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { character } from './characters.ts';
import { plain } from './shown.ts';

describe('an error on the screen', () => {
  it('shows the failure, what was tried, and the remedy', () => {
    chalk.level = 0;
    const error = new GwError('CHASSIS_NOT_CONNECTED', 'not connected: nothing answered', {
      tried: { address: '127.0.0.1', port: 8090, action: 'GET /device/info', forMs: 1203.4 },
      remedy: 'Check the power.',
    });
    const lines = plain(renderError(error)).split('\n');
    expect(lines[0]).toBe('gw: not connected: nothing answered');
    expect(lines[1]).toContain('127.0.0.1:8090 (GET /device/info, 1203 ms)');
    expect(lines[2]).toContain('Check the power.');
  });

  it('brackets an IPv6 address so that the port stays readable', () => {
    const error = new GwError('CHASSIS_NOT_CONNECTED', 'x', { tried: { address: '::1', port: 8090 } });
    expect(renderError(error)).toContain('[::1]:8090');
  });
});

describe('a table', () => {
  it('aligns by visible width, ignoring colour codes', () => {
    chalk.level = 1;
    const rows = [
      [chalk.red('a'), '1'],
      ['long', '22'],
    ];
    const table = renderTable(['what', right('n')], rows);
    expect(plain(table).split('\n')).toEqual(['what   n', 'a      1', 'long  22']);
    chalk.level = 0;
  });
});

describe('text from a device', () => {
  it('cannot control the terminal', { tags: 'property' }, () => {
    fc.assert(
      fc.property(fc.string({ unit: character }), (text) => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
        expect(printable(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
    expect(printable('\u001b[2Jhello')).toBe('\uFFFD[2Jhello');
  });

  it('cannot reverse the text direction or break its line, and keeps every other character', () => {
    expect(printable('a\u061cb\u200ec\u202ed\u2069e\u2028f')).toBe('a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\uFFFDf');
    expect(printable('Küche 👩‍🚀 مطبخ')).toBe('Küche 👩‍🚀 مطبخ');
    // A title in isolation; half of it, or a control of direction within it, is none.
    expect(printable('to \u2068مطبخ\u2069 (k)')).toBe('to \u2068مطبخ\u2069 (k)');
    expect(printable('a\u2068b')).toBe('a\uFFFDb');
    expect(printable('\u2068a\u202eb\u2069')).toBe('\uFFFDa\uFFFDb\uFFFD');
  });
});

it('not-checked is shown neither green nor red', () => {
  chalk.level = 1;
  expect(renderVerdict('not-checked')).toBe(chalk.yellow('--  '));
  expect(renderVerdict('not-checked')).not.toBe(renderVerdict('ok'));
  chalk.level = 0;
});
