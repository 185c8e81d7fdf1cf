import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { enrol } from '../../src/lib/enrolment/enrol.ts';
import { lockFolder } from '../../src/lib/enrolment/folder.ts';
import { loadIdentity } from '../../src/lib/enrolment/index.ts';
import { renewalSteps } from '../../src/lib/enrolment/renew.ts';
import { renewalHold } from '../../src/lib/gateway/renewal-parts.ts';
import { directDialer } from '../../src/lib/net/index.ts';
import { isCertificateSound, isRenewalSound } from '../../src/lib/operator/index.ts';
import type { FaultName } from '../../src/lib/sim/index.ts';
import { runs } from '../properties.ts';
import { DAY_MS, type RenewalWorld, serial, startRenewalWorld } from './renewal-world.ts';

const messages = (world: RenewalWorld) => world.logged.map(({ message }) => message.replace(/^.*?: /, ''));
const isSound = (world: RenewalWorld) => isRenewalSound({ renewal: world.view() });
const files = (world: RenewalWorld) => readdirSync(world.identityDir).toSorted();

describe('the renewal of the device certificate without a visit', () => {
  it('is requested from beforeDays on, by the certificate alone, proved, installed, and leaves no old key', async () => {
    await using world = await startRenewalWorld({ daysLeft: 22 });
    const before = await world.installed();
    await world.rounds(2);
    expect(world.view()).toMatchObject({ status: 'not-due', candidate: null });
    expect(world.endpoint.requests()).toEqual([]);
    world.clock.setWall(new Date(world.notAfter.getTime() - 21 * DAY_MS));
    await world.rounds(2);
    expect(await world.installed()).not.toBe(before);
    expect(world.inUse()).toBe(await world.installed());
    const [request, ...more] = world.endpoint.requests();
    expect(more).toEqual([]);
    expect(request).toMatchObject({ status: 200, byCertificate: before });
    const body = JSON.parse(request?.body ?? '');
    expect(Object.keys(body)).toEqual(['serial', 'certificateRequest', 'renewal', 'device']);
    expect(body).toMatchObject({ serial, renewal: true });
    expect(files(world)).toEqual(['identity.json']);
    expect(world.view()).toMatchObject({ status: 'not-due', failed: 0, last: null });
    expect(messages(world)).toEqual([
      'requested',
      'a new certificate is kept, and not proved yet',
      'the broker has accepted the new certificate and its subscriptions',
      'the new certificate is installed',
    ]);
    expect(world.logged.every(({ fields }) => fields.audit === true)).toBe(true);
  });

  it('is off without its key in the site file, and what was begun before is removed', async () => {
    await using world = await startRenewalWorld();
    world.broker.accepts = () => 'unreachable';
    await world.rounds(2);
    expect(files(world)).toEqual(['identity.json', 'renewal.json']);
    world.restart(null);
    await world.rounds(2);
    expect(world.view()).toMatchObject({ status: 'off', candidate: null });
    expect(files(world)).toEqual(['identity.json']);
    expect(world.endpoint.requests()).toHaveLength(1);
  });

  it.each([
    ['enrolment-refused', 'ENROLMENT_REFUSED', 'not accepted for a renewal'],
    ['enrolment-busy', 'ENROLMENT_UNAVAILABLE', 'status 503'],
    ['enrolment-answer-lost', 'ENROLMENT_NOT_REACHABLE', 'connection closed'],
    ['enrolment-wrong-serial', 'CERTIFICATE_UNUSABLE', 'expected the serial number'],
    ['enrolment-expired', 'CERTIFICATE_UNUSABLE', 'not valid'],
    ['enrolment-wrong-key', 'CERTIFICATE_UNUSABLE', 'public key mismatch'],
    ['enrolment-wrong-region', 'CERTIFICATE_UNUSABLE', 'region mismatch'],
    ['enrolment-clock', 'CERTIFICATE_UNUSABLE', 'clock of this gateway is not plausible'],
    ['enrolment-html', 'ENROLMENT_BAD_ANSWER', 'HTML instead of JSON'],
    ['enrolment-untrusted', 'ENROLMENT_UNTRUSTED', 'not verified'],
  ] as const)(
    '%s changes nothing, is named, and is tried again after an hour, not before',
    async (fault, code, text) => {
      await using world = await startRenewalWorld();
      const before = world.identityText();
      world.faults.add(fault);
      await world.rounds(3);
      const tried = world.endpoint.requests().length;
      expect(world.view()).toMatchObject({ status: 'failing', failed: 1, candidate: null });
      expect(world.view().detail).toContain(text);
      expect((await world.record())?.last?.code).toBe(code);
      expect(isSound(world)).toBe(false);
      expect(messages(world)).toContain('failed');
      world.restart();
      await world.rounds(30, 60_000);
      expect(world.view().failed).toBe(1);
      expect(world.endpoint.requests()).toHaveLength(tried);
      expect(world.identityText()).toBe(before);
      world.faults.delete(fault);
      await world.rounds(40, 60_000);
      expect(world.view()).toMatchObject({ status: 'not-due', failed: 0, last: null });
      expect(world.identityText()).not.toBe(before);
    },
  );

  it('waits longer after each failure, up to a day, and with jitter', async () => {
    await using world = await startRenewalWorld({ daysLeft: 20 });
    world.faults.add('enrolment-busy');
    for (let days = 0; days < 10; days += 1) await world.rounds(24, 3_600_000);
    const at = world.logged.flatMap(({ message, fields }) => (/failed$/.test(message) ? [fields.nextAt] : []));
    // Half an hour to an hour first; later one half to a whole day.
    expect(at.length).toBeGreaterThan(10);
    expect(at.length).toBeLessThan(26);
    expect(Number(world.view().failed)).toBe(at.length);
  });

  it('of a certificate that ends too soon is named, and waits without a loop', async () => {
    await using world = await startRenewalWorld({ daysLeft: 20, beforeDays: 30 });
    world.faults.add('enrolment-short-lived');
    await world.rounds(100);
    expect(world.endpoint.requests()).toHaveLength(1);
    expect(world.view()).toMatchObject({ status: 'failing', candidate: null });
    expect(world.view().detail).toContain('within enrolment.renewal.beforeDays');
    await using longer = await startRenewalWorld({ daysLeft: 25, beforeDays: 30 });
    longer.faults.add('enrolment-short-lived');
    await longer.rounds(2);
    expect(longer.view().detail).toContain('not later than the present one');
  });

  it('goes back by itself from a certificate that the broker refuses, and begins anew with another key', async () => {
    await using world = await startRenewalWorld();
    const before = await world.installed();
    world.broker.accepts = (fingerprint) => (fingerprint === before ? 'accepted' : 'refused');
    await world.rounds(2);
    const kept = await world.record();
    expect(world.view()).toMatchObject({ status: 'not-proved', candidate: { failedProofs: 1 } });
    expect(isSound(world)).toBe(false);
    await world.rounds(12, 60_000);
    expect(world.view()).toMatchObject({ status: 'failing', candidate: null, failed: 1 });
    expect(await world.record()).toMatchObject({ key: null, candidate: null });
    expect(await world.installed()).toBe(before);
    expect(world.inUse()).toBe(before);
    world.broker.accepts = () => 'accepted';
    await world.rounds(70, 60_000);
    expect(await world.installed()).not.toBe(before);
    const keys = world.endpoint.requests().map(({ body }) => JSON.parse(body).certificateRequest);
    expect(new Set(keys).size).toBe(2);
    expect(kept?.key).not.toBeNull();
  });

  it('takes a broker that is not reached neither for a refusal nor for a proof, and not for ever', async () => {
    await using world = await startRenewalWorld();
    const before = await world.installed();
    world.broker.accepts = (fingerprint) => (fingerprint === before ? 'accepted' : 'unreachable');
    await world.rounds(20, 60_000);
    expect(world.view()).toMatchObject({ status: 'not-proved' });
    expect(world.view().candidate?.failedProofs).toBeGreaterThan(2);
    for (let minutes = 0; minutes < 24 * 60 && world.view().candidate !== null; minutes += 1) await world.round(60_000);
    expect(world.view()).toMatchObject({ candidate: null, failed: 1 });
    expect(await world.record()).toMatchObject({ key: null });
    expect(await world.installed()).toBe(before);
  });

  it('keeps the new certificate while the present one is not accepted either', async () => {
    await using world = await startRenewalWorld();
    world.broker.accepts = () => 'refused';
    await world.rounds(100, 60_000);
    expect(world.view()).toMatchObject({ status: 'not-proved', candidate: { failedProofs: 0 } });
    const before = await world.installed();
    // The cloud operator revokes the one before with the issue of the new one.
    world.broker.accepts = (fingerprint) => (fingerprint === before ? 'refused' : 'accepted');
    await world.rounds(31, 60_000);
    expect(await world.installed()).not.toBe(before);
  });

  it('is not begun while an enrolment runs, a release or another chassis holds it, or the state is of another robot', async () => {
    // Its first look has ended before the folder is locked.
    await using world = await startRenewalWorld({ daysLeft: 22 });
    await world.round();
    {
      await using _person = await lockFolder(world.identityDir);
      world.clock.setWall(new Date(world.notAfter.getTime() - 20 * DAY_MS));
      await world.rounds(3);
      expect(world.view()).toMatchObject({ status: 'due', failed: 0 });
      expect(world.view().detail).toContain('an enrolment runs');
    }
    world.holds.hold = 'release 2.0.0 is in progress (switched)';
    await world.rounds(3);
    expect(world.view().detail).toContain('release 2.0.0 is in progress');
    world.holds.hold = null;
    world.holds.claim = 'the state is that of SN-0001';
    await world.rounds(3);
    expect(world.view().detail).toContain('SN-0001');
    expect(world.endpoint.requests()).toEqual([]);
    world.holds.claim = null;
    world.broker.accepts = () => 'unreachable';
    await world.rounds(1);
    world.broker.accepts = () => 'accepted';
    world.holds.hold = 'release 2.0.0 is in progress (switched)';
    const before = await world.installed();
    await world.rounds(20, 60_000);
    expect(world.view()).toMatchObject({ status: 'not-proved' });
    expect(world.view().detail).toContain('release 2.0.0');
    expect(await world.installed()).toBe(before);
    world.holds.hold = null;
    await world.rounds(2);
    expect(await world.installed()).not.toBe(before);
  });

  it('cannot be made of an expired certificate, and says that a code is needed', async () => {
    await using world = await startRenewalWorld();
    world.clock.setWall(new Date(world.notAfter.getTime() + 1));
    await world.rounds(3);
    expect(world.view()).toMatchObject({ status: 'over', remedy: expect.stringContaining('gw enrol --renew') });
    expect(world.endpoint.requests()).toEqual([]);
  });

  it('is refused for a revoked certificate', async () => {
    await using world = await startRenewalWorld();
    await world.rounds(2);
    const first = await world.installed();
    world.endpoint.revoke(serial);
    const end = (await loadIdentity(world.identityDir))?.certificate.notAfter ?? '';
    world.clock.setWall(new Date(Date.parse(end) - DAY_MS));
    await world.rounds(2);
    expect(world.view()).toMatchObject({ status: 'failing', detail: expect.stringContaining('revoked') });
    expect(await world.installed()).toBe(first);
  });

  it('ends with the enrolment of a person, which goes before it', async () => {
    await using world = await startRenewalWorld();
    world.broker.accepts = () => 'unreachable';
    await world.rounds(2);
    expect(world.view().candidate).not.toBeNull();
    await enrol({
      ...{ url: world.endpoint.url, identityDir: world.identityDir, trust: world.authority.caPem, serial },
      ...{ device: { model: null, software: null }, renew: true, dialer: directDialer, clock: world.clock },
      readCode: async () => world.endpoint.newCode(serial),
      signal: new AbortController().signal,
    });
    const byPerson = await world.installed();
    expect(files(world)).toEqual(['identity.json']);
    world.broker.accepts = () => 'accepted';
    await world.rounds(3);
    expect(await world.installed()).toBe(byPerson);
    expect(world.view()).toMatchObject({ status: 'not-due', candidate: null });
  });

  it('notes that a certificate was given up as soon as the folder is free again, also over a restart', async () => {
    await using world = await startRenewalWorld();
    const before = await world.installed();
    world.broker.accepts = (fingerprint) => (fingerprint === before ? 'accepted' : 'refused');
    await world.rounds(2);
    {
      await using _person = await lockFolder(world.identityDir);
      await world.rounds(12, 60_000);
      expect(world.view()).toMatchObject({ candidate: null, failed: 1 });
      expect((await world.record())?.candidate).not.toBeNull();
    }
    await world.rounds(1);
    expect(await world.record()).toMatchObject({ key: null, candidate: null, failed: 1 });
    world.restart();
    await world.rounds(2);
    expect(world.view()).toMatchObject({ status: 'failing', candidate: null, failed: 1 });
  });

  it('says once that its folder is open to others, and sends nothing', async () => {
    await using world = await startRenewalWorld();
    chmodSync(world.identityDir, 0o755);
    await world.rounds(5);
    expect(world.view()).toMatchObject({ status: 'failing', detail: expect.stringContaining('identity') });
    expect(messages(world)).toEqual(['requested', 'not possible']);
    expect(world.endpoint.requests()).toEqual([]);
    chmodSync(world.identityDir, 0o700);
    await world.rounds(2);
    expect(world.view().status).toBe('not-due');
  });

  it('begins anew where its file is damaged, and never uses it', async () => {
    await using world = await startRenewalWorld();
    world.broker.accepts = () => 'unreachable';
    await world.rounds(2);
    writeFileSync(join(world.identityDir, 'renewal.json'), '{"format":"gw/renewal/1"');
    writeFileSync(join(world.identityDir, `.renewal.json.${crypto.randomUUID()}`), 'a draft that a kill has left');
    world.broker.accepts = () => 'accepted';
    world.restart();
    await world.rounds(3);
    expect(world.view()).toMatchObject({ status: 'not-due' });
    expect(messages(world)).toContain('what was begun cannot be used, and is removed');
    expect(files(world)).toEqual(['identity.json']);
  });

  it('leaves an identity that the broker accepts after a kill at any steps, and comes to its end', {
    tags: 'property',
  }, async () => {
    const faults = ['enrolment-answer-lost', 'enrolment-busy', 'enrolment-wrong-serial', null] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...renewalSteps), { minLength: 1, maxLength: 4 }),
        fc.constantFrom<(FaultName | null)[]>(...faults),
        // When the broker stops accepting the certificate before: never, or as soon as the new one has connected.
        fc.boolean(),
        async (kills, fault, isOldRevoked) => {
          await using world = await startRenewalWorld();
          const before = await world.installed();
          let isSeen = false;
          world.broker.accepts = (fingerprint) => {
            if (fingerprint !== before) isSeen = true;
            return fingerprint === before && isSeen && isOldRevoked ? 'refused' : 'accepted';
          };
          if (fault !== null) world.faults.add(fault);
          for (const step of kills) {
            world.kill(step);
            for (let index = 0; index < 8 && !world.isKilled(); index += 1) await world.round(60_000);
            // Whole, whatever was cut: it throws for half an identity.
            const identity = await loadIdentity(world.identityDir);
            const record = await world.record();
            const usable = [
              identity?.certificate.fingerprintSha256 ?? '',
              world.view().candidate?.fingerprintSha256 ?? '',
            ];
            expect(identity?.serial).toBe(serial);
            expect(usable.some((one) => one !== '' && world.broker.accepts(one) === 'accepted')).toBe(true);
            if (record?.candidate) expect(record.key).not.toBeNull();
            world.restart();
          }
          world.faults.clear();
          await world.rounds(80, 60_000);
          expect(await world.installed()).not.toBe(before);
          expect(world.inUse()).toBe(await world.installed());
          expect(world.view()).toMatchObject({ status: 'not-due', candidate: null });
          expect(existsSync(join(world.identityDir, 'renewal.json'))).toBe(false);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('is held by a release until its end, and by another chassis', () => {
    const connected = { kind: 'connected', tried: { address: 'h', port: 1 } } as never;
    const run = (phase: string) => ({ run: { toVersion: '2.0.0', phase } }) as never;
    for (const phase of ['downloading', 'unpacking', 'ready', 'switched', 'rolling-back']) {
      expect(renewalHold(connected, run(phase))).toContain(phase);
    }
    for (const phase of ['confirmed', 'rolled-back', 'rejected']) expect(renewalHold(connected, run(phase))).toBeNull();
    expect(renewalHold(connected, { run: null })).toBeNull();
    const other = { kind: 'not-connected', failure: 'wrong-device', foundSerial: 'SN-9' } as never;
    expect(renewalHold(other, null)).toContain('SN-9');
  });

  it('is never green where it was not proved', () => {
    const certificate = {
      status: 'ok',
      withinDays: null,
      daysLeft: 99,
      notAfter: null,
      detail: '',
      remedy: null,
    } as const;
    const none = {
      beforeDays: 21,
      candidate: null,
      failed: 0,
      last: null,
      nextAt: null,
      detail: '',
      remedy: null,
    } as const;
    const soundness = (['off', 'not-due', 'due', 'not-proved', 'failing', 'over'] as const).map((status) =>
      isCertificateSound({ ...certificate, renewal: { ...none, status } }),
    );
    expect(soundness).toEqual([true, true, true, false, false, false]);
  });
});
