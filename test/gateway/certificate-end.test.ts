import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { END_WARNING_DAYS, judgeEnd, loadIdentity, periodsOf } from '../../src/lib/enrolment/index.ts';
import { watchCertificate } from '../../src/lib/gateway/certificate-watch.ts';
import { noCloud } from '../../src/lib/gateway/cloud.ts';
import { faultsOf } from '../../src/lib/gateway/cloud-state/index.ts';
import { gatewayHealth } from '../../src/lib/gateway/gateway.ts';
import { notListening } from '../../src/lib/gateway/neighbours.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { metricsOf } from '../../src/lib/operator/metrics/metrics.ts';
import { noSupport } from '../../src/lib/operator/support-handlers.ts';
import { cloudLamp } from '../../src/lib/operator/view/cloud-lamps.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { loadSite } from '../../src/lib/site/index.ts';
import { fileLines } from '../../src/lib/toolkit/doctor/files.ts';
import { readEnrolStatus } from '../../src/lib/toolkit/enrol/status.ts';
import { readKnownIdentity } from '../../src/lib/toolkit/network/check/identity.ts';
import { identityLine } from '../../src/lib/toolkit/network/check/plans.ts';
import { checkSite } from '../../src/lib/toolkit/site/check.ts';
import { connectedView } from '../cloud/views.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';
import { until } from '../waiting.ts';
import { chassisAfter, inOrder, motion, health as sourceHealth } from './cloud-state/sources.ts';
import { partsWith } from './health-parts.ts';
import { startRenewalWorld } from './renewal-world.ts';

const DAY_MS = 86_400_000;
const END_MS = Date.UTC(2027, 5, 1);
const period = { notBefore: new Date(END_MS - 365 * DAY_MS), notAfter: new Date(END_MS) };
const authority = await createCa({ notBefore: new Date(0), notAfter: new Date('2049-01-01') });
const { keyPem, certificatePem } = await authority.issueClientPair('SN1', period);
const installed = { certificatePem, caPem: authority.caPem };
const at = (daysLeft: number) => new Date(END_MS - daysLeft * DAY_MS);

const dir = mkdtempSync(join(tmpdir(), 'gw-end-'));
const sitePath = join(dir, 'site.yaml');
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeAll(async () => {
  await mkdir(join(dir, 'identity'), { mode: 0o700 });
  const identity = {
    ...{ format: 'gw/identity/1', serial: 'SN1', endpoint: '127.0.0.1', region: 'eu-central-1' },
    ...{ enrolledAt: period.notBefore.toISOString(), keyPem, certificatePem, caPem: authority.caPem },
  };
  writeFileSync(join(dir, 'identity', 'identity.json'), JSON.stringify(identity), { mode: 0o600 });
  writeFileSync(
    sitePath,
    'name: x\nchassis: { host: 127.0.0.1, port: 1, serial: SN1 }\nenrolment: { url: https://127.0.0.1:1 }\ncloud: { mqtt: { host: 127.0.0.1, alpn: x } }\n',
  );
});

/** Days before the end, what each place then says: status, lamp, key of the fault; green only before the first threshold. */
const rows = [
  [40, 'ok', 'good', null],
  [30.001, 'ok', 'good', null],
  [30, 'ending', 'attention', 'certificate.ends-within-30-days'],
  [14.001, 'ending', 'attention', 'certificate.ends-within-30-days'],
  [14, 'ending', 'attention', 'certificate.ends-within-14-days'],
  [9, 'ending', 'attention', 'certificate.ends-within-14-days'],
  [7, 'ending', 'attention', 'certificate.ends-within-7-days'],
  [1, 'ending-now', 'bad', 'certificate.ends-within-1-days'],
  [0, 'ending-now', 'bad', 'certificate.ends-within-1-days'],
  [-0.001, 'expired', 'bad', 'certificate.expired'],
  [-400, 'expired', 'bad', 'certificate.expired'],
] as const;

describe('the end of the device certificate', () => {
  it.each(rows)(
    '%d days before it: %s on the gateway, its pages, its metrics and in the cloud',
    async (days, status, level, key) => {
      const clock = createFakeClock({ wall: at(days) });
      using watch = watchCertificate({ isConfigured: true, read: async () => installed, clock, log: silentLog });
      const certificate = await until(watch.view, (view) => view.status !== 'not-checked');
      expect(certificate).toMatchObject({ status, daysLeft: Math.floor(days) });
      const health = gatewayHealth(partsWith({ certificate }));
      expect(health.status).toBe(status === 'ok' ? 'ok' : 'degraded');

      const lamp = cloudLamp({ view: connectedView, now: at(days) }, certificate);
      // The lamp of a connection with other hints is not good without it either.
      expect(lamp.level).toBe(level === 'good' ? cloudLamp({ view: connectedView, now: at(days) }).level : level);
      expect(JSON.stringify(lamp.rows).includes('gw enrol --renew')).toBe(status !== 'ok');

      const snapshot = chassisAfter(...inOrder).snapshot();
      const faults = faultsOf({ snapshot, motion: motion(), health: sourceHealth({ certificate }) }).present;
      expect(faults.map((fault) => fault.key)).toEqual(key === null ? [] : [key]);

      const metrics = metricsOf({
        ...{ health, snapshot, motion: motion(), cloud: noCloud, support: noSupport, neighbours: notListening },
        ...{ followers: [], now: at(days) },
        process: { nodeVersion: '24.0.0', residentBytes: 1, cpuSeconds: 1, busySeconds: 1 },
      });
      const end = metrics.find(({ name }) => name === 'gw_certificate_end_seconds')?.samples[0]?.value;
      expect(end).toBeCloseTo((days * DAY_MS) / 1_000, 0);
    },
  );

  it.each(rows)('%d days before it: %s in every command', async (days, status) => {
    const clock = createFakeClock({ wall: at(days) });
    const verdict = status === 'ok' ? 'ok' : 'wrong';
    const site = await loadSite(sitePath);
    const validity = (await readEnrolStatus({ site, clock })).findings.find(({ id }) => id === 'validity');
    expect(validity?.verdict).toBe(verdict);
    const checked = (await checkSite(sitePath, clock)).findings.find(({ id }) => id === 'identity');
    expect(checked?.verdict).toBe(verdict);
    expect(identityLine(site, await readKnownIdentity(site), at(days))[0]?.verdict).toBe(verdict);
    const doctor = await fileLines(sitePath, { site, error: null }, clock);
    expect(doctor.find(({ id }) => id === 'identity')?.verdict).toBe(verdict);
  });

  it('is watched while the clock moves through its last 40 days, each threshold once in the log', async () => {
    const clock = createFakeClock({ wall: at(40) });
    const logged: unknown[] = [];
    const log = {
      ...silentLog,
      warn: (fields: object) => void logged.push((fields as { withinDays: unknown }).withinDays),
    };
    using watch = watchCertificate({ isConfigured: true, read: async () => installed, clock, log });
    await until(watch.view, (view) => view.status === 'ok');
    for (let hours = 0; hours < 42 * 24; hours += 6) {
      clock.setWall(new Date(at(40).getTime() + hours * 3_600_000));
      await clock.advance(10_000);
    }
    await until(
      () => watch.view().status,
      (status) => status === 'expired',
    );
    await until(
      () => logged.length,
      (count) => count === 5,
    );
    expect(logged).toEqual([30, 14, 7, 1, 1]);
  });

  it('is that of a CA above it where that ends first, with its name', async () => {
    const short = await createCa({ commonName: 'Device CA', notBefore: new Date(0), notAfter: at(5) });
    const pair = await short.issueClientPair('SN1', period);
    const periods = periodsOf({ certificatePem: pair.certificatePem, caPem: short.caPem });
    expect(judgeEnd(periods, at(14))).toMatchObject({
      ...{ status: 'ending', withinDays: 14, notAfter: at(5).toISOString() },
      detail: expect.stringContaining("The CA certificate 'CN=Device CA' above it"),
      remedy: expect.stringContaining('cloud operator must renew that CA'),
    });
    expect(judgeEnd(periods, at(4)).status).toBe('expired');
  });

  it('is not decided, or not green, where nothing is known of it', async () => {
    const clock = createFakeClock({ wall: at(40) });
    const view = async (read: Parameters<typeof watchCertificate>[0]['read'], isConfigured = true) => {
      using watch = watchCertificate({ isConfigured, read, clock, log: silentLog });
      const before = watch.view().status;
      return [
        before,
        await until(
          () => watch.view().detail,
          (detail) => detail !== 'Not checked yet.',
        ),
      ];
    };
    expect(await view(async () => null)).toEqual(['not-checked', 'This device is not enrolled.']);
    expect((await view(async () => Promise.reject(new Error('damaged'))))[0]).toBe('not-checked');
    expect((await view(async () => null, false))[0]).toBe('not-configured');
    const early = judgeEnd(periodsOf(installed), new Date(0));
    expect(early).toMatchObject({
      status: 'not-yet-valid',
      isUrgent: true,
      remedy: expect.stringContaining('timedatectl'),
    });
    expect(await loadIdentity(join(dir, 'identity'))).not.toBeNull();
  });

  it('never gets better as time passes', { tags: 'property' }, () => {
    const periods = periodsOf(installed);
    const rank = { ok: 0, ending: 1, expired: 2, 'not-yet-valid': 3 } as const;
    fc.assert(
      fc.property(
        fc.double({ min: -50, max: 50, noNaN: true }),
        fc.double({ min: 0, max: 50, noNaN: true }),
        (days, more) => {
          const [before, after] = [judgeEnd(periods, at(days + more)), judgeEnd(periods, at(days))];
          expect(rank[after.status]).toBeGreaterThanOrEqual(rank[before.status]);
          expect(after.withinDays ?? 99).toBeLessThanOrEqual(before.withinDays ?? 99);
          expect([null, ...END_WARNING_DAYS]).toContain(after.withinDays);
        },
      ),
    );
  });
});

describe('the last 40 days of a certificate that the gateway renews', () => {
  /** What every place shows, day by day: [days left, status, renewal, level of the lamp, keys of the faults, metric]. */
  async function through(hasFault: boolean) {
    await using world = await startRenewalWorld({ daysLeft: 40 });
    if (hasFault) world.faults.add('enrolment-refused');
    const read = () => world.read();
    using watch = watchCertificate({ isConfigured: true, read, clock: world.clock, log: silentLog });
    const seen: Record<string, { readonly level: string; readonly faults: readonly string[]; readonly text: string }> =
      {};
    const begin = world.notAfter.getTime() - 40 * DAY_MS;
    for (let hours = 12; hours < 41 * 24; hours += 12) {
      world.clock.setWall(new Date(begin + hours * 3_600_000));
      await world.rounds(2);
      const { certificate } = await until(
        async () => {
          // The watch looks again while it has not seen the installed one.
          await world.round();
          const now = await world.read();
          const endsAt = now === null ? null : judgeEnd(periodsOf(now), world.clock.wall()).notAfter;
          return { certificate: { ...watch.view(), renewal: world.view() }, endsAt };
        },
        ({ certificate: found, endsAt }) => found.notAfter === endsAt,
      );
      const { status, withinDays, renewal } = certificate;
      const health = gatewayHealth(partsWith({ certificate }));
      const snapshot = chassisAfter(...inOrder).snapshot();
      const { present } = faultsOf({ snapshot, motion: motion(), health: sourceHealth({ certificate }) });
      const lamp = cloudLamp({ view: connectedView, now: world.clock.wall() }, certificate);
      const metrics = metricsOf({
        ...{ health, snapshot, motion: motion(), cloud: noCloud, support: noSupport, neighbours: notListening },
        ...{ followers: [], now: world.clock.wall() },
        process: { nodeVersion: '24.0.0', residentBytes: 1, cpuSeconds: 1, busySeconds: 1 },
      });
      const failed = metrics.find(({ name }) => name === 'gw_certificate_renewal_failed_attempts')?.samples[0]?.value;
      expect(failed).toBe(renewal.failed);
      expect(failed === 0).toBe(renewal.status === 'not-due');
      const key = `${status} ${withinDays}, renewal ${renewal.status}, ${health.status}`;
      seen[key] ??= { level: lamp.level, faults: present.map((fault) => fault.key), text: JSON.stringify(lamp.rows) };
    }
    return seen;
  }

  it('ends with the renewal 21 days before, and is as before from then on', async () => {
    const seen = await through(false);
    expect(Object.keys(seen)).toEqual(['ok null, renewal not-due, ok', 'ending 30, renewal not-due, degraded']);
  });

  it('shows each threshold, and beside it why the renewal fails', async () => {
    const seen = await through(true);
    expect(Object.entries(seen).map(([key, { level, faults }]) => [key, level, faults])).toEqual([
      ['ok null, renewal not-due, ok', expect.anything(), []],
      ['ending 30, renewal not-due, degraded', 'attention', ['certificate.ends-within-30-days']],
      ...([30, 14, 7] as const).map((days) => [
        `ending ${days}, renewal failing, degraded`,
        'attention',
        [`certificate.ends-within-${days}-days`, 'certificate.renewal-failing'],
      ]),
      [
        'ending-now 1, renewal failing, degraded',
        'bad',
        ['certificate.ends-within-1-days', 'certificate.renewal-failing'],
      ],
      ['expired 1, renewal over, degraded', 'bad', ['certificate.expired', 'certificate.renewal-over']],
    ]);
    expect(seen['ending 14, renewal failing, degraded']?.text).toContain('not accepted for a renewal');
  });
});
