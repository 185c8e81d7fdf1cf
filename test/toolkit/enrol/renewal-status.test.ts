import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderEnrolStatus } from '../../../src/cli/render/enrol.ts';
import { loadIdentity } from '../../../src/lib/enrolment/index.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { enrolStatusSchema } from '../../../src/lib/toolkit/enrol/enrol.result.ts';
import { readRenewalStatus } from '../../../src/lib/toolkit/enrol/renewal-status.ts';
import { readEnrolStatus } from '../../../src/lib/toolkit/enrol/status.ts';
import { type RenewalWorld, serial, startRenewalWorld } from '../../gateway/renewal-world.ts';

const site = ({ dir, identityDir, endpoint }: RenewalWorld, more = 'renewal: { beforeDays: 21 }, ') =>
  parseSite(
    `name: x\nchassis: { host: 127.0.0.1, serial: ${serial} }\ncloud: { mqtt: { alpn: x-example-mqtt-ca } }\nenrolment: { ${more}url: '${endpoint.url}', identityDir: ${identityDir} }\n`,
    join(dir, 'site.yaml'),
  );
const status = async (world: RenewalWorld, more?: string) =>
  enrolStatusSchema.parse(await readEnrolStatus({ site: site(world, more), clock: world.clock }));
const lineOf = async (world: RenewalWorld, more?: string) =>
  (await status(world, more)).findings.find(({ id }) => id === 'renewal');

describe('the renewal in gw enrol status', () => {
  it('does not concern a device that has begun none, and is not mentioned where it is off', async () => {
    await using world = await startRenewalWorld({ daysLeft: 40 });
    await world.rounds(2);
    expect(await lineOf(world)).toMatchObject({
      verdict: 'not-applicable',
      detail: expect.stringContaining('21 days'),
    });
    expect(await lineOf(world, '')).toBeUndefined();
    expect((await status(world)).renewal).toBeNull();
  });

  it('shows the present certificate and the new one until that is proved, and is never green', async () => {
    await using world = await startRenewalWorld();
    const present = await world.installed();
    world.broker.accepts = (fingerprint) => (fingerprint === present ? 'accepted' : 'refused');
    await world.rounds(2);
    const found = await status(world);
    expect(found).toMatchObject({
      ...{ state: 'enrolled', verdict: 'wrong', identity: { certificate: { fingerprintSha256: present } } },
      renewal: { state: 'not-proved', candidate: { failedProofs: 1 }, last: { detail: expect.any(String) } },
    });
    expect(await lineOf(world)).toMatchObject({
      ...{ verdict: 'wrong', remedy: expect.stringContaining('stays in use') },
      detail: expect.stringContaining('not proved at the broker yet, the one before is in use'),
    });
    const shown = renderEnrolStatus(found);
    expect(shown).toContain('new, not proved');
    expect(shown).toContain(found.renewal?.candidate?.fingerprintSha256 ?? 'none');
    expect(JSON.stringify(found)).not.toContain('PRIVATE');
  });

  it('names the last failure and the next attempt', async () => {
    await using world = await startRenewalWorld();
    world.faults.add('enrolment-busy');
    await world.rounds(2);
    const { renewal } = await status(world);
    expect(renewal).toMatchObject({ state: 'failing', candidate: null, failed: 1 });
    expect(await lineOf(world)).toMatchObject({
      ...{ verdict: 'wrong', detail: expect.stringContaining(`next attempt not before ${renewal?.nextAt}`) },
    });
  });

  it('is wrong for what is left of another identity, or damaged', async () => {
    await using world = await startRenewalWorld();
    world.broker.accepts = () => 'unreachable';
    await world.rounds(2);
    expect(await lineOf(world, '')).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining('no renewal') });
    const other = await loadIdentity(world.identityDir);
    const certificate = { ...other?.certificate, fingerprintSha256: 'AA' } as never;
    const { findings, renewal } = await readRenewalStatus(site(world), { ...other, certificate } as never);
    expect([findings[0]?.verdict, renewal]).toEqual(['wrong', null]);
    writeFileSync(join(world.identityDir, 'renewal.json'), '{}');
    expect(await lineOf(world)).toMatchObject({ verdict: 'wrong', detail: expect.stringContaining('Corrupt') });
  });
});
