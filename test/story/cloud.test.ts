import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readSecret } from '../../src/lib/site/index.ts';
import { stateOwners } from '../../src/lib/site/robot-state.ts';
import { enrolDevice } from '../../src/lib/toolkit/enrol/enrol.ts';
import { clearStop } from '../../src/lib/toolkit/motion/clear.ts';
import { context, type Story, startStory } from './story.ts';

interface View {
  readonly status: string;
  readonly detail: string;
  readonly link: {
    readonly connection: { readonly certificate: { readonly fingerprintSha256: string } } | null;
  } | null;
  readonly outbox: { readonly kept: { readonly telemetry: number } | null };
  readonly received: { readonly stops: number; readonly discarded: Readonly<Record<string, number>> } | null;
}
interface Latch {
  readonly stop: { readonly latched: boolean; readonly by: string | null };
}

let story: Story;
afterEach(() => story?.[Symbol.asyncDispose]());

const view = () => story.operator('/api/cloud') as Promise<View>;
const latch = () => story.operator('/api/stopp') as Promise<Latch>;
const connected = () => story.until(view, ({ status }) => status === 'connected');
const latched = () => story.until(latch, ({ stop }) => stop.latched);
const clear = async () => await story.during(clearStop(await story.toolkit(), {}, context()));
const cloud = () => {
  if (story.sim.cloud === null) throw new Error('there is no cloud');
  return story.sim.cloud;
};
const enrol = async (renew: boolean, readCode: () => Promise<string>) =>
  await story.during(enrolDevice(await story.toolkit(), { renew, readCode }, context()));

describe('a gateway with a cloud', () => {
  beforeEach(async () => {
    story = await startStory({ with: ['enrolment', 'cloud', 'password'] });
    await enrol(false, () => readSecret(story.sim.enrolment?.codePath ?? '', 'the one-time code'));
    await story.startGateway();
    await connected();
  });

  test('is stopped by it once for each message of any form, also in a drive, and not again by one that is retained', async () => {
    await story.until(
      () => story.operator('/api/touren') as Promise<{ readonly gate: { readonly open: boolean } }>,
      ({ gate }) => gate.open,
    );
    await story.operator('/api/touren/lauf', { method: 'POST', body: { tour: 'demo' } });
    await story.until(
      () => story.sim.state().speedMS,
      (speedMS) => speedMS > 0,
    );
    await story.during(cloud().send('gw/SIM-0001/stop', '{"command":"stop","by":"control centre"}', { retain: true }));
    expect((await latched()).stop.by).toBe('cloud, control centre');
    await story.until(
      () => story.sim.state(),
      ({ moving, speedMS }) => !moving && speedMS === 0,
    );
    expect((await view()).received?.stops).toBe(1);
    await clear();
    await story.during(cloud().stop({ by: 'control centre' }));
    await latched();
    await clear();
    // A subscription that is made anew delivers it as retained.
    await story.fault('cloud-session-lost', true);
    await story.during(cloud().restart());
    const { received } = await story.until(
      view,
      ({ status, received: counts }) => status === 'connected' && (counts?.discarded.duplicate ?? 0) > 0,
    );
    expect(received?.stops).toBe(2);
    expect((await latch()).stop.latched).toBe(false);
  });

  test('renews its certificate while it is connected, and a stop arrives over the new connection', async () => {
    const certificate = async () => (await view()).link?.connection?.certificate.fingerprintSha256 ?? null;
    const before = await certificate();
    await enrol(true, async () => story.sim.enrolment?.newCode() ?? '');
    await story.until(certificate, (now) => now !== null && now !== before);
    await connected();
    await story.during(cloud().stop());
    await latched();
  });

  test('latches a stop while the chassis is not connected, and cancels the move when it is back', async () => {
    await story.chassis('POST', '/system/settings/user', { 'control.max_forward_velocity': 0.1 });
    await story.chassis('POST', '/chassis/moves', { type: 'standard', target_x: 4, target_y: 2, creator: 'test' });
    const drives = () =>
      story.until(
        () => story.sim.state().speedMS,
        (speedMS) => speedMS > 0,
      );
    await drives();
    await story.fault('cut', true);
    await story.until(
      () => story.operator('/api/chassis/state') as Promise<{ readonly link: { readonly kind: string } }>,
      ({ link }) => link.kind === 'not-connected',
    );
    await story.during(cloud().stop());
    await latched();
    // The cancel has not reached it.
    await drives();
    await story.fault('cut', false);
    await story.until(
      async () => (await story.chassis('GET', '/chassis/moves')) as { readonly state: string }[],
      (moves) => moves.some(({ state }) => state === 'cancelled'),
    );
    await story.until(
      () => story.sim.state().speedMS,
      (speedMS) => speedMS === 0,
    );
  });

  test('keeps its telemetry in an outage and over a restart, and sends it without a gap', async () => {
    await story.fault('cloud-cut', true);
    await story.until(view, ({ outbox }) => (outbox.kept?.telemetry ?? 0) >= 2);
    await story.stopGateway();
    await story.startGateway();
    await story.fault('cloud-cut', false);
    await connected();
    const numbers = () =>
      cloud()
        .received()
        .filter(({ topic }) => topic === 'gw/SIM-0001/telemetry')
        .map(({ payload }) => (JSON.parse(Buffer.from(payload).toString('utf8')) as { seq: number }).seq);
    const last = () => Math.max(0, ...numbers());
    const from = last();
    await story.until(last, (seq) => seq > from + 2);
    const seen = new Set(numbers());
    expect(Array.from({ length: last() }, (_, index) => index + 1).filter((seq) => !seen.has(seq))).toEqual([]);
  });
});

describe('a gateway whose chassis is replaced', () => {
  test('sends nothing of the one before, keeps it aside, and is the new one for its cloud', async () => {
    story = await startStory({ with: ['enrolment', 'cloud', 'password'] });
    await enrol(false, () => readSecret(story.sim.enrolment?.codePath ?? '', 'the one-time code'));
    await story.startGateway();
    await connected();
    await story.fault('cloud-cut', true);
    await story.until(view, ({ outbox }) => (outbox.kept?.telemetry ?? 0) >= 2);
    await story.stopGateway();

    await story.fault('wrong-serial', true);
    // Of the fault.
    const serial = 'SIM-9999';
    writeFileSync(story.sitePath, readFileSync(story.sitePath, 'utf8').replaceAll('SIM-0001', serial));
    await story.fault('cloud-cut', false);
    const before = cloud().received().length;
    await story.startGateway();
    // With the certificate of the other one it is not connected.
    await story.until(view, ({ detail }) => detail.includes('SIM-0001'));
    await enrol(true, async () => story.sim.enrolment?.newCode(serial) ?? '');
    await connected();
    const since = () => cloud().received().slice(before);
    await story.until(since, (messages) => messages.filter(({ topic }) => topic.endsWith('/telemetry')).length >= 3);
    for (const { topic, payload } of since()) {
      expect(topic).toContain(serial);
      expect(payload.toString()).not.toContain('SIM-0001');
    }
    await story.stopGateway();
    const state = join(story.dir, 'state');
    expect(readdirSync(state).filter((name) => !Object.hasOwn(stateOwners, name))).toEqual([]);
    expect(readdirSync(join(state, 'robots', 'SIM-0001'))).toContain('cloud');
  });
});

describe('a gateway without a link', () => {
  test.each([
    ['without `cloud` in the site file', 'not-configured', false],
    ['without an identity', 'not-enrolled', true],
  ] as const)('%s runs as before, and says why', async (_what, status, hasCloud) => {
    story = await startStory({ with: ['enrolment', 'cloud'] });
    if (!hasCloud) {
      const { cloud: _, ...site } = parse(readFileSync(story.sitePath, 'utf8')) as Record<string, unknown>;
      writeFileSync(story.sitePath, stringify(site));
    }
    await story.startGateway();
    const { detail } = await story.until(view, (now) => now.status === status);
    expect(detail).toMatch(hasCloud ? /no identity/ : /cloud/);
    expect(await latch()).toMatchObject({ stop: { latched: false } });
    expect(await story.page('/')).toContain('Bereit');
    expect(existsSync(join(story.dir, 'state', 'cloud', 'outbox'))).toBe(false);
  });
});
