import { describe, expect, it } from 'vitest';
import { GwError } from '../../../src/lib/error/index.ts';
import { isPassing, judge } from '../../../src/lib/toolkit/replace/step.ts';
import { type TabletSeen, tabletReplacement, tabletSteps, UNKNOWN } from '../../../src/lib/toolkit/replace/tablet.ts';
import { BEGUN, EARLIER, LATER, NEW, OLD } from './robots.ts';

type Status = Exclude<TabletSeen['status'], Error>;

const steps = tabletSteps(async () => false);
const words = [
  { step: 'surface', by: 'K. Maier', at: LATER, frame: NEW },
  { step: 'old-key', by: 'K. Maier', at: LATER, frame: NEW },
];
const statusOf = (changes: object = {}): Status =>
  ({
    ...{ port: 'closed', address: { host: '127.0.0.1', port: 5555 }, redLine: null, tablet: { serial: NEW } },
    findings: [{ id: 'port', verdict: 'ok', detail: 'closed' }],
    setUp: { atLastConnection: 'as-profile', serial: NEW, at: LATER },
    restart: { verdict: 'closed', serial: NEW, at: LATER },
    ...changes,
  }) as unknown as Status;
const judged = (changes: Partial<TabletSeen>, given = words) =>
  steps.map((step) =>
    judge(
      step,
      { from: OLD, begunAt: BEGUN, status: statusOf(), ...changes },
      { words: given, command: 'gw replace tablet' },
    ),
  );
const verdictOf = (step: string, ...given: Parameters<typeof judged>) =>
  judged(...given).find(({ id }) => id === step)?.verdict;
const open = {
  port: 'open',
  findings: [{ id: 'port', verdict: 'wrong', detail: 'open' }],
  redLine: { detail: 'open' },
};

describe('the steps of a replaced tablet', () => {
  it('all hold where nothing is left to do, and the words of people are never ok', () => {
    const all = judged({});
    expect(all.filter((step) => !isPassing(step))).toEqual([]);
    expect(all.filter(({ verdict }) => verdict === 'stated').map(({ id }) => id)).toEqual(['surface', 'old-key']);
  });

  it.each<[step: string, what: string, verdict: string, changes: Partial<TabletSeen>]>([
    ['address', 'no answer', 'open', { status: statusOf({ port: 'silent' }) }],
    ['address', 'no look', 'not-checked', { status: new GwError('FILE_UNREADABLE', 'damaged.') }],
    ['set-up', 'the old tablet', 'open', { status: statusOf({ tablet: { serial: OLD } }) }],
    ['set-up', 'no tablet that was connected', 'open', { status: statusOf({ tablet: null }) }],
    ['set-up', 'an old tablet that is not known', 'not-checked', { from: UNKNOWN }],
    [
      'set-up',
      'a reading of the old tablet',
      'open',
      { status: statusOf({ setUp: { atLastConnection: 'as-profile', serial: OLD, at: LATER } }) },
    ],
    [
      'set-up',
      'a reading from before the replacement',
      'open',
      { status: statusOf({ setUp: { atLastConnection: 'as-profile', serial: NEW, at: EARLIER } }) },
    ],
    [
      'set-up',
      'a setting that differs',
      'wrong',
      { status: statusOf({ setUp: { atLastConnection: 'differs', serial: NEW, at: LATER } }) },
    ],
    [
      'set-up',
      'a setup that did not end',
      'open',
      { status: statusOf({ setUp: { atLastConnection: 'not-done', serial: NEW, at: LATER } }) },
    ],
    ['locked', 'an open port', 'wrong', { status: statusOf(open) }],
    [
      'locked',
      'a silent address',
      'not-checked',
      { status: statusOf({ port: 'silent', findings: [{ id: 'port', verdict: 'not-checked', detail: '' }] }) },
    ],
    [
      'locked',
      'a restart of the old tablet',
      'open',
      { status: statusOf({ restart: { verdict: 'closed', serial: OLD, at: LATER } }) },
    ],
    [
      'locked',
      'a restart that opened it',
      'wrong',
      { status: statusOf({ restart: { verdict: 'open', serial: NEW, at: LATER } }) },
    ],
    ['surface', 'a word for another tablet', 'open', { status: statusOf({ tablet: { serial: 'SN7' } }) }],
    ['old-key', 'a word of an earlier replacement', 'open', { status: statusOf({ tablet: { serial: 'SN7' } }) }],
  ])('%s: %s is %s', (step, _what, verdict, changes) => {
    expect(verdictOf(step, changes)).toBe(verdict);
  });

  it.each(['surface', 'old-key'])('%s is open without the word of a person', (step) => {
    expect(verdictOf(step, {}, [])).toBe('open');
  });
});

describe('a replacement of the tablet that is under way', () => {
  const begin = { from: undefined, remembered: undefined, now: new Date(BEGUN) };

  it('goes on with the old tablet once it is named, and with no other one after it', () => {
    const unknown = tabletReplacement(null, 'f', begin);
    expect(unknown.from).toBe(UNKNOWN);
    const named = tabletReplacement({ ...unknown, words }, 'f', { ...begin, from: OLD });
    expect([named.from, named.words, named.begunAt]).toEqual([OLD, words, BEGUN]);
    expect(() => tabletReplacement(named, 'f', { ...begin, from: NEW })).toThrow(OLD);
    expect(tabletReplacement(named, 'f', begin)).toBe(named);
  });
});
