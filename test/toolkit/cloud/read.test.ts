import { describe, expect, it } from 'vitest';
import { subscribedFilters, topicsOf } from '../../../src/lib/cloud/index.ts';
import type { LinkTrouble, LinkView } from '../../../src/lib/cloud/link/model.ts';
import { endOfIdentity, loadIdentity } from '../../../src/lib/enrolment/index.ts';
import { noCloud } from '../../../src/lib/gateway/cloud.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import type { CertificateHealth } from '../../../src/lib/operator/index.ts';
import { siteSchema } from '../../../src/lib/site/index.ts';
import { createCatalogue } from '../../../src/lib/toolkit/catalogue/catalogue.ts';
import {
  cloudDiscardedSchema,
  cloudLinkSchema,
  cloudOutboxSchema,
  cloudViewSchema,
} from '../../../src/lib/toolkit/cloud/cloud.result.ts';
import { readCloudDiscarded } from '../../../src/lib/toolkit/cloud/discarded.ts';
import { checkCloudLink } from '../../../src/lib/toolkit/cloud/link.ts';
import { judgeOutbox, readCloudOutbox } from '../../../src/lib/toolkit/cloud/outbox.ts';
import { judgeCloud, readCloudStatus } from '../../../src/lib/toolkit/cloud/status.ts';
import type { Toolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { connectedView, lostView } from '../../cloud/views.ts';
import { startWorld } from '../../enrolment/world.ts';
import { standInHealth } from '../../operator/stand-ins.ts';
import { has } from '../kit.ts';
import { context, forwardingOnly, startFakeOperator } from '../operator/fake-operator.ts';

/** A gateway whose operator server answers with these views in turn, the last one for all further requests. */
async function gatewayWith(...views: readonly object[]) {
  const health: { certificate?: CertificateHealth | undefined } = standInHealth();
  const operator = await startFakeOperator();
  let asked = 0;
  operator.override = ({ url }) => {
    if (url === '/api/health') return [200, health];
    if (url !== '/api/cloud') return undefined;
    asked += 1;
    return [200, views[Math.min(asked, views.length) - 1] ?? {}];
  };
  const file = siteSchema.parse({
    name: 'Test',
    chassis: { host: '127.0.0.1', serial: 'SN0007' },
    operator: { port: operator.toolkit.site.operator.port },
    cloud: { mqtt: { host: 'mqtt.example.test', alpn: 'x-example-mqtt-ca' } },
  });
  const site = { ...file, path: '/nowhere/site.yaml', dir: '/nowhere' };
  return {
    ...{ operator, health },
    toolkit: { ...operator.toolkit, site } as Toolkit,
    [Symbol.asyncDispose]: () => operator[Symbol.asyncDispose](),
  };
}

const findings = ({ findings: all }: { findings: readonly { id: string; verdict: string }[] }) =>
  Object.fromEntries(all.map(({ id, verdict }) => [id, verdict]));

describe('the state of the cloud as the gateway reports it', () => {
  it.each<[string, object]>([
    ['connected', connectedView],
    ['lost', lostView],
    ['without a cloud', noCloud],
  ])('is read whole: %s', async (_what, view) => {
    await using gateway = await gatewayWith(view);
    const { cloud: _, ...withoutCloud } = gateway.toolkit.site;
    const status = await readCloudStatus({ ...gateway.toolkit, site: withoutCloud }, {}, context());
    expect(status).toEqual(JSON.parse(JSON.stringify(view)));
    expect(cloudViewSchema.parse(status)).toEqual(status);
  });

  it('is ok only when it is connected, and does not concern a gateway without a cloud', () => {
    const states = ['connected', 'not-connected', 'not-enrolled', 'not-configured', 'not-checked'] as const;
    expect(states.map((status) => judgeCloud({ status, remedy: null }))).toEqual([
      'ok',
      'wrong',
      'wrong',
      'not-applicable',
      'not-checked',
    ]);
  });

  it('is not fine for a gateway that was started before the site file got its cloud', async () => {
    await using gateway = await gatewayWith(noCloud);
    const status = await readCloudStatus(gateway.toolkit, {}, context());
    expect(status.remedy).toContain('restart `gw serve`');
    expect(judgeCloud(status)).toBe('wrong');
    expect(judgeOutbox(await readCloudOutbox(gateway.toolkit, {}, context()))).toBe('wrong');
  });

  it('is OPERATOR_NOT_REACHABLE for an answer of another shape, and without a gateway', async () => {
    await using gateway = await gatewayWith({ ...connectedView, status: 'perfect' });
    await expect(readCloudStatus(gateway.toolkit, {}, context())).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
    });
    await gateway.operator[Symbol.asyncDispose]();
    await expect(readCloudStatus(gateway.toolkit, {}, context())).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
    });
  });
});

describe('the outbox of the gateway', () => {
  it('is not missed without a cloud', () => {
    const link = { status: 'not-configured', detail: '', remedy: null } as const;
    expect(judgeOutbox({ link, outbox: null })).toBe('not-applicable');
    expect(judgeOutbox({ link: { ...link, status: 'not-checked' }, outbox: null })).toBe('not-checked');
  });

  it('is reported with the state of the link', async () => {
    await using gateway = await gatewayWith(lostView);
    const data = await readCloudOutbox(gateway.toolkit, {}, context());
    expect(cloudOutboxSchema.parse(data)).toEqual({
      link: { status: 'not-connected', detail: lostView.detail, remedy: lostView.remedy },
      outbox: lostView.outbox,
    });
    expect(judgeOutbox(data)).toBe('ok');
  });

  it.each<[string, object]>([
    ['refuses messages', { outbox: connectedView.outbox && { ...connectedView.outbox, status: 'failing' } }],
    ['is not open', { outbox: connectedView.outbox && { ...connectedView.outbox, status: 'not-open', kept: null } }],
    ['holds a message back', { outbox: connectedView.outbox && { ...connectedView.outbox, remedy: 'Check.' } }],
    ['is missing although a cloud is configured', { outbox: null }],
  ])('that %s is wrong', async (_what, change) => {
    await using gateway = await gatewayWith({ ...connectedView, ...change });
    expect(judgeOutbox(await readCloudOutbox(gateway.toolkit, {}, context()))).toBe('wrong');
  });
});

describe('discarded messages', () => {
  it('are counted by reason, with the last ones and what was accepted', async () => {
    await using gateway = await gatewayWith(connectedView);
    const data = cloudDiscardedSchema.parse(await readCloudDiscarded(gateway.toolkit, {}, context()));
    expect(data).toMatchObject({ total: 3, accepted: { stops: 2, releases: 1 }, byReason: { retained: 2, late: 0 } });
    expect(data.last[0]).toEqual(connectedView.received?.lastDiscarded[0]);
  });

  it('are unknown, not none, where nothing was received', async () => {
    await using gateway = await gatewayWith({ ...lostView, received: null });
    const data = cloudDiscardedSchema.parse(await readCloudDiscarded(gateway.toolkit, {}, context()));
    expect(data).toMatchObject({ total: null, byReason: null, accepted: null });
  });
});

describe("the check 'cloud link'", () => {
  const templates = siteSchema.shape.cloud.unwrap().shape.topics.parse({});
  const filters = subscribedFilters(topicsOf(templates, 'SN0007'));
  const linkWith = (subscribed: readonly string[]) => {
    const { link } = connectedView;
    const connection = link?.connection ? { ...link.connection, filters: subscribed } : null;
    return { ...connectedView, link: link && { ...link, connection, hostDifference: null, troubles: [] } };
  };
  const sound = linkWith(filters);

  it.each([
    ['one is missing', filters.slice(1), 'gw/SN0007/stop is missing'],
    ['one is of another site file', [...filters, 'other/SN0007/stop'], 'other/SN0007/stop is not of it'],
  ])('is wrong when of the subscriptions %s', async (_what, subscribed, text) => {
    await using gateway = await gatewayWith(linkWith(subscribed));
    const data = await checkCloudLink(gateway.toolkit, { withinMs: 0 }, context());
    expect(data.verdict).toBe('wrong');
    expect(data.findings.find(({ id }) => id === 'subscriptions')).toMatchObject({
      verdict: 'wrong',
      detail: has(text),
    });
  });

  it('is ok for a connected gateway with everything looked at', async () => {
    await using gateway = await gatewayWith(sound);
    const toolkit = { ...gateway.toolkit, ssh: forwardingOnly };
    const data = cloudLinkSchema.parse(await checkCloudLink(toolkit, { withinMs: 0 }, context()));
    expect(data.verdict).toBe('ok');
    expect(new Set(Object.values(findings(data)))).toEqual(new Set(['ok']));
  });

  it('is not checked for a connected gateway whose certificate could not be compared, and names path and subscriptions', async () => {
    await using gateway = await gatewayWith(sound);
    const data = cloudLinkSchema.parse(await checkCloudLink(gateway.toolkit, { withinMs: 0 }, context()));
    expect(data).toMatchObject({
      verdict: 'not-checked',
      path: 'fallback',
      host: 'mqtt.example.test',
      port: 443,
      tls: 'TLSv1.3',
    });
    expect(findings(data)).toEqual({
      connected: 'ok',
      path: 'ok',
      subscriptions: 'ok',
      host: 'ok',
      // No enrolment in the site file.
      certificate: 'not-checked',
      outbox: 'ok',
    });
    const path = data.findings.find(({ id }) => id === 'path');
    expect(path?.detail).toContain('port 8883: no answer');
  });

  it('waits for the connection', async () => {
    await using gateway = await gatewayWith({ ...lostView, status: 'not-checked' }, lostView, lostView, sound);
    const data = await checkCloudLink(gateway.toolkit, { withinMs: 60_000 }, context());
    expect(data).toMatchObject({ verdict: 'not-checked', status: 'connected' });
  });

  it('waits while the link changes to the installed certificate', async () => {
    const renewing = {
      ...sound,
      link: sound.link && {
        ...sound.link,
        installed: { fingerprintSha256: 'cd'.repeat(32), notAfter: '2028-11-22T00:00:00.000Z' },
      },
    };
    await using gateway = await gatewayWith(renewing, renewing, sound);
    const said: string[] = [];
    const data = await checkCloudLink(
      { ...gateway.toolkit, ssh: forwardingOnly },
      { withinMs: 60_000 },
      { ...context(), onProgress: (text) => said.push(text) },
    );
    expect(said).toContain('The link changes to the installed certificate.');
    expect(data.verdict).toBe('ok');
    expect(findings(data).certificate).toBe('ok');
  });

  it('leaves out what a gateway of a later version says in addition', async () => {
    const later = { ...sound, ofLater: 1, link: { ...sound.link, ofLater: { deep: true } } };
    await using gateway = await gatewayWith(later);
    const data = await checkCloudLink(gateway.toolkit, { withinMs: 0 }, context());
    expect(data).toMatchObject({ verdict: 'not-checked', status: 'connected' });
    await using other = await gatewayWith({ ...later, outbox: 'none' } as never);
    await expect(checkCloudLink(other.toolkit, { withinMs: 0 }, context())).rejects.toMatchObject({
      code: 'OPERATOR_NOT_REACHABLE',
    });
  });

  it('is wrong after the wait, and checks nothing that needs a connection', async () => {
    await using gateway = await gatewayWith(lostView);
    const data = cloudLinkSchema.parse(await checkCloudLink(gateway.toolkit, { withinMs: 1_000 }, context()));
    expect(data).toMatchObject({ verdict: 'wrong', path: null, host: null });
    expect(data.waitedMs).toBeGreaterThanOrEqual(1_000);
    expect(findings(data)).toMatchObject({
      connected: 'wrong',
      path: 'not-checked',
      subscriptions: 'not-checked',
      host: 'not-checked',
      certificate: 'not-checked',
    });
  });

  it.each<[string, object, string, string]>([
    ['not checked yet', { status: 'not-checked', link: lostView.link }, 'connected', 'not-checked'],
    ['without an identity', { status: 'not-enrolled', link: null, outbox: null }, 'connected', 'wrong'],
    ['not configured', { status: 'not-configured', link: null, outbox: null }, 'connected', 'wrong'],
  ])('is not ok for a gateway that is %s', async (_what, change, id, verdict) => {
    await using gateway = await gatewayWith({ ...sound, ...change });
    const data = await checkCloudLink(gateway.toolkit, { withinMs: 0 }, context());
    expect(data.verdict).toBe(verdict);
    expect(findings(data)[id]).toBe(verdict);
  });

  it('is wrong where the enrolment gave another broker, the certificate has expired, or the outbox fails', async () => {
    const { connection } = sound.link ?? {};
    const { outbox } = sound;
    if (!sound.link || !connection || !outbox) throw new Error('no connection');
    const expired = { ...connection.certificate, notAfter: '2020-01-01T00:00:00.000Z' };
    await using gateway = await gatewayWith({
      ...connectedView,
      link: { ...connectedView.link, connection: { ...connection, certificate: expired } },
      outbox: { ...outbox, status: 'failing', detail: 'ENOSPC', remedy: 'Free disk space.' },
    });
    const data = await checkCloudLink(gateway.toolkit, { withinMs: 0 }, context());
    expect(findings(data)).toMatchObject({ host: 'wrong', certificate: 'wrong', outbox: 'wrong', connected: 'ok' });
    expect(data.verdict).toBe('wrong');
  });

  it.each<[LinkTrouble['kind'], string]>([
    ['stop-not-saved', 'connected'],
    ['no-puback', 'connected'],
    ['qos-0', 'subscriptions'],
    ['renewal-failed', 'certificate'],
    ['identity-broken', 'certificate'],
    ['broker-ca-ending', 'certificate'],
    ['host-difference', 'host'],
    ['region-difference', 'host'],
  ])('is wrong for a connected link with the trouble %s, in its finding %s', async (kind, id) => {
    const trouble = { kind, detail: 'as the link says', remedy: 'Do this.', ask: null };
    await using gateway = await gatewayWith({ ...sound, link: sound.link && { ...sound.link, troubles: [trouble] } });
    // Over SSH the certificate cannot be compared; what the link itself says is known all the same.
    const toolkit = { ...gateway.toolkit, ssh: forwardingOnly };
    const data = await checkCloudLink(toolkit, { withinMs: 0 }, context());
    expect(data.verdict).toBe('wrong');
    expect(data.findings.filter(({ verdict }) => verdict === 'wrong')).toMatchObject([
      { id, detail: has('as the link says'), remedy: 'Do this.' },
    ]);
  });

  it('is wrong for an outbox that is open and has something that a person must do', async () => {
    const { outbox } = sound;
    const held = outbox && { ...outbox, detail: '7 messages kept. 1 held back.', remedy: 'Check the topics.' };
    await using gateway = await gatewayWith({ ...sound, outbox: held });
    const data = await checkCloudLink(gateway.toolkit, { withinMs: 0 }, context());
    expect(data.findings.find(({ id }) => id === 'outbox')).toMatchObject({
      verdict: 'wrong',
      detail: '7 messages kept. 1 held back.',
      remedy: 'Check the topics.',
    });
  });

  it('compares the certificate of the link with the installed one, over SSH with what its gateway read', async () => {
    await using world = await startWorld();
    const { identityDir } = world;
    const verdictWith = async (
      fingerprintSha256: string,
      over: Partial<Toolkit> = {},
      seen: LinkView['installed'] = null,
      reported?: CertificateHealth,
    ) => {
      const { connection } = sound.link ?? {};
      if (!sound.link || !connection) throw new Error('no connection');
      const notAfter = '2099-01-01T00:00:00.000Z';
      const link = {
        ...{ ...sound.link, installed: seen },
        connection: { ...connection, certificate: { fingerprintSha256, notAfter } },
      };
      await using gateway = await gatewayWith({ ...sound, link });
      if (reported !== undefined) gateway.health.certificate = reported;
      const enrolment = { url: 'https://enrol.example.test', identityDir };
      const toolkit = { ...gateway.toolkit, site: { ...gateway.toolkit.site, enrolment }, ...over };
      return findings(await checkCloudLink(toolkit, { withinMs: 0 }, context())).certificate;
    };
    expect(await verdictWith('ab'.repeat(32))).toBe('wrong');
    await world.enrol();
    const installed = (await loadIdentity(identityDir))?.certificate.fingerprintSha256 ?? '';
    expect(await verdictWith(installed)).toBe('ok');
    expect(await verdictWith(installed.replaceAll(':', '').toLowerCase())).toBe('ok');
    // Renewed, and the link still uses the certificate before.
    expect(await verdictWith('ab'.repeat(32))).toBe('wrong');
    // What ends first is of the installed identity: it may be a CA above the certificate that the link names.
    const identity = await loadIdentity(identityDir);
    if (identity === null) throw new Error('not enrolled');
    const endMs = Date.parse(endOfIdentity(identity, new Date()).notAfter);
    const daysBefore = (days: number) => ({
      clock: { ...systemClock, wall: () => new Date(endMs - days * 86_400_000) },
    });
    expect(await verdictWith(installed, daysBefore(40))).toBe('ok');
    expect(await verdictWith(installed, daysBefore(20))).toBe('wrong');
    const overSsh = { ssh: forwardingOnly };
    const seen = (fingerprintSha256: string) => ({ fingerprintSha256, notAfter: '2099-01-01T00:00:00.000Z' });
    expect(await verdictWith(installed, overSsh)).toBe('not-checked');
    // The files of this laptop say nothing about the gateway.
    expect(await verdictWith('ab'.repeat(32), overSsh, seen('ab'.repeat(32)))).toBe('ok');
    expect(await verdictWith(installed, overSsh, seen('ab'.repeat(32)))).toBe('wrong');
    const known = { withinDays: 14, daysLeft: 9, notAfter: '2026-12-09T00:00:00.000Z', remedy: null } as const;
    const ending = { ...known, status: 'ending', detail: "The CA certificate 'CA' above it ends." } as const;
    expect(await verdictWith(installed, overSsh, seen(installed), ending)).toBe('wrong');
  });

  it('is offered to checklists', () => {
    const entry = createCatalogue()['cloud link'];
    expect(entry?.moves).toBe(false);
    expect(entry?.with.parse({})).toEqual({ withinMs: 60_000 });
  });
});
