import { describe, expect, it } from 'vitest';
import { changeKey, renderStatus } from '../../src/cli/render/status.ts';
import { reflow } from '../../src/cli/wrap.ts';
import type { Status } from '../../src/lib/toolkit/gateway/status.result.ts';
import { plain } from './shown.ts';

const status: Status = {
  ...{ verdict: 'ok', at: '2026-11-22T19:12:00.000Z', source: 'gateway', way: 'direct', ssh: null },
  ...{ headline: 'Ready', code: 'ready', notes: [], mayDrive: 'yes', run: null, remedies: [] },
  site: { name: 'Lobby', serial: 'S1' },
  robot: { serial: 'S1', model: 'm', software: '2.1', from: 'connection', ageMs: 200_000 },
  chassis: { state: 'connected', tried: '127.0.0.1:8090', forMs: 200_000, detail: null },
  stop: { latched: false, by: null, reason: null, since: null, ageMs: null, saved: true },
  gate: { isOpen: true, reasons: [], lacks: [] },
  battery: { percent: 90, status: 'charging', ageMs: 700, doubt: null },
  parts: (['stop-path', 'cloud', 'outbox', 'support', 'release', 'heartbeat', 'disk', 'gateway', 'clock'] as const).map(
    (id) => ({ id, level: id === 'cloud' ? 'off' : 'good', title: id, state: 'in order', details: [], remedies: [] }),
  ),
  gateway: { version: '1.2.3', upFor: '3 min', clockAheadMs: 12 },
  incidents: { status: 'listed', count: 0, since: null, newest: null, detail: null },
  record: {
    ...{ status: 'found', folder: '/r', path: '/r/a.json', endedAt: '2026-11-21T00:00:00.000Z', ageMs: 90_000_000 },
    ...{ signature: 'verified', detail: 'checklist site: ok' },
  },
};
const lines = (over: Partial<Status>, columns = Number.POSITIVE_INFINITY) =>
  plain(reflow(renderStatus({ ...status, ...over }), columns)).split('\n');

describe('gw status', () => {
  it('answers the three questions in its first line, and fits a terminal of 24 lines and 80 columns', () => {
    const shown = lines({}, 80);
    expect(shown[0]).toBe('Ready: S1 (Lobby): connected, may drive, not stopped');
    expect(shown.length).toBeLessThanOrEqual(23);
    expect(shown.filter((line) => line.length > 80)).toEqual([]);
  });

  it('folds at 60 columns without losing a word, and does not fold for a program', () => {
    const words = (all: readonly string[]) => all.join(' ').split(/\s+/);
    const text = 'a word '.repeat(40).trim();
    const long = { notes: [text] };
    expect(words(lines(long, 60))).toEqual(words(lines(long)));
    expect(lines(long, 60).filter((line) => line.length > 60 && /\s\S+\s/.test(line.trim()))).toEqual([]);
    expect(lines(long)[1]).toHaveLength(2 + text.length);
  });

  const remembered = { serial: 'S1', model: null, software: '2', from: 'remembered', ageMs: null } as const;
  const stop = { ...status.stop, latched: true, by: 'surface', saved: false } as Status['stop'];
  const gate = { isOpen: false, reasons: ['No.'], lacks: ['f1'] };
  const battery = { percent: 4, status: null, ageMs: 9_000, doubt: 'too-old' } as const;
  const behind = { version: '1', upFor: '1 s', clockAheadMs: -7_200_000 };
  const { record } = status;
  it.each<[string, Partial<Status>, RegExp]>([
    ['remembered', { robot: remembered }, /REMEMBERED/],
    ['not read', { robot: null }, /^robot +not read/m],
    ['of another robot', { robot: { ...status.robot, serial: 'S2' } as Status['robot'] }, /site file names S1/],
    ['stopped', { stop }, /NOT SAVED/],
    ['unverified facts', { gate }, /locked: No; not verified here: f1/],
    ['an old battery', { battery }, /not a current value/],
    ['a clock far off', { gateway: behind }, /is 2 h behind this machine/],
    ['a record of the future', { record: { ...record, ageMs: -1 } }, /dated in the future/],
    ['an altered record', { record: { ...record, signature: 'wrong' } }, /ALTERED/],
    ['a record not checked', { record: { ...record, status: 'not-checked', detail: 'EACCES' } }, /record +EACCES/],
    ['lost incidents', { incidents: { ...status.incidents, detail: '2 cannot be read' } }, /2 cannot be read/],
    ['no gateway', { source: 'chassis', stop: null, gate: null, mayDrive: 'not-checked' }, /stop not checked/],
    ['an open part', { verdict: 'not-checked' }, /not everything is checked/],
  ])('says so: %s', (_what, over, text) => expect(lines(over).join('\n')).toMatch(text));

  it('shows no control character of others', () => {
    expect(renderStatus({ ...status, notes: ['\u001b]0;x\u0007'] })).not.toContain('\u0007');
  });

  it('changes with a stop and not with an age', () => {
    const older = { ...status, battery: { ...status.battery, ageMs: 9 } as Status['battery'], at: 'later' };
    expect(changeKey(older)).toBe(changeKey(status));
    expect(changeKey({ ...status, stop: { ...status.stop, latched: true } as Status['stop'] })).not.toBe(
      changeKey(status),
    );
  });
});
