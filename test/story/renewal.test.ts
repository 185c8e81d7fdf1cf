import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { readSecret } from '../../src/lib/site/index.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { readEnrolStatus } from '../../src/lib/toolkit/enrol/status.ts';
import { context, type Story, startStory } from './story.ts';

const DAY_MS = 86_400_000;

interface View {
  readonly status: string;
  readonly link: {
    readonly connection: { readonly certificate: { readonly fingerprintSha256: string } } | null;
  } | null;
  readonly received: { readonly stops: number } | null;
}
interface Health {
  readonly status: string;
  readonly certificate: {
    readonly status: string;
    readonly renewal: { readonly status: string; readonly failed: number; readonly detail: string };
  };
}

let story: Story;
afterEach(() => story?.[Symbol.asyncDispose]());

const view = () => story.operator('/api/cloud') as Promise<View>;
const health = () => story.operator('/api/health') as Promise<Health>;
const renewal = async () => (await health()).certificate.renewal;
const inUse = async () => (await view()).link?.connection?.certificate.fingerprintSha256 ?? null;
const cloud = () => {
  if (story.sim.cloud === null) throw new Error('there is no cloud');
  return story.sim.cloud;
};
const later = (ms: number) => story.clock.setWall(new Date(story.clock.wall().getTime() + ms));
const enrolStatus = async () => readEnrolStatus(await story.toolkit());

/** Enrolled for 22 days, with the renewal from 21 days before the end. */
beforeEach(async () => {
  story = await startStory({ with: ['enrolment', 'cloud', 'password'] });
  await story.fault('enrolment-short-lived', true);
  const readCode = () => readSecret(story.sim.enrolment?.codePath ?? '', 'the one-time code');
  await story.during(enrolDevice(await story.toolkit(), { renew: false, readCode }, context()));
  await story.fault('enrolment-short-lived', false);
  const site = parse(readFileSync(story.sitePath, 'utf8'));
  site.enrolment.renewal = { beforeDays: 21 };
  writeFileSync(story.sitePath, stringify(site));
  await story.startGateway();
  await story.until(view, ({ status }) => status === 'connected');
});

describe('a gateway that renews its certificate by itself', () => {
  test('is connected with the new one from 21 days before the end, and every stop of that time arrives once', async () => {
    await story.until(renewal, ({ status }) => status === 'not-due');
    const before = await inUse();
    const requests = () => story.sim.enrolment?.requests().length ?? 0;
    expect(requests()).toBe(1);
    later(1.5 * DAY_MS);
    let sent = 0;
    let sentAtMs = 0;
    const sendStop = async () => {
      if (story.clock.monotonicMs() - sentAtMs < 250) return;
      sentAtMs = story.clock.monotonicMs();
      await story.during(cloud().stop({ by: 'control centre' }));
      sent += 1;
    };
    await story.until(
      async () => {
        await sendStop();
        return await inUse();
      },
      (now) => now !== null && now !== before,
    );
    for (let more = 0; more < 3; more += 1) {
      await story.during(cloud().stop({ by: 'control centre' }));
      sent += 1;
    }
    expect(sent).toBeGreaterThan(10);
    const { received } = await story.until(view, (now) => (now.received?.stops ?? 0) >= sent);
    expect(received?.stops).toBe(sent);
    await story.until(renewal, ({ status }) => status === 'not-due');
    await story.until(health, ({ certificate }) => certificate.status === 'ok');
    expect(requests()).toBe(2);
    const after = await enrolStatus();
    expect(after.identity?.certificate.fingerprintSha256).toBe(await inUse());
    expect(after.renewal).toBeNull();
    // The gateway that starts again has one identity, and it works.
    await story.stopGateway();
    await story.startGateway();
    await story.until(view, ({ status }) => status === 'connected');
  });

  test('goes back from a certificate that the broker does not know, says so, and a stop still arrives', async () => {
    const before = await inUse();
    await story.fault('enrolment-unknown-ca', true);
    later(1.5 * DAY_MS);
    await story.until(renewal, ({ status }) => status === 'not-proved');
    expect(await enrolStatus()).toMatchObject({
      renewal: { state: 'not-proved', candidate: { notAfter: expect.any(String), keptAt: expect.any(String) } },
    });
    const failing = await story.until(renewal, ({ status }) => status === 'failing');
    expect(failing).toMatchObject({ failed: 1, detail: expect.stringContaining('has not proved the new certificate') });
    await story.until(view, ({ status }) => status === 'connected');
    expect(await inUse()).toBe(before);
    expect(await health()).toMatchObject({ status: 'degraded' });
    expect(await story.page('/service')).toContain('has not proved the new certificate');
    expect((await enrolStatus()).findings).toContainEqual(
      expect.objectContaining({ id: 'renewal', verdict: 'wrong', detail: expect.stringContaining('not proved') }),
    );
    await story.until(
      () =>
        cloud()
          .received()
          .map(({ payload }) => Buffer.from(payload).toString()),
      (all) => all.some((text) => text.includes('certificate.renewal-failing')),
    );
    await story.during(cloud().stop());
    await story.until(view, ({ received }) => received?.stops === 1);
    await story.fault('enrolment-unknown-ca', false);
    later(3_600_000);
    await story.until(inUse, (now) => now !== null && now !== before);
    await story.until(renewal, ({ status }) => status === 'not-due');
  });

  test('keeps the certificate in use through each fault of the endpoint, and renews when the last is over', async () => {
    const before = await inUse();
    const faults: readonly FaultName[] = [
      ...(['enrolment-refused', 'enrolment-busy', 'enrolment-answer-lost', 'enrolment-wrong-serial'] as const),
      ...(['enrolment-expired', 'enrolment-no-answer'] as const),
    ];
    later(DAY_MS / 2);
    for (const [index, fault] of faults.entries()) {
      await story.fault(fault, true);
      later(DAY_MS + 60_000);
      const { status } = await story.until(renewal, ({ failed }) => failed === index + 1);
      expect(status, fault).toBe('failing');
      expect(await inUse(), fault).toBe(before);
      await story.fault(fault, false);
    }
    await story.fault('enrolment-slow', true);
    later(DAY_MS + 60_000);
    await story.until(inUse, (now) => now !== null && now !== before);
    await story.until(renewal, ({ status, failed }) => status === 'not-due' && failed === 0);
    expect(readFileSync(join(story.dir, 'identity', 'identity.json'), 'utf8')).toContain('gw/identity/1');
  });
});
