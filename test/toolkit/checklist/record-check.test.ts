import { sign } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CheckRecord, type RobotRecord, recordText, signRecord } from '../../../src/lib/checklist/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { type CertificateAuthority, createCa, type IssuedPair } from '../../../src/lib/sim/cloud/certificates.ts';
import { startSim } from '../../../src/lib/sim/index.ts';
import { loadSite } from '../../../src/lib/site/index.ts';
import { passwordChangeSchema, recordCheckSchema } from '../../../src/lib/toolkit/checklist/record-check.result.ts';
import { checkKeptRecord, checkPasswordChange } from '../../../src/lib/toolkit/checklist/record-check.ts';
import { setOperatorPassword } from '../../../src/lib/toolkit/operator/password.ts';
import { checkSite } from '../../../src/lib/toolkit/site/check.ts';
import { deviantStep, measuredStep, openStep, recordOf, robotOf, stepOf, wrongStep } from '../../report/records.ts';
import { context, has, ownFolder, verdictsOf } from '../kit.ts';

const SERIAL = 'SIM-0001';
let authority: CertificateAuthority;
let device: IssuedPair;
beforeAll(async () => {
  const [notBefore, notAfter] = [new Date('2026-01-02'), new Date('2027-12-01')];
  authority = await createCa({ notBefore, notAfter });
  device = await authority.issueClientPair(SERIAL, { notBefore, notAfter });
});

let dir: string;
let sitePath: string;
/** A port on which nothing answers. */
const closedPort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' ? address?.port : 0;
};

async function writeSite(port: number | undefined): Promise<void> {
  await writeFile(
    sitePath,
    `name: Lobby
chassis: { host: 127.0.0.1, port: ${port}, serial: ${SERIAL} }
operator: { passwordFile: secrets/device-password }
enrolment: { url: 'https://127.0.0.1:1/anmeldung', identityDir: identity }
`,
  );
}
beforeEach(async () => {
  dir = ownFolder();
  sitePath = join(dir, 'site.yaml');
  await mkdir(join(dir, 'state', 'records'), { recursive: true });
  await writeSite(await closedPort());
});

/** After the records of these tests; the chain of the signatures is valid then. */
let wall = () => new Date('2026-11-30T12:00:00Z');
const toolkit = async () => ({
  site: await loadSite(sitePath),
  dialer: directDialer,
  clock: { ...systemClock, wall: () => wall() },
});
const robot = (steps: Parameters<typeof robotOf>[0], change: Partial<RobotRecord> = {}) =>
  robotOf(steps, { serial: SERIAL, simulated: false, ...change });

/** Writes a record as a run of this checklist does: signed by the device unless disabled. */
async function keep(
  robots: RobotRecord[],
  list = 'site',
  { signed = true, endedAt = '2026-11-21T10:30:00.000Z' } = {},
) {
  const plain = recordOf(robots, { attachments: [], endedAt });
  const record: CheckRecord = { ...plain, checklist: { ...plain.checklist, name: list } };
  const signer = {
    serial: SERIAL,
    certificatePem: device.certificatePem,
    sign: (bytes: Uint8Array) => sign('sha256', bytes, { key: device.keyPem, dsaEncoding: 'ieee-p1363' as const }),
  };
  const done = signed ? signRecord(record, signer) : { ...record, signature: null };
  const path = join(dir, 'state', 'records', `${list}-${endedAt.replaceAll(':', '')}.json`);
  await writeFile(path, recordText(done));
  return path;
}

const look = async (list = 'site') => {
  const result = await checkKeptRecord(await toolkit(), { list }, context());
  return recordCheckSchema.parse(result);
};

describe('the record of a checklist on this machine', () => {
  it('is not checked where none is there, or only one of another list or robot', async () => {
    await keep([robot([stepOf()])], 'premises');
    await keep([robotOf([stepOf()])], 'site', { signed: false });
    const result = await look();
    expect(verdictsOf(result.findings)).toEqual({
      found: 'not-checked',
      complete: 'not-checked',
      signed: 'not-checked',
      device: 'not-checked',
    });
    expect(result).toMatchObject({
      verdict: 'not-checked',
      path: null,
      findings: [{ detail: has('checklist site') }, {}, {}, {}],
    });
  });

  it.each([
    ['a step that was not checked', [stepOf(), openStep], {}, 'drive not-checked'],
    ['a wrong step', [stepOf(), wrongStep], {}, 'pose-unit wrong'],
    [
      'a red line',
      [stepOf()],
      { redLines: [{ id: 'tablet-open', title: 'The tablet is open', detail: 'd', remedy: 'r' }] },
      'red line: The tablet is open',
    ],
  ])('is wrong with %s', async (_what, steps, change, named) => {
    await keep([robot(steps, change)]);
    const result = await look();
    expect(verdictsOf(result.findings)).toMatchObject({ found: 'ok', complete: 'wrong' });
    expect(result.verdict).toBe('wrong');
    expect(result.findings[1]?.detail).toBe(`NOT COMPLETE: ${named}`);
  });

  it('is complete with accepted deviations, and says how many', async () => {
    await keep([robot([stepOf(), deviantStep])]);
    expect(await look()).toMatchObject({
      recorded: 'accepted',
      deviations: 1,
      findings: [{}, { verdict: 'ok' }, {}, {}],
    });
  });

  it('counts the newest one only, whatever the older ones say', async () => {
    await keep([robot([stepOf(), measuredStep])], 'site', { endedAt: '2026-11-21T10:30:00.000Z' });
    await keep([robot([stepOf(), openStep])], 'site', { endedAt: '2026-11-22T10:30:00.000Z' });
    expect(await look()).toMatchObject({ recorded: 'incomplete', endedAt: '2026-11-22T10:30:00.000Z' });
  });

  it('is not checked while a record is dated in the future: an older complete one may not be the newest', async () => {
    await keep([robot([stepOf(), openStep])], 'site', { endedAt: '2026-11-21T10:30:00.000Z' });
    const ahead = await keep([robot([stepOf(), measuredStep])], 'site', { endedAt: '2027-11-21T10:30:00.000Z' });
    const result = await look();
    expect(result.findings[0]).toMatchObject({ verdict: 'not-checked', detail: has(`${ahead} is dated 2027-11-21`) });
    expect(result.verdict).not.toBe('ok');
    wall = () => new Date('2027-11-30T12:00:00Z');
    expect((await look()).findings[0]).toMatchObject({ verdict: 'ok' });
    wall = () => new Date('2026-11-30T12:00:00Z');
  });

  it('is not checked without a signature or a CA, and wrong where it was altered', async () => {
    await keep([robot([stepOf()])], 'site', { signed: false });
    expect(verdictsOf((await look()).findings)).toMatchObject({ complete: 'ok', signed: 'not-checked' });
    const path = await keep([robot([stepOf()])]);
    expect(verdictsOf((await look()).findings)).toMatchObject({ complete: 'ok', signed: 'not-checked' });
    const altered = recordOf([robot([stepOf()])], { attachments: [] });
    await writeFile(path, recordText(altered));
    expect(verdictsOf((await look()).findings)).toMatchObject({ signed: 'wrong' });
  });

  it('is wrong where it is of a simulator and a robot is here, and not checked where no step read that', async () => {
    await using sim = await startSim({});
    await keep([robot([stepOf()], { simulated: true })]);
    await writeSite(sim.chassis.port);
    expect(verdictsOf((await look()).findings)).toMatchObject({ device: 'ok' });
    await keep([robot([stepOf()], { simulated: null })]);
    expect(verdictsOf((await look()).findings)).toMatchObject({ device: 'not-checked' });
  });
});

describe('the device password since the records', () => {
  const changed = async () =>
    passwordChangeSchema.parse(await checkPasswordChange(await toolkit(), { since: ['premises', 'site'] }));
  const withPassword = async () => {
    const { passwordId } = await checkSite(sitePath);
    const value = {
      name: 'device-password',
      value: passwordId ?? '',
      unit: null,
      mark: 'BELEGT',
      source: 'gw',
    } as const;
    return robot([stepOf({ values: [value] })]);
  };

  it('is wrong while it is the one of a record, also after it was set again, and ok after another one was set', async () => {
    await setOperatorPassword(sitePath, 'an earlier one');
    await keep([await withPassword()], 'site', { endedAt: '2026-11-20T10:30:00.000Z' });
    await setOperatorPassword(sitePath, 'commissioning');
    await keep([await withPassword()], 'premises');
    expect(await changed()).toMatchObject({
      verdict: 'wrong',
      findings: [{ detail: has('the one of the record premises') }],
    });
    await setOperatorPassword(sitePath, 'commissioning');
    expect(await changed()).toMatchObject({ verdict: 'wrong' });
    await setOperatorPassword(sitePath, 'of the hotel');
    expect(await changed()).toMatchObject({
      verdict: 'ok',
      findings: [{ detail: has('set after the record premises') }],
    });
    // It may be a later one, with this password.
    await writeFile(join(dir, 'state', 'records', 'damaged.json'), '{"format":');
    expect(await changed()).toMatchObject({ verdict: 'not-checked', findings: [{ detail: has('cannot be read') }] });
  });

  it('is not checked where one of the checklists left no record that says so, or one that is not genuine', async () => {
    await setOperatorPassword(sitePath, 'of the premises');
    await keep([await withPassword()], 'premises');
    await setOperatorPassword(sitePath, 'of the site');
    // The run on the site was written elsewhere, or says nothing of the password.
    expect(await changed()).toMatchObject({ verdict: 'not-checked', findings: [{ detail: has('no record of site') }] });
    const path = await keep([await withPassword()], 'site', { endedAt: '2026-11-22T10:30:00.000Z' });
    expect(await changed()).toMatchObject({ verdict: 'wrong' });
    const id = (await checkSite(sitePath)).passwordId ?? '';
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(id, 'f'.repeat(id.length)));
    expect(await changed()).toMatchObject({ verdict: 'not-checked', findings: [{ detail: has('no record of site') }] });
  });

  it('is wrong when it is any earlier one, by a record of any checklist, or set before all of them', async () => {
    await setOperatorPassword(sitePath, 'of the workshop');
    await setOperatorPassword(sitePath, 'commissioning');
    for (const list of ['premises', 'site']) await keep([await withPassword()], list);
    await setOperatorPassword(sitePath, 'of a service');
    await keep([await withPassword()], 'service', { endedAt: '2026-11-22T10:30:00.000Z' });
    await setOperatorPassword(sitePath, 'of the hotel');
    expect(await changed()).toMatchObject({ verdict: 'ok' });
    await setOperatorPassword(sitePath, 'commissioning');
    expect(await changed()).toMatchObject({ verdict: 'wrong', findings: [{ detail: has('the one of the record') }] });
    await setOperatorPassword(sitePath, 'of a service');
    expect(await changed()).toMatchObject({ verdict: 'wrong', findings: [{ detail: has('record service') }] });
    await setOperatorPassword(sitePath, 'of the workshop');
    expect(await changed()).toMatchObject({
      verdict: 'wrong',
      findings: [{ detail: has('set on this gateway before') }],
    });
  });

  it('is not checked where a recorded one was never compared with it, since its hash is not kept', async () => {
    const { file } = await setOperatorPassword(sitePath, 'commissioning');
    for (const list of ['premises', 'site']) await keep([await withPassword()], list);
    await setOperatorPassword(sitePath, 'of the hotel');
    expect(await changed()).toMatchObject({ verdict: 'ok' });
    // As an older gw left it, or a file that was copied: the password may be the recorded one with a new hash.
    await rm(`${file}.former`);
    expect(await changed()).toMatchObject({ verdict: 'not-checked', findings: [{ detail: has('never compared') }] });
    await rm(file);
    await setOperatorPassword(sitePath, 'commissioning');
    expect(await changed()).toMatchObject({ verdict: 'not-checked' });
  });

  it('is wrong without a password, and not checked where no record says which one was set', async () => {
    expect(await changed()).toMatchObject({ verdict: 'wrong', findings: [{ remedy: has('gw operator password') }] });
    await setOperatorPassword(sitePath, 'commissioning');
    await keep([robot([stepOf()])]);
    expect(await changed()).toMatchObject({ verdict: 'not-checked' });
  });
});
