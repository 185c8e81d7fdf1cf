import { beforeEach, describe, expect, it } from 'vitest';
import { type CloudView, linkTroubleKinds, type PathCheck } from '../../src/lib/cloud/index.ts';
import type { LinkTrouble } from '../../src/lib/cloud/link/model.ts';
import { noCloud } from '../../src/lib/gateway/cloud.ts';
import { createPathFilter } from '../../src/lib/operator/http/path-filter.ts';
import { cloudLamp, outboxLamp, releaseLamp } from '../../src/lib/operator/view/cloud-lamps.ts';
import type { Cell, LabelCode, Lamp } from '../../src/lib/pages/index.ts';
import { cellText, textsOf } from '../../src/lib/pages/texts/catalogue.ts';
import { connectedView, lostView } from '../cloud/views.ts';
import { ask, get, postJson, signIn, startServer } from './server.ts';
import { sharedServer } from './shared-server.ts';

const now = new Date('2026-11-22T19:20:00.000Z');

describe('GET /api/cloud', () => {
  it('answers with the view on the full socket without a sign-in, and is closed on the read-only socket', async () => {
    await using server = await startServer({ password: true, more: { cloud: () => connectedView } });
    const { status, data } = await ask(server.full, '/api/cloud');
    expect(status).toBe(200);
    // Absolute paths only with a sign-in.
    expect(data).toEqual(createPathFilter(server.site)(JSON.parse(JSON.stringify(connectedView))));
    const cookie = await signIn(server.full);
    expect((await ask(server.full, '/api/cloud', { headers: { cookie } })).data).toEqual(
      JSON.parse(JSON.stringify(connectedView)),
    );
    expect((await get(server.readOnly, '/api/cloud')).status).toBe(403);
    expect((await get(server.full, '/api/cloud', 'POST', ['Content-Length: 0'])).status).toBe(404);
  });

  it('shows no query of a URL, in no text of the view, also on the page and in the live events', async () => {
    const secret = 'c0ffee5ec2e7';
    const text = `failed: https://storage.example.test/a?X-Signature=${secret}#${secret} (403)`;
    const [upload] = connectedView.uploads;
    if (upload === undefined) throw new Error('no upload');
    const cloud = (): CloudView => ({
      ...lostView,
      detail: text,
      uploads: [{ ...upload, state: 'refused', detail: text }],
    });
    await using server = await startServer({ more: { cloud } });
    const { data } = await ask(server.full, '/api/cloud');
    expect(data.uploads[0].detail).toBe('failed: https://storage.example.test/a (403)');
    expect(JSON.stringify(data)).not.toContain(secret);
    const { data: page } = await ask(server.full, '/service');
    expect(page).toContain('https://storage.example.test/a (403)');
    expect(page).not.toContain(secret);
    const events = await fetch(`http://127.0.0.1:${server.full}/api/events`);
    const reader = events.body?.getReader();
    let received = '';
    while (!received.includes('event: state')) received += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(received).not.toContain(secret);
    await reader?.cancel();
  });
});

describe('POST /api/cloud/pruefung', async () => {
  const path = '/api/cloud/pruefung';
  const proven: PathCheck = { path: 'fallback', step: null, outcome: { verdict: 'ok', detail: 'CONNACK accepted' } };
  const asked: string[] = [];
  let check = async (which: PathCheck['path']): Promise<PathCheck> => ({ ...proven, path: which });
  const checkCloudPath = (which: PathCheck['path']) => {
    asked.push(which);
    return check(which);
  };
  const server = await sharedServer({ password: true, more: { checkCloudPath } });
  const cookie = await signIn(server.full);
  beforeEach(() => {
    asked.length = 0;
  });

  it('proves a path for a signed-in person, and gives the result of the link', async () => {
    const { status, data } = await postJson(server.full, path, { path: 'fallback' }, { cookie });
    expect({ status, data }).toEqual({ status: 200, data: JSON.parse(JSON.stringify(proven)) });
    expect(asked).toEqual(['fallback']);
  });

  it('is 401 without a sign-in, 403 on the read-only socket, and moves the link for neither', async () => {
    expect((await postJson(server.full, path, { path: 'direct' })).status).toBe(401);
    expect((await postJson(server.full, path, { path: 'direct' }, { cookie: 'gw=00' })).status).toBe(401);
    expect((await postJson(server.readOnly, path, { path: 'direct' }, { cookie })).status).toBe(403);
    expect(asked).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['no path', {}],
    ['an unknown path', { path: 'both' }],
    ['an unknown field', { path: 'direct', force: true }],
    ['no object', ['direct']],
    ['a number', { path: 1 }],
  ])('is 400 for %s', async (_what, body) => {
    const { status, data } = await postJson(server.full, path, body, { cookie });
    expect([status, typeof data.error.code, asked]).toEqual([400, 'string', []]);
  });

  it('says that no cloud is configured', async () => {
    await using server = await startServer({ password: true });
    const cookie = await signIn(server.full);
    const { status, data } = await postJson(server.full, path, { path: 'direct' }, { cookie });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(data.error).toMatchObject({ code: 'NOT_CONFIGURED', message: 'No cloud is configured.' });
  });

  it('checks one path at a time, and the next one also after a failure', async () => {
    const begun = Promise.withResolvers<void>();
    const first = Promise.withResolvers<PathCheck>();
    check = () => {
      begun.resolve();
      return asked.length === 1 ? first.promise : Promise.resolve(proven);
    };
    const of = (which: string) => postJson(server.full, path, { path: which }, { cookie });
    const one = of('fallback');
    await begun.promise;
    expect((await of('direct')).data.error.code).toBe('BUSY');
    expect(asked).toHaveLength(1);
    first.reject(new Error('the gateway ends'));
    expect((await one).status).toBe(500);
    expect((await of('direct')).status).toBe(200);
  });
});

/** The lamps of the cloud, as a technician reads them in German. */
function readLamps(view: CloudView) {
  const { t, f } = textsOf('de', 'UTC');
  const read = (cells: readonly Cell[]) =>
    cells.map((cell) => ('technical' in cell ? cell.technical : cellText(cell, t, f))).join(' ');
  const of = ({ level, state, rows }: Lamp) => ({
    level,
    state: read(state),
    rows: rows.map(({ label, cells }) => `${t.labels[label as LabelCode]}: ${read(cells)}`),
  });
  const about = { view, now };
  return { cloud: of(cloudLamp(about)), outbox: of(outboxLamp(about)), release: of(releaseLamp(about)) };
}

describe('the cloud on the technician page', () => {
  it('shows path, duration, kept messages with the age of the oldest, discarded ones, stops, release and uploads', () => {
    const { cloud, outbox, release } = readLamps(connectedView);
    expect(cloud.state).toBe('verbunden mit ALPN über 443 seit 11\u00a0h');
    expect(cloud.rows).toEqual(
      expect.arrayContaining([
        expect.stringContaining('Letzter Fehler: the site file has the broker mqtt'),
        'Abonnements: 1 angenommen',
        expect.stringMatching(/^Zuletzt fehlgeschlagen: 8883 direkt 22\.11\.2026, 08:19:36 no answer/),
        'An die IT des Kunden: Allow outgoing TCP to mqtt.example.test port 8883.',
        'Verworfene Nachrichten: 2 × retained 1 × not-json',
        'Stopp aus der Cloud: 2',
        'Archive für die Cloud: maps/new.tar.gz wird übertragen 25 %',
        'Archive für die Cloud: 1 übertragen',
        'Zertifikat gültig bis: 22.11.2027, 00:00:00',
        'Telemetrie: 96 angenommen',
        'Telemetrie: 2 ausgelassen',
        'Störungen: 2 gemeldet',
        'Gerätezustand: angenommen Version 7 is accepted.',
      ]),
    );
    expect(outbox.rows).toEqual(
      expect.arrayContaining([
        'Ungesendete Nachrichten: 4 Telemetrie',
        'Größe: 1,5 MB 256 MB',
        expect.stringMatching(/^Älteste: .* 10\u00a0h$/),
        'Telemetrie, aus Platzmangel entfernt: 12',
      ]),
    );
    expect(release.level).toBe('attention');
    expect(release.rows.join()).toContain('1.4.0 ZURÜCKGENOMMEN, die vorige Version läuft');
  });

  it('says so where the clock of the gateway is past the end of the certificate of a running connection', () => {
    const { link } = connectedView;
    const connection = link?.connection;
    if (connection == null || link === null) throw new Error('expected a connection');
    const certificate = { ...connection.certificate, notAfter: '2020-01-01T00:00:00.000Z' };
    const view = { ...connectedView, link: { ...link, connection: { ...connection, certificate } } };
    expect(readLamps(view).cloud.rows.join()).toMatch(/01\.01\.2020.* ABGELAUFEN nach der Uhr/);
  });

  it.each(linkTroubleKinds)('is not green with the trouble %s of a connected link, and names it', (kind) => {
    const trouble = { kind, detail: 'as the link says', remedy: 'Mend it.', ask: null };
    const { link } = connectedView;
    const view = (troubles: readonly LinkTrouble[]) => ({ ...connectedView, link: link && { ...link, troubles } });
    const { cloud } = readLamps(view([trouble]));
    expect(cloud.level).toBe('attention');
    expect(cloud.rows).toContain('Letzter Fehler: as the link says');
    expect(readLamps(view([])).cloud.level).toBe('good');
  });

  it('is not green with faults or reports that do not reach the cloud, nor with ids that are not saved', () => {
    const { reporting, link } = connectedView;
    if (reporting === null) throw new Error('nothing is reported');
    const sound = { ...connectedView, link: link && { ...link, troubles: [] } };
    const level = (change: Partial<CloudView>) => readLamps({ ...sound, ...change }).cloud.level;
    expect(level({})).toBe('good');
    const { telemetry, faults, shadow } = reporting;
    for (const change of [
      { telemetry: { ...telemetry, trouble: 'full' } },
      { faults: { ...faults, unreported: 3 } },
      { shadow: { ...shadow, status: 'rejected' as const } },
    ])
      expect(level({ reporting: { ...reporting, ...change } })).toBe('attention');
    const failing = readLamps({ ...sound, seen: { status: 'failing', detail: 'ENOSPC', remedy: 'Free space.' } }).cloud;
    expect(failing.level).toBe('attention');
    expect(failing.rows).toEqual(expect.arrayContaining(['Stopp aus der Cloud: 2 ENOSPC', 'Abhilfe: Free space.']));
  });

  it('shows how many stops had the content of an earlier one', () => {
    const { received } = connectedView;
    const { rows } = readLamps({
      ...connectedView,
      received: received && { ...received, stopsOfKnownContent: 1 },
    }).cloud;
    expect(rows).toContain('Stopp aus der Cloud: 2 1 of them with the content of an earlier stop');
  });

  it('says that the link is lost, when it is tried again, and what to do', () => {
    const { cloud } = readLamps(lostView);
    expect([cloud.level, cloud.state]).toEqual(['bad', 'nicht verbunden nächster Versuch in 25\u00a0s']);
    expect(cloud.rows.filter((row) => row.startsWith('Zuletzt fehlgeschlagen'))).toHaveLength(2);
    expect(cloud.rows).toContain('Abhilfe: Check the firewall of the site.');
  });

  it('gives no age from a wall clock that was set back', () => {
    const { outbox } = connectedView;
    const view = { ...connectedView, outbox: outbox && { ...outbox, oldestAt: '2027-01-01T00:00:00.000Z' } };
    expect(readLamps(view).outbox.rows).toContain('Älteste: 01.01.2027, 00:00:00');
  });

  it('shows parts that do not run as not checked, never as none', () => {
    const off = { link: null, outbox: null, received: null, seen: null, reporting: null, release: null, uploads: [] };
    const { cloud, outbox, release } = readLamps({ ...lostView, ...off, status: 'not-checked' });
    expect([cloud.level, outbox.level, release.level]).toEqual(Array(3).fill('unknown'));
    expect(cloud.rows.filter((row) => row.startsWith('Verworfene') || row.startsWith('Stopp'))).toEqual([
      'Stopp aus der Cloud: nicht geprüft',
      'Verworfene Nachrichten: nicht geprüft',
    ]);
  });

  it('says that no cloud is configured, or that the device is not enrolled', () => {
    expect(readLamps(noCloud).cloud).toMatchObject({ level: 'off', state: 'nicht eingerichtet' });
    expect(readLamps({ ...noCloud, status: 'not-enrolled' }).cloud.state).toContain('gw enrol');
  });
});
