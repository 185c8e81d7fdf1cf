import { describe, expect, it } from 'vitest';
import { parseSite } from '../../src/lib/site/index.ts';

const lobby = { uid: 'u-1', version: 3, id: '1', title: 'Lobby' };
const base = { name: 'test', chassis: { host: '127.0.0.1', serial: 'SN0001' } };
const problemsOf = (maps: object) => {
  try {
    parseSite(JSON.stringify({ ...base, maps }), 'site.yaml');
    return [];
  } catch (error) {
    return (error as { details: { problems: { path: string; expected: string }[] } }).details.problems;
  }
};

describe('the maps of a site file', () => {
  it.each([
    ['uid', { uid: 'u-1' }, 'lobby', /a uid that no other map has: it is that of maps\.lobby too; remove one/],
    ['id', { id: '1' }, 'lobby', /a number that no other map has.*maps\.lobby/],
    ['title', { title: 'Lobby' }, 'lobby', /a name that no other map has.*maps\.lobby/],
  ] as const)('are not two of one %s', (field, same, other, says) => {
    const upstairs = { uid: 'u-2', version: 1, id: '2', title: 'First floor', ...same };
    expect(problemsOf({ [other]: lobby, upstairs })).toMatchObject([
      { path: `maps.upstairs.${field}`, expected: expect.stringMatching(says) },
    ]);
  });

  it('are not two of which the key of one is the name of the other', () => {
    const upstairs = { uid: 'u-2', version: 1, title: 'lobby' };
    const { title: _, ...untitled } = lobby;
    expect(problemsOf({ lobby: untitled, upstairs })).toMatchObject([{ path: 'maps.upstairs.title' }]);
  });

  it('are as many as have all of them different, or do not name them', () => {
    const upstairs = { uid: 'u-2', version: 3, id: '2', title: 'First floor' };
    expect(problemsOf({ lobby, upstairs })).toEqual([]);
    expect(problemsOf({ lobby: { uid: 'u-1', version: null }, upstairs: { uid: 'u-2', version: null } })).toEqual([]);
  });
});
