import { chmodSync, cpSync, rmSync } from 'node:fs';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeDeviceKey } from '../../../src/lib/enrolment/enrol.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { type Sim, startSim } from '../../../src/lib/sim/index.ts';
import { createCatalogue } from '../../../src/lib/toolkit/catalogue/catalogue.ts';
import { enrolSchema, enrolStatusSchema } from '../../../src/lib/toolkit/enrol/enrol.result.ts';
import { enrolDevice } from '../../../src/lib/toolkit/enrol/enrol.ts';
import { readEnrolStatus } from '../../../src/lib/toolkit/enrol/status.ts';
import { openToolkit } from '../../../src/lib/toolkit/toolkit.ts';
import { failureOf } from '../../enrolment/world.ts';
import { has, ownFolder, sharedFolder } from '../kit.ts';

let dir: string;
let sim: Sim;
const startIn = async (folder: string) => {
  dir = folder;
  sim = await startSim({ dir, with: ['enrolment'] });
};

const sitePath = () => join(dir, 'site.yaml');
const status = async (wall = () => new Date()) =>
  readEnrolStatus({ ...(await openToolkit(sitePath())), clock: { ...systemClock, wall } });
const findings = async (wall?: () => Date) =>
  Object.fromEntries((await status(wall)).findings.map(({ id, verdict }) => [id, verdict]));

async function enrol(renew = false, code = () => sim.enrolment?.newCode() ?? '') {
  const messages: string[] = [];
  const context = { signal: new AbortController().signal, onProgress: (text: string) => messages.push(text) };
  const data = await enrolDevice(await openToolkit(sitePath()), { renew, readCode: async () => code() }, context);
  return { data, messages: messages };
}

/** Edits the site file. */
async function edit(change: (text: string) => string): Promise<void> {
  await writeFile(sitePath(), change(await readFile(sitePath(), 'utf8')));
}

describe('gw enrol', () => {
  beforeEach(() => startIn(ownFolder()));
  afterEach(() => sim[Symbol.asyncDispose]());

  it('reads the serial number from the chassis, reports its steps, and ends with the identity', async () => {
    const { data, messages } = await enrol();
    expect(enrolSchema.parse(data)).toMatchObject({
      url: sim.enrolment?.url,
      resumed: false,
      replaced: false,
      clock: { verdict: 'ok' },
      status: { state: 'enrolled', verdict: 'ok', serial: sim.chassis.serial, begunAt: null },
    });
    expect(messages).toEqual([
      'reading the serial number of the chassis',
      'key generated on this device',
      'key stored; connecting to the enrolment endpoint',
      'enrolment endpoint verified; sending the certificate request',
      'waiting for the certificate',
      'certificate verified; installing it',
    ]);
    expect(sim.requests().filter(({ path }) => path === '/device/info').length).toBe(1);
    const sent = JSON.parse(sim.enrolment?.requests()[0]?.body ?? '{}');
    expect(sent).toMatchObject({ serial: sim.chassis.serial, device: { software: sim.chassis.software } });
  });

  it('refuses when the site file names another chassis, before it requests a code or creates a file', async () => {
    let prompts = 0;
    const code = () => {
      prompts += 1;
      return 'X';
    };
    sim.setFault('wrong-serial', true);
    expect((await failureOf(enrol(false, code))).code).toBe('CHASSIS_WRONG_DEVICE');
    sim.setFault('wrong-serial', false);
    sim.setFault('no-serial', true);
    expect((await failureOf(enrol(false, code))).code).toBe('CHASSIS_BAD_ANSWER');
    sim.setFault('no-serial', false);
    expect(prompts).toBe(0);
    expect((await status()).state).toBe('not-enrolled');
    expect(sim.enrolment?.requests()).toEqual([]);
  });

  it('resumes after an interruption, and refuses a second identity', async () => {
    sim.setFault('enrolment-answer-lost', true);
    expect((await failureOf(enrol())).code).toBe('ENROLMENT_NOT_REACHABLE');
    expect(await status()).toMatchObject({ state: 'begun', verdict: 'wrong', begunAt: has(/^20/) });
    sim.setFault('enrolment-answer-lost', false);
    expect((await enrol()).data.resumed).toBe(true);
    expect((await failureOf(enrol())).code).toBe('ALREADY_ENROLLED');
    expect((await enrol(true)).data).toMatchObject({ replaced: true, resumed: false });
  });

  it('installs the certificate with a warning while the clock of the endpoint differs', async () => {
    sim.setFault('enrolment-clock', true);
    const { data } = await enrol();
    expect(data.clock.verdict).toBe('wrong');
    // The record of the enrolment shows that the clock of this device is wrong.
    expect(data.status).toMatchObject({ verdict: 'wrong', identity: { daysLeft: null } });
    expect(await findings()).toMatchObject({ clock: 'wrong', validity: 'not-checked', identity: 'ok' });
  });

  it('compares the region with cloud.region of the site file', async () => {
    await edit((text) => `${text}cloud:\n  region: eu-west-9\n  mqtt: { host: 127.0.0.1, alpn: x-example-mqtt-ca }\n`);
    expect(await failureOf(enrol())).toMatchObject({
      code: 'CERTIFICATE_UNUSABLE',
      details: { reason: 'wrong-region' },
    });
  });

  it('requires its section of the site file, and a valid trust file', async () => {
    const caFile = join(dir, 'enrolment-ca.pem');
    await writeFile(caFile, 'not a certificate');
    expect(await failureOf(enrol())).toMatchObject({ code: 'SITE_FILE_INVALID', message: has('enrolment.caFile') });
    rmSync(caFile);
    expect(await failureOf(enrol())).toMatchObject({
      code: 'SITE_FILE_INVALID',
      message: has('no such file or folder'),
    });
    await edit((text) => text.replace(/^enrolment:\n( .*\n)+/m, ''));
    for (const work of [enrol, status]) {
      expect(await failureOf(work())).toMatchObject({ code: 'SITE_FILE_INVALID', remedy: has('enrolment:') });
    }
  });
});

describe('gw enrol status', () => {
  const [fresh, enrolled] = [sharedFolder(), sharedFolder()];
  beforeAll(async () => {
    await startIn(fresh);
    cpSync(fresh, enrolled, { recursive: true });
    dir = enrolled;
    await enrol();
  });
  afterAll(() => sim[Symbol.asyncDispose]());
  const copyOf = (folder: string) => {
    dir = ownFolder();
    cpSync(folder, dir, { recursive: true });
  };
  beforeEach(() => {
    copyOf(enrolled);
    chmodSync(join(dir, 'identity'), 0o700);
  });
  afterEach(() => sim.setFault('enrolment-error', false));

  it('reports a missing identity, with the remedy', async () => {
    copyOf(fresh);
    const shown = enrolStatusSchema.parse(await status());
    expect(shown).toMatchObject({ state: 'not-enrolled', verdict: 'wrong', identity: null });
    expect(shown.findings).toMatchObject([
      { id: 'identity', verdict: 'wrong', remedy: 'Run `gw enrol` on this gateway.' },
    ]);
  });

  it('shows the identity and its checks', async () => {
    const shown = enrolStatusSchema.parse(await status());
    expect(shown.identity).toMatchObject({
      serial: 'SIM-0001',
      endpoint: '127.0.0.1',
      region: 'eu-central-1',
      daysLeft: 364,
    });
    expect(JSON.stringify(shown)).not.toContain('PRIVATE');
    expect(await findings()).toEqual({
      identity: 'ok',
      folder: 'ok',
      serial: 'ok',
      clock: 'ok',
      validity: 'ok',
      region: 'not-applicable',
      'broker-region': 'not-checked',
      endpoint: 'not-applicable',
    });
  });

  it.each([
    ['x-ats.iot.eu-central-1.amazonaws.com', 'ok'],
    ['x-ats.iot.us-east-1.amazonaws.com', 'wrong'],
    ['eu-central-1.example.com', 'not-checked'],
  ])('judges a broker %s by the region in its name against that of the enrolment', async (endpoint, verdict) => {
    const path = join(dir, 'identity', 'identity.json');
    const stored = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...stored, endpoint }), { mode: 0o600 });
    expect(await findings()).toMatchObject({ identity: 'ok', 'broker-region': verdict });
  });

  it('reports expired, expiring and future validity, and a wrong clock', async () => {
    const inDays = (days: number) => () => new Date(systemClock.wall().getTime() + days * 86_400_000);
    const validity = async (days: number) => (await status(inDays(days))).findings.find(({ id }) => id === 'validity');
    expect(await validity(100)).toMatchObject({ verdict: 'ok', remedy: null });
    expect(await validity(340)).toMatchObject({ verdict: 'wrong', remedy: has('--renew') });
    expect(await validity(366)).toMatchObject({ verdict: 'wrong', detail: has('expired') });
    expect((await status(inDays(366))).verdict).toBe('wrong');
    expect(await findings(inDays(-1))).toMatchObject({ clock: 'wrong', validity: 'not-checked' });
  });

  it('compares it with the serial number, the region and the broker of the site file', async () => {
    const cloud = (region: string, host: string) =>
      `cloud:\n  region: ${region}\n  mqtt: { host: ${host}, alpn: x-example-mqtt-ca }\n`;
    const text = await readFile(sitePath(), 'utf8');
    await writeFile(sitePath(), text + cloud('eu-central-1', '127.0.0.1'));
    expect(await findings()).toMatchObject({ serial: 'ok', region: 'ok', endpoint: 'ok' });
    // The endpoint returned eu-central-1, and its broker is this machine.
    expect(await findings()).toMatchObject({ 'broker-region': 'not-checked' });
    await writeFile(sitePath(), text.replace('SIM-0001', 'SIM-0002') + cloud('us-1', 'mqtt.example.com'));
    expect(await findings()).toMatchObject({ serial: 'wrong', region: 'wrong', endpoint: 'wrong' });
    expect((await status()).state).toBe('of-another-robot');
    // Without a host in the site file there is nothing to compare with.
    await writeFile(sitePath(), `${text}cloud: { mqtt: { alpn: x-example-mqtt-ca } }\n`);
    expect(await findings()).toMatchObject({ endpoint: 'not-applicable' });
  });

  it('detects a broken identity, an open folder and an unfinished renewal', async () => {
    sim.setFault('enrolment-error', true);
    await failureOf(enrol(true));
    expect(await findings()).toMatchObject({ identity: 'ok', begun: 'wrong' });
    const identityDir = join(dir, 'identity');
    await chmod(identityDir, 0o750);
    expect(await findings()).toMatchObject({ folder: 'wrong' });
    await chmod(identityDir, 0o700);
    await writeFile(join(identityDir, 'pending.json'), 'x');
    expect(await status()).toMatchObject({ state: 'broken', verdict: 'wrong' });
    await writeFile(join(identityDir, 'identity.json'), 'x');
    expect(await status()).toMatchObject({ state: 'broken', identity: null });
  });

  it('distinguishes an enrolment without clean-up from an unfinished one', async () => {
    const identityDir = join(dir, 'identity');
    const path = join(identityDir, 'pending.json');
    const { serial, keyPem } = JSON.parse(await readFile(join(identityDir, 'identity.json'), 'utf8'));
    const pending = { format: 'gw/enrolment-pending/1', serial, begunAt: '2026-01-02T03:04:05.000Z', keyPem };
    const left = async (more: object = {}) => {
      await writeFile(path, JSON.stringify({ ...pending, requestPem: 'x', ...more }), { mode: 0o600 });
      const shown = enrolStatusSchema.parse(await status());
      return { ...shown, begun: shown.findings.find(({ id }) => id === 'begun') };
    };
    const cut = await left();
    expect(cut).toMatchObject({ state: 'enrolled', begunAt: null });
    expect(cut.begun).toMatchObject({
      verdict: 'wrong',
      detail: has('enrolled, but the cleanup was interrupted'),
      remedy: has('Run `gw enrol` again'),
    });
    const prompts: string[] = [];
    const { data } = await enrol(false, () => {
      prompts.push('asked');
      return '';
    });
    expect(data).toMatchObject({ resumed: true, status: { verdict: 'ok' } });
    expect(prompts).toEqual([]);
    expect((await left({ keyPem: makeDeviceKey() })).begun).toMatchObject({
      detail: has('a renewal was started at 2026-01-02T03:04:05.000Z'),
      remedy: has('`gw enrol --renew` again'),
    });
    expect((await left({ keyPem: makeDeviceKey(), serial: 'SIM-0009' })).begun).toMatchObject({
      detail: has('a renewal of SIM-0009 was started'),
      remedy: has(`remove ${path}`),
    });
    rmSync(join(identityDir, 'identity.json'));
    const other = await left({ keyPem: makeDeviceKey(), serial: 'SIM-0009' });
    expect(other).toMatchObject({ state: 'begun', begun: { detail: has('an enrolment of SIM-0009') } });
    expect(await failureOf(enrol())).toMatchObject({ code: 'IDENTITY_BROKEN', remedy: has(path) });
  });

  it('reports that a CA above the certificate expires although the certificate does not', async () => {
    const path = join(dir, 'identity', 'identity.json');
    const file = JSON.parse(await readFile(path, 'utf8'));
    const day = 86_400_000;
    const ends = async (days: number) => {
      const authority = await createCa({ notAfter: new Date(systemClock.wall().getTime() + days * day) });
      const pair = await authority.issueClientPair(file.serial);
      const made = { keyPem: pair.keyPem, certificatePem: pair.certificatePem, caPem: authority.caPem };
      await writeFile(path, JSON.stringify({ ...file, ...made, enrolledAt: '2026-01-02T03:04:05.000Z' }));
      const shown = await status();
      return { daysLeft: shown.identity?.daysLeft, ...shown.findings.find(({ id }) => id === 'validity') };
    };
    expect(await ends(10.5)).toMatchObject({ daysLeft: 10, verdict: 'wrong', remedy: has('--renew') });
    expect(await ends(-0.01)).toMatchObject({
      verdict: 'wrong',
      detail: has(/^its CA certificate \(CN=.*\) expired at /),
      remedy: has('--renew'),
    });
  });

  it('is available as a checklist step', async () => {
    const entry = createCatalogue({ sitePath: sitePath() })['enrol status'];
    const context = { signal: new AbortController().signal, onProgress: () => {} };
    expect(await entry?.run({}, context as never)).toMatchObject({ state: 'enrolled', verdict: 'ok' });
  });
});
