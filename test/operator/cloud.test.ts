import { describe, expect, it } from 'vitest';
import { type CloudView, linkTroubleKinds, type PathCheck } from '../../src/lib/cloud/index.ts';
import type { LinkTrouble } from '../../src/lib/cloud/link/model.ts';
import { noCloud } from '../../src/lib/gateway/cloud.ts';
import { createPathFilter } from '../../src/lib/operator/application.ts';
import { noSupport } from '../../src/lib/operator/index.ts';
import { pageView } from '../../src/lib/operator/pages/view.ts';
import { connectedView, lostView } from '../cloud/views.ts';
import { ask, get, postJson, signIn, startServer } from './server.ts';
import { snapshotWith, standInHealth, standInMotion, tried } from './stand-ins.ts';

const now = new Date('2026-11-22T19:20:00.000Z');

/** The texts of the section 'Cloud'. */
function textsOf(view: CloudView): Readonly<Record<string, string>> {
  const link = snapshotWith({ kind: 'connected', tried });
  return pageView(link, standInMotion().status(), standInHealth(), { view, now }, noSupport).texts;
}

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
    while (!received.includes('event: view')) received += Buffer.from((await reader?.read())?.value ?? []).toString();
    expect(received).not.toContain(secret);
    await reader?.cancel();
  });
});

describe('POST /api/cloud/pruefung', () => {
  const path = '/api/cloud/pruefung';
  const proven: PathCheck = { path: 'fallback', step: null, outcome: { verdict: 'ok', detail: 'CONNACK accepted' } };

  it('proves a path for a signed-in person, and gives the result of the link', async () => {
    const asked: string[] = [];
    await using server = await startServer({
      password: true,
      more: {
        async checkCloudPath(which) {
          asked.push(which);
          return { ...proven, path: which };
        },
      },
    });
    const cookie = await signIn(server.full);
    const { status, data } = await postJson(server.full, path, { path: 'fallback' }, { cookie });
    expect({ status, data }).toEqual({ status: 200, data: JSON.parse(JSON.stringify(proven)) });
    expect(asked).toEqual(['fallback']);
  });

  it('is 401 without a sign-in, 403 on the read-only socket, and moves the link for neither', async () => {
    let asked = 0;
    await using server = await startServer({
      password: true,
      more: {
        async checkCloudPath() {
          asked += 1;
          return proven;
        },
      },
    });
    expect((await postJson(server.full, path, { path: 'direct' })).status).toBe(401);
    expect((await postJson(server.full, path, { path: 'direct' }, { cookie: 'gw=00' })).status).toBe(401);
    const cookie = await signIn(server.full);
    expect((await postJson(server.readOnly, path, { path: 'direct' }, { cookie })).status).toBe(403);
    expect(asked).toBe(0);
  });

  it.each<[string, unknown]>([
    ['no path', {}],
    ['an unknown path', { path: 'both' }],
    ['an unknown field', { path: 'direct', force: true }],
    ['no object', ['direct']],
    ['a number', { path: 1 }],
  ])('is 400 for %s', async (_what, body) => {
    let asked = 0;
    await using server = await startServer({
      password: true,
      more: {
        async checkCloudPath() {
          asked += 1;
          return proven;
        },
      },
    });
    const cookie = await signIn(server.full);
    const { status, data } = await postJson(server.full, path, body, { cookie });
    expect(status).toBe(400);
    expect(data.error.code).toEqual(expect.any(String));
    expect(asked).toBe(0);
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
    let asked = 0;
    await using server = await startServer({
      password: true,
      more: {
        checkCloudPath() {
          asked += 1;
          begun.resolve();
          return asked === 1 ? first.promise : Promise.resolve(proven);
        },
      },
    });
    const cookie = await signIn(server.full);
    const one = postJson(server.full, path, { path: 'fallback' }, { cookie });
    await begun.promise;
    const two = await postJson(server.full, path, { path: 'direct' }, { cookie });
    expect(two.data.error.code).toBe('BUSY');
    expect(asked).toBe(1);
    first.reject(new Error('the gateway ends'));
    expect((await one).status).toBe(500);
    expect((await postJson(server.full, path, { path: 'direct' }, { cookie })).status).toBe(200);
  });
});

describe("the section 'Cloud' of the technician page", () => {
  it('shows path, duration, kept messages with the age of the oldest, discarded ones, stops, release and uploads', () => {
    const texts = textsOf(connectedView);
    expect(texts.cloud).toMatch(/^Verbunden MIT STÖRUNG über Port 443 \(mit ALPN\) seit 11\u00a0h\n/);
    expect(texts.cloud).toContain('Die Namen des Brokers weichen ab: the site file has the broker mqtt');
    expect(texts['cloud.subscriptions']).toBe('alle 1 vom Broker angenommen');
    expect(texts['cloud.failures']).toContain('Port 8883 (direkt), 22.11.2026, 08:19:36 UTC: no answer');
    expect(texts['cloud.ask']).toBe('Allow outgoing TCP to mqtt.example.test port 8883.');
    expect(texts['cloud.outbox']).toContain(
      '7 (Aufzeichnungen 1, Störungen 2, Gerätezustand 0, Telemetrie 4), 1,5 von 256 MB',
    );
    expect(texts['cloud.outbox']).toContain('älteste: vor 10\u00a0h');
    expect(texts['cloud.outbox']).toContain('12 Telemetrie-Nachrichten aus Platzmangel entfernt');
    expect(texts['cloud.discarded']).toContain('retained 2, not-json 1');
    expect(texts['cloud.stop']).toBe('2 empfangen seit dem Start von gw');
    expect(texts['cloud.release']).toContain('1.4.0: ZURÜCKGENOMMEN, die vorige Version läuft');
    expect(texts['cloud.uploads']).toBe('maps/new.tar.gz: wird übertragen 25 %\n1 übertragen');
    expect(texts['cloud.certificate']).toBe('gültig bis 22.11.2027, 00:00:00 UTC');
  });

  it('says so where the clock of the gateway is past the end of the certificate of a running connection', () => {
    const { link } = connectedView;
    const connection = link?.connection;
    if (connection == null || link === null) throw new Error('expected a connection');
    const certificate = { ...connection.certificate, notAfter: '2020-01-01T00:00:00.000Z' };
    const view = { ...connectedView, link: { ...link, connection: { ...connection, certificate } } };
    expect(textsOf(view)['cloud.certificate']).toMatch(/^gültig bis 01\.01\.2020.*: ABGELAUFEN nach der Uhr/);
  });

  it.each(linkTroubleKinds)('shows the trouble %s of a connected link, not only that it is connected', (kind) => {
    const trouble = { kind, detail: 'as the link says', remedy: 'Mend it.', ask: null };
    const { link } = connectedView;
    const view = (troubles: readonly LinkTrouble[]) => ({ ...connectedView, link: link && { ...link, troubles } });
    const texts = textsOf(view([trouble]));
    expect(texts.cloud).toMatch(/^Verbunden MIT STÖRUNG /);
    expect(texts.cloud).toMatch(/\n[A-Z].*: as the link says$/);
    expect(texts['cloud.subscriptions']).toBe(kind === 'qos-0' ? 'as the link says' : 'alle 1 vom Broker angenommen');
    expect(textsOf(view([])).cloud).toMatch(/^Verbunden über Port 443 /);
  });

  it('shows what is reported, and never as nothing what is not known', () => {
    expect(textsOf(connectedView)['cloud.reporting']).toBe(
      [
        'Telemetrie: 96 Nachrichten angenommen, 2 ausgelassen',
        'Störungen: 2 gemeldet (1 vorhanden, 1 nicht geprüft)',
        'Gerätezustand: angenommen (Version 7 is accepted.)',
      ].join('\n'),
    );
    const { reporting } = connectedView;
    if (reporting === null) throw new Error('nothing is reported');
    const failing = textsOf({
      ...connectedView,
      seen: { status: 'failing', detail: 'ENOSPC', remedy: 'Free space.' },
      reporting: {
        telemetry: { ...reporting.telemetry, trouble: 'full' },
        faults: { raised: [], unreported: 3, trouble: 'not read yet' },
        shadow: { ...reporting.shadow, status: 'not-answered', detail: 'Sent.' },
      },
    });
    expect(failing['cloud.reporting']).toBe(
      [
        'Telemetrie: 96 Nachrichten angenommen, 2 ausgelassen, GESTÖRT: full',
        'Störungen: 0 gemeldet, 3 NICHT GEMELDET (zu viele), GESTÖRT: not read yet',
        'Gerätezustand: noch nicht beantwortet (Sent.)',
      ].join('\n'),
    );
    expect(failing['cloud.stop']).toContain('Kennungen NICHT GESPEICHERT: ENOSPC');
    expect(failing['cloud.remedy']).toContain('Free space.');
    expect(textsOf({ ...connectedView, reporting: null })['cloud.reporting']).toBe('nicht geprüft');
  });

  it('shows why messages are held back', () => {
    const { outbox } = connectedView;
    const held = outbox && { ...outbox, detail: '7 messages kept. 1 held back: why.', remedy: 'Check the topics.' };
    const texts = textsOf({ ...connectedView, outbox: held });
    expect(texts['cloud.outbox']).toMatch(/^ACHTUNG: 7 messages kept\. 1 held back: why\.\n7 /);
    expect(texts['cloud.remedy']).toContain('Check the topics.');
  });

  it('says that the link is lost, when it is tried again, and what to do', () => {
    const texts = textsOf(lostView);
    expect(texts.cloud).toMatch(/^NICHT VERBUNDEN, nächster Versuch in 25\u00a0s\n/);
    expect(texts['cloud.failures']?.split('\n')).toHaveLength(2);
    expect(texts['cloud.remedy']).toBe('Check the firewall of the site.');
    expect(texts['cloud.certificate']).toBe('–');
  });

  it('gives no age from a wall clock that was set back', () => {
    const { outbox } = connectedView;
    const texts = textsOf({ ...connectedView, outbox: outbox && { ...outbox, oldestAt: '2027-01-01T00:00:00.000Z' } });
    expect(texts['cloud.outbox']).toContain('älteste: 01.01.2027, 00:00:00 UTC');
    expect(texts['cloud.outbox']).not.toContain('vor');
  });

  it('shows a failing outbox before its numbers, and an outbox that is not open as not checked', () => {
    const { outbox } = connectedView;
    const failing = outbox && { ...outbox, status: 'failing' as const, detail: 'ENOSPC', remedy: 'Free disk space.' };
    const texts = textsOf({ ...connectedView, outbox: failing });
    expect(texts['cloud.outbox']).toMatch(/^NEUE NACHRICHTEN WERDEN ABGELEHNT: ENOSPC\n7 /);
    expect(texts['cloud.remedy']).toBe('Free disk space.');
    const closed = outbox && { ...outbox, status: 'not-open' as const, detail: 'it is being opened', kept: null };
    expect(textsOf({ ...connectedView, outbox: closed })['cloud.outbox']).toBe('nicht geöffnet: it is being opened');
  });

  it('shows parts that do not run as not checked, never as none', () => {
    const off = { link: null, outbox: null, received: null, seen: null, reporting: null, release: null, uploads: [] };
    const texts = textsOf({ ...lostView, ...off, status: 'not-checked' });
    expect(texts.cloud).toMatch(/^Noch nicht geprüft/);
    for (const key of ['subscriptions', 'reporting', 'outbox', 'discarded', 'stop', 'release', 'uploads'])
      expect(texts[`cloud.${key}`]).toBe('nicht geprüft');
  });

  it('says that no cloud is configured, or that the device is not enrolled', () => {
    expect(textsOf(noCloud).cloud).toContain('Keine Cloud');
    expect(textsOf({ ...noCloud, status: 'not-enrolled', detail: 'No identity.' }).cloud).toContain('gw enrol');
  });

  it('escapes what the cloud sends', async () => {
    const { received } = connectedView;
    const bad = { reason: 'misaddressed' as const, topic: '<img src=x onerror=alert(1)>', bytes: 1, at: 'x' };
    const cloud = (): CloudView => ({ ...connectedView, received: received && { ...received, lastDiscarded: [bad] } });
    await using server = await startServer({ more: { cloud } });
    const { data } = await ask(server.full, '/service');
    expect(data).not.toContain('<img');
    expect(data).toContain('&lt;img');
  });
});

describe('the headline', () => {
  const headline = (health: Parameters<typeof standInHealth>[0]) =>
    pageView(
      snapshotWith({ kind: 'connected', tried }),
      standInMotion().status(),
      standInHealth(health),
      { view: lostView, now },
      noSupport,
    ).texts['headline.why'];
  const cloud = { status: 'not-connected', detail: 'x' } as const;

  it('names a lost cloud link once it degrades the gateway, and not before', () => {
    expect(headline({ cloud, status: 'degraded' })).toContain('Keine Verbindung zur Cloud, siehe Seite „Technik“.');
    expect(headline({ cloud })).not.toContain('Cloud');
  });
});
