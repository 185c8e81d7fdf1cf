import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RenewalStep, readRenewal } from '../../src/lib/enrolment/index.ts';
import { type CertificateRenewal, createCertificateRenewal } from '../../src/lib/gateway/certificate-renewal.ts';
import { createIdentityReader } from '../../src/lib/gateway/cloud.ts';
import { silentLog } from '../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { createCa } from '../../src/lib/sim/cloud/certificates.ts';
import { startEnrolment } from '../../src/lib/sim/cloud/enrolment.ts';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { parseSite } from '../../src/lib/site/index.ts';
import { createFakeClock } from '../lifecycle/fake-clock.ts';

export const serial = 'SN-0815';
export const DAY_MS = 86_400_000;
const authority = await createCa();

export type Verdict = 'accepted' | 'refused' | 'unreachable';

/**
 * A gateway's renewal with the simulated endpoint on a clock of its own, and a stand-in for the cloud link that connects with
 * the certificates that `broker` accepts.
 */
export async function startRenewalWorld({ daysLeft = 20, beforeDays = 21 as number | null } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'gw-renewal-'));
  const identityDir = join(dir, 'identity');
  const clock = createFakeClock({ wall: new Date() });
  const faults = new Set<FaultName>();
  const endpoint = await startEnrolment({
    ca: authority,
    clock,
    faults: { is: (name) => faults.has(name) },
    broker: 'mqtt.example.com',
    region: 'eu-central-1',
  });
  const notAfter = new Date(clock.wall().getTime() + daysLeft * DAY_MS);
  const { keyPem, certificatePem } = await authority.issueClientPair(serial, { notAfter });
  mkdirSync(identityDir, { mode: 0o700 });
  const identity = {
    ...{ format: 'gw/identity/1', serial, endpoint: 'mqtt.example.com', region: 'eu-central-1' },
    ...{ enrolledAt: new Date(0).toISOString(), keyPem, certificatePem, caPem: authority.caPem },
  };
  writeFileSync(join(identityDir, 'identity.json'), JSON.stringify(identity), { mode: 0o600 });
  const site = parseSite(
    `name: x\nchassis: { host: 127.0.0.1, serial: ${serial} }\nenrolment: { url: '${endpoint.url}', identityDir: ${identityDir} }\n`,
    join(dir, 'site.yaml'),
  );
  const read = createIdentityReader(site);
  const logged: { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[] = [];
  const note = (fields: object, message: string) => void logged.push({ message, fields: { ...fields } });
  const holds: { hold: string | null; claim: string | null } = { hold: null, claim: null };
  let killAt: RenewalStep | null = null;
  let isKilled = false;

  const start = (days = beforeDays): CertificateRenewal => {
    isKilled = false;
    return createCertificateRenewal({
      ...{ beforeDays: days, identityDir, read, clock, log: { ...silentLog, info: note, warn: note } },
      hold: () => holds.hold,
      claim: async () => holds.claim,
      request: async () => ({
        ...{ url: endpoint.url, trust: authority.caPem, serial, expectedRegion: 'eu-central-1', dialer: directDialer },
        device: { model: null, software: null },
      }),
      onStep(step) {
        if (step !== killAt) return;
        killAt = null;
        isKilled = true;
        // What a kill leaves is on the disk, and this process does nothing more.
        renewal[Symbol.dispose]();
        throw new Error(`killed after ${step}`);
      },
    });
  };
  let renewal = start();
  /** The certificate that the stand-in of the link is connected with. */
  let inUse: string | null = null;
  const broker = { accepts: (_fingerprint: string): Verdict => 'accepted' };

  /** As the cloud link does, with the installed identity first. */
  async function connect(): Promise<void> {
    const installed = await renewal.readIdentity();
    if (installed === null) return;
    const isAccepted = broker.accepts(installed.fingerprintSha256) === 'accepted';
    inUse = isAccepted ? installed.fingerprintSha256 : null;
    const candidate = renewal.candidate.due(installed);
    if (candidate === null) return;
    const verdict = broker.accepts(candidate.fingerprintSha256);
    if (verdict === 'accepted') inUse = candidate.fingerprintSha256;
    const outcome = { verdict: 'wrong', detail: `${verdict} by the broker`, remedy: 'Ask.' } as const;
    const at = { path: 'direct', host: 'h', port: 1, at: clock.wall().toISOString(), tookMs: 1 } as const;
    const failure = verdict === 'accepted' ? null : ({ ...at, step: 'mqtt', outcome } as const);
    renewal.candidate.tried(candidate, {
      ...{ failure, isUnreachable: verdict === 'unreachable', wasConnected: isAccepted },
    });
  }

  return {
    ...{ dir, identityDir, clock, faults, endpoint, logged, holds, broker, read, authority, notAfter },
    view: () => renewal.view(),
    /** One look, then one of the link, then what that has set off. */
    async round(ms = 10_000): Promise<void> {
      await clock.advance(ms);
      await renewal.settled();
      if (!isKilled) await connect();
      await renewal.settled();
    },
    async rounds(count: number, ms?: number): Promise<void> {
      for (let index = 0; index < count; index += 1) await this.round(ms);
    },
    kill(step: RenewalStep): void {
      killAt = step;
    },
    isKilled: () => isKilled,
    /** The gateway is started again. */
    restart(days?: number | null): void {
      renewal[Symbol.dispose]();
      killAt = null;
      renewal = days === undefined ? start() : start(days);
    },
    inUse: () => inUse,
    installed: async () => (await read())?.fingerprintSha256 ?? null,
    record: () => readRenewal(identityDir),
    identityText: () => readFileSync(join(identityDir, 'identity.json'), 'utf8'),
    async [Symbol.asyncDispose]() {
      renewal[Symbol.dispose]();
      await endpoint[Symbol.asyncDispose]();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
export type RenewalWorld = Awaited<ReturnType<typeof startRenewalWorld>>;
