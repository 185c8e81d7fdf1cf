import { constants } from 'node:os';
import { expect, test } from 'vitest';
import { systemReason } from '../../src/lib/error/index.ts';

test('an error of the operating system is said in words, an unknown one by its code', () => {
  expect(systemReason(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('no such file or folder');
  expect(systemReason({ code: 'EWHATEVER' })).toBe('EWHATEVER');
  for (const nothing of [undefined, null, {}, { code: '' }, { code: 7 }, new Error('x')])
    expect(systemReason(nothing)).toBe('unknown reason');
});

test('what a file can fail with has words', () => {
  const ofFiles = [
    'EACCES',
    'EBUSY',
    'EEXIST',
    'EIO',
    'EISDIR',
    'ELOOP',
    'EMFILE',
    'ENOENT',
    'ENOSPC',
    'ENOTDIR',
    'EPERM',
    'EROFS',
  ];
  for (const code of ofFiles) {
    expect(Object.keys(constants.errno)).toContain(code);
    expect(systemReason({ code })).not.toContain(code);
  }
});
