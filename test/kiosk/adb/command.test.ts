import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoteForTablet, tabletCommand } from '../../../src/lib/kiosk/adb/command.ts';
import { runs } from '../../properties.ts';
import { anyCharacter } from '../../text/units.ts';

const line = fc.string({ unit: anyCharacter }).filter((text) => !/[\0\r\n]/.test(text) && text.isWellFormed());

describe('a command for the tablet', () => {
  it('passes every value to a POSIX shell unchanged', { tags: 'property' }, () => {
    const values = fc.sample(fc.array(line, { minLength: 1, maxLength: 20 }), runs(150));
    // One shell prints many values, each followed by a NUL.
    for (const words of values) {
      const command = `printf '%s\\0' ${words.map(quoteForTablet).join(' ')}`;
      const printed = execFileSync('/bin/sh', ['-c', command]).toString('utf8');
      expect(printed).toBe(words.map((word) => `${word}\0`).join(''));
    }
  });

  it('quotes harmless values too, so that no value is outside of quotes', { tags: 'property' }, () => {
    fc.assert(
      fc.property(line, (text) => {
        const outside = quoteForTablet(text)
          .replaceAll("'\\''", '')
          .replace(/^'[^']*'$/, '');
        expect(outside).toBe('');
      }),
    );
  });

  it.each([
    ["a'; reboot; '", "settings put 'system' 'x' 'a'\\''; reboot; '\\'''"],
    ['$(reboot) `reboot` | & > *', "settings put 'system' 'x' '$(reboot) `reboot` | & > *'"],
    ['', "settings put 'system' 'x' ''"],
    ['-n', "settings put 'system' 'x' '-n'"],
  ])('keeps %j a value', (value, expected) => {
    expect(tabletCommand`settings put ${'system'} ${'x'} ${value}`).toBe(expected);
  });

  it('accepts numbers, and commands without a value', () => {
    expect(tabletCommand`wm density ${240}`).toBe("wm density '240'");
    expect(tabletCommand`getprop`).toBe('getprop');
  });

  it.each(['a\nreboot', 'a\rb', 'a\0b'])('refuses a value with a line end or a NUL: %j', (value) => {
    expect(() => quoteForTablet(value)).toThrow(expect.objectContaining({ code: 'KIOSK_PROFILE_INVALID' }));
  });
});
