import { describe, expect, it } from 'vitest';
import { renderTunnelEnd, renderTunnelSessions, renderTunnelStatus } from '../../src/cli/render/tunnel.ts';
import { type TunnelStatus, tunnelStatusSchema } from '../../src/lib/toolkit/tunnel/tunnel.result.ts';
import { sessionEntrySchema } from '../../src/lib/tunnel/index.ts';
import { recorded, runningView, waiting } from '../toolkit/tunnel/fake-support.ts';
import { firstLine, plain } from './shown.ts';

const cloud = { status: 'connected', detail: 'mqtt.example.test:8883', remedy: null };
const statusOf = (view: object, link: object = {}): TunnelStatus =>
  tunnelStatusSchema.parse({ ...waiting, ...view, cloud: { ...cloud, ...link } });

describe('gw tunnel status', () => {
  it('states in its first line that a session runs, for what, and when it ends', () => {
    const about = { services: ['web', 'diagnosis'], forMs: 720_000, leftMs: 2_880_000, open: 3 } as const;
    const view = statusOf(runningView('s-1', { ...about, services: [...about.services] }));
    const expected = 'A support session is running: web, diagnosis, connected, for 12 min, ends within 48 min.';
    expect(firstLine(renderTunnelStatus(view))).toBe(expected);
    expect(plain(renderTunnelStatus(view))).toContain('2026-11-22T19:00:00.000Z');
  });

  it('never says connected while the tunnel is not, and shows no count before one was reported', () => {
    const text = plain(renderTunnelStatus(statusOf(runningView('s-1', { state: 'connecting', open: null }))));
    expect(text.split('\n')[0]).toContain('web, NOT connected at the moment');
    expect(text).toMatch(/open connections +not reported yet/);
  });

  it('never says connected while its proxy reports nothing, as a frozen one', () => {
    const silent = { state: 'not-checked', reportAgeMs: 12_000, open: 3, connections: 5 } as const;
    const text = plain(renderTunnelStatus(statusOf(runningView('s-1', silent))));
    expect(text.split('\n')[0]).toContain('web, tunnel NOT CHECKED (no report of its proxy for 12.0 s)');
    expect(text).toMatch(/tunnel +tunnel NOT CHECKED/);
    expect(text).toMatch(/open connections +3, 5 since the start \(12\.0 s ago\)/);
    expect(text).not.toMatch(/, connected,|tunnel +connected/);
  });

  const lost = statusOf({}, { status: 'not-connected', remedy: 'Check the firewall.' });
  const unkept = statusOf({ records: { status: 'failing', detail: 'ENOSPC.', notSentYet: 0 } });
  it.each<[string, TunnelStatus, RegExp]>([
    ['ready', statusOf({}), /^No support session\. A request from the cloud would be handled\.$/],
    ['without its cloud link', lost, /^No support session, and none can be opened: the cloud link is not-connected\.$/],
    ['without its records', unkept, /^No support session, and none can start: the records cannot be written\.$/],
    ['not configured', statusOf({ status: 'not-configured' }), /^No remote support: .* no cloud\.tunnel/],
    ['not checked', statusOf({ status: 'not-checked', detail: 'Not started.' }), /^not checked: Not started\.$/],
  ])('says in its first line what holds for a gateway that is %s', (_what, view, first) => {
    expect(firstLine(renderTunnelStatus(view))).toMatch(first);
  });

  it('says what to do about the cloud link, by which a request arrives', () => {
    expect(plain(renderTunnelStatus(lost)).split('\n')[1]).toBe('  do next  Check the firewall.');
  });

  it('shows records that wait, the last end and the last refusal, and what is not known as that', () => {
    const at = '2026-11-22T18:00:00.000Z';
    const records = { status: 'ok', detail: 'Written.', notSentYet: 3 };
    const lastRefused = { reason: 'other-region', at, detail: 'a\u001b[2Jb\u202ec' };
    const lastEnded = { session: 's', reason: 'own-clock', at, detail: 'Expired.' };
    const text = plain(renderTunnelStatus(statusOf({ records, lastRefused, lastEnded })));
    expect(text).toContain('Waiting for the outbox: 3.');
    expect(text).toContain(`${at}  own-clock: Expired.`);
    expect(text).toContain(`${at}  other-region: a\uFFFD[2Jb\uFFFDc`);
    const without = plain(renderTunnelStatus(statusOf({ records: { status: 'ok', detail: '', notSentYet: null } })));
    expect(without).toMatch(/last ended +none since the start of gw/);
    expect(without).toContain('Waiting for the outbox: not checked.');
  });
});

describe('gw tunnel end', () => {
  const session = statusOf(runningView('s-1', { forMs: 720_000 })).running;
  const other = statusOf(runningView('s-2')).running;

  it('states in its first line which session was ended', () => {
    const data = { ended: true, status: 'waiting', session, running: null } as const;
    expect(firstLine(renderTunnelEnd(data))).toBe('Support session ended: web, after 12 min.');
  });

  it('says that none ran, or that nothing is configured', () => {
    const none = { ended: false, status: 'waiting', session: null, running: null } as const;
    expect(renderTunnelEnd(none)).toBe('No support session ran.');
    expect(renderTunnelEnd({ ...none, status: 'not-configured' })).toMatch(/: remote support is not configured\.$/);
  });

  it('never says that a session ended which still runs, and names one that follows', () => {
    const same = renderTunnelEnd({ ended: true, status: 'running', session, running: session });
    expect(firstLine(same)).toBe('NOT ENDED: the support session s-1 still runs.');
    const text = plain(renderTunnelEnd({ ended: true, status: 'running', session, running: other }));
    expect(text).toContain('Support session ended: web');
    expect(text).toContain('Another session runs meanwhile: web, connected');
    const late = plain(renderTunnelEnd({ ended: false, status: 'running', session: null, running: other }));
    expect(late.split('\n')).toHaveLength(2);
  });
});

describe('gw tunnel sessions', () => {
  const entry = (value: object) => sessionEntrySchema.parse(value);
  const ended = entry(recorded('s-1', { durationS: 720 }));
  const open = entry(recorded('s-2', null));
  const refused = entry({
    ...{ kind: 'refused', at: '2026-11-22T18:00:00.000Z', reason: 'services-count', detail: 'No service requested.' },
    ...{ region: 'eu-central-1', services: [] },
  });
  const shown = (sessions: (typeof ended)[] | null, change: object = {}) =>
    plain(renderTunnelSessions({ sessions, hasMore: false, running: null, ...change }));

  it('counts sessions and refusals in its first line, and says whether one runs', () => {
    const text = shown([open, ended, refused], { running: 's-2' });
    expect(firstLine(text)).toBe('2 support sessions and 1 refusal; one runs now.');
    expect(text).toMatch(/2026-11-22T19:12:00\.000Z +12 min +ended-on-site +web +Ended on site\./);
    expect(text).toMatch(/2026-11-22T18:00:00\.000Z +refused: services-count +none +No service requested\./);
  });

  it('says that older ones are not shown', () => {
    expect(firstLine(shown([ended], { hasMore: true }))).toMatch(/^1 support session and 0 refusals, .* --limit; none/);
  });

  it('never says running of a session without an end that does not run, and no duration that is not known', () => {
    const text = shown([open]);
    expect(text).toContain('no end in the records');
    expect(text).not.toMatch(/ running/);
    const unknown = entry(recorded('s-1', { durationS: null, reason: 'unclean-shutdown' }));
    expect(shown([unknown])).toMatch(/unknown +unclean-shutdown/);
  });

  it('distinguishes no session from no records', () => {
    expect(shown([])).toBe('No support session and no refusal in the records.');
    expect(shown(null)).toBe('No cloud, so there are no support sessions.');
  });
});
