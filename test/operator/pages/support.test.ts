import { describe, expect, it } from 'vitest';
import type { CloudView } from '../../../src/lib/cloud/index.ts';
import { pageView } from '../../../src/lib/operator/pages/view.ts';
import { endReasons, refusalReasons, type SupportView } from '../../../src/lib/tunnel/index.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { ask, startServer } from '../server.ts';
import { snapshotWith, standInHealth, standInMotion, tried } from '../stand-ins.ts';
import { runningSupport, standInSupport, waitingSupport } from '../support-stand-in.ts';

const now = new Date('2026-11-22T19:12:00.000Z');

function viewOf(support: SupportView, cloud: CloudView = connectedView) {
  const link = snapshotWith({ kind: 'connected', tried });
  return pageView(link, standInMotion().status(), standInHealth(), { view: cloud, now }, support);
}
const place = (data: string, key: string) => new RegExp(`data-live="${key}">([^<]*)<`).exec(data)?.[1];

describe('a running session on the pages', () => {
  it('is a banner with since, the latest end, services, connection and open connections, on both sockets', async () => {
    await using server = await startServer({ more: { support: standInSupport(runningSupport) } });
    for (const port of [server.full, server.readOnly]) {
      const { data } = await ask(port, '/service');
      expect(data).toContain('data-support="running"');
      expect(place(data, 'support.title')).toBe('läuft');
      expect(place(data, 'support.state')).toContain('Der Tunnel ist verbunden');
      expect(place(data, 'support.since')).toBe('22.11.2026, 19:00:00 UTC (vor 12\u00a0min)');
      expect(place(data, 'support.until')).toMatch(/^in 48\u00a0min \(\d\d\.\d\d\.\d{4}, \d\d:\d\d:\d\d UTC\)$/);
      expect(place(data, 'support.services')).toBe('web, diagnosis');
      expect(place(data, 'support.open')).toBe('3');
      expect(place((await ask(port, '/')).data, 'support.title')).toBe('läuft');
    }
  });

  it('has its end button on the socket of the tablet only, which needs no script and no sign-in', async () => {
    await using server = await startServer({ more: { support: standInSupport(runningSupport) } });
    const form = 'method="post" action="/api/wartung/sitzung/ende"';
    expect((await ask(server.full, '/service')).data).toContain(form);
    const { data } = await ask(server.readOnly, '/service');
    expect(data).not.toContain('<form');
    expect(data).toContain('Beenden kann die Fernwartung jeder am Roboter');
  });

  it('is not shown as connected while the proxy has no connection, and no count is shown before one was reported', () => {
    const running = { ...runningSupport.running, state: 'connecting', open: null } as SupportView['running'];
    const { texts } = viewOf({ ...runningSupport, running });
    expect(texts['support.state']).toMatch(/^Der Tunnel ist zurzeit nicht verbunden/);
    expect(texts['support.open']).toBe('noch nicht gemeldet');
  });

  it('is not shown as connected while its proxy reports nothing, as a frozen one', () => {
    const silent = { state: 'not-checked', reportAgeMs: 12_000, open: 3 } as const;
    const { texts } = viewOf({
      ...runningSupport,
      running: { ...runningSupport.running, ...silent } as SupportView['running'],
    });
    expect(texts['support.state']).toMatch(/^Nicht geprüft, .* seit 12\u00a0s nichts gemeldet\.$/);
    expect(texts['support.open']).toBe('3 (vor 12\u00a0s)');
  });

  it('whose time has expired is due now, and no date in the past is given as its end', () => {
    const running = { ...runningSupport.running, leftMs: 0 } as SupportView['running'];
    expect(viewOf({ ...runningSupport, running }).texts['support.until']).toBe(
      'jetzt; die Sitzung wird gerade beendet',
    );
  });

  it('disappears from an open page when it has ended', () => {
    const running = viewOf(runningSupport);
    const ended = viewOf({
      ...waitingSupport,
      lastEnded: { session: 's-7', reason: 'ended-on-site', at: '2026-11-22T19:13:00.000Z', detail: '' },
    });
    expect([running.flags.support, ended.flags.support]).toEqual(['running', 'none']);
    expect(ended.texts['support.title']).toBe('');
    expect(ended.texts['support.ended']).toBe('22.11.2026, 19:13:00 UTC: vor Ort beendet (ended-on-site)');
  });
});

describe('remote support without a session', () => {
  it('waits only while the cloud is connected', () => {
    expect(viewOf(waitingSupport).texts.support).toBe(
      'keine Sitzung; das Gateway wartet auf eine Anfrage aus der Cloud',
    );
    expect(viewOf(waitingSupport, lostView).texts.support).toBe(
      'keine Sitzung; ohne Verbindung zur Cloud kann keine geöffnet werden',
    );
  });

  it('is not configured or not checked in words, with what to do', () => {
    const other = (status: SupportView['status']) =>
      viewOf({ ...waitingSupport, status, detail: 'The state is not known.', remedy: 'Add cloud.tunnel.' }).texts;
    expect(other('not-configured').support).toContain('nicht eingerichtet');
    expect(other('not-configured')['support.detail']).toBe('Add cloud.tunnel.');
    expect(other('not-checked').support).toBe('nicht geprüft');
    expect(other('not-checked')['support.detail']).toBe('Add cloud.tunnel.\nThe state is not known.');
  });

  it('shows the last refusal and the last end by every reason, with a sentence of its own', () => {
    const at = '2026-11-22T19:13:00.000Z';
    const refused = refusalReasons.map(
      (reason) => viewOf({ ...waitingSupport, lastRefused: { reason, at, detail: '' } }).texts['support.refused'],
    );
    expect(new Set(refused).size).toBe(refusalReasons.length);
    const ended = endReasons.map(
      (reason) =>
        viewOf({ ...waitingSupport, lastEnded: { session: 's', reason, at, detail: '' } }).texts['support.ended'],
    );
    expect(new Set(ended).size).toBe(endReasons.length);
    for (const text of [...refused, ...ended]) expect(text).toMatch(/^22\.11\.2026, 19:13:00 UTC: [\wä-üÄ-Ü ]{8,} \(/u);
  });

  it('shows records that fail or were not sent, and never that they are written then', () => {
    const records = (status: 'ok' | 'failing' | 'not-checked', notSentYet: number | null) =>
      viewOf({ ...waitingSupport, records: { status, detail: 'No space left.', notSentYet } }).texts['support.records'];
    expect(records('ok', 0)).toBe('werden geschrieben');
    expect(records('ok', 4)).toBe('werden geschrieben, 4 noch nicht an die Cloud übergeben');
    expect(records('failing', 4)).toBe(
      'GESTÖRT, es kann keine Sitzung beginnen: No space left., 4 noch nicht an die Cloud übergeben',
    );
    expect(records('not-checked', null)).toBe('nicht geprüft');
  });

  it('is named in the headline where sessions cannot be recorded', () => {
    const support = { status: 'waiting', records: 'failing', detail: 'No space left.' } as const;
    const health = standInHealth({ status: 'degraded', support });
    const link = snapshotWith({ kind: 'connected', tried });
    const { texts } = pageView(link, standInMotion().status(), health, { view: connectedView, now }, waitingSupport);
    expect(texts['headline.why']).toContain('Die Fernwartung kann nicht aufgezeichnet werden');
  });
});
