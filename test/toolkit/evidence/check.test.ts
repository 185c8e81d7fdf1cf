import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChassisIdentity } from '../../../src/lib/chassis/index.ts';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { factsOfOrder } from '../../../src/lib/motion/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { checkReliedFacts } from '../../../src/lib/toolkit/chassis/probe.ts';
import { checkEvidence, type OrderKind } from '../../../src/lib/toolkit/evidence/check.ts';
import { has, ownFolder } from '../kit.ts';

const context = { signal: new AbortController().signal, onProgress() {} };
let model = 'm';
const server = createServer((_request, response) => {
  response.end(JSON.stringify({ axbot_version: '1', device: { sn: 'SN1', model }, robot: {} }));
});
let dir: string;

beforeEach(async () => {
  model = 'm';
  dir = ownFolder();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
});

async function siteHere(requireVerified = false) {
  const { port } = server.address() as AddressInfo;
  const text = [
    'name: x',
    `chassis: { host: 127.0.0.1, port: ${port}, serial: SN1 }`,
    `motion: { requireVerified: ${requireVerified} }`,
  ].join('\n');
  return parseSite(text, join(dir, 'site.yaml'));
}

async function check(requireVerified = false, orders: OrderKind[] = ['move']) {
  const site = await siteHere(requireVerified);
  return checkEvidence({ site, dialer: directDialer, clock: systemClock }, { orders }, context);
}

describe('evidence check', () => {
  it('counts as verified only facts verified on this chassis, not those measured on another one', async () => {
    const { findings, verified } = await check();
    const angle = findings.find(({ id }) => id === 'angles.target-ori');
    expect(angle).toMatchObject({ verdict: 'ok', detail: has('another device') });
    expect(verified).toBe(0);

    const record = { fact: 'angles.target-ori', value: true, serial: 'SN1', software: '1' };
    const about = { how: 'x', who: 'x', when: '2026-01-31T12:00:00Z' };
    await writeFile(join(dir, 'evidence.jsonl'), `${JSON.stringify({ ...record, ...about })}\n`);
    expect(await check()).toMatchObject({ verified: 1 });
  });

  it.each([
    ['a chassis', 'm', 8, /^8 of 8 facts verified on this chassis$/],
    ['a simulator', 'simulated', 0, /^0 of 8 facts verified on this chassis; 8 verified on a simulator only$/],
  ])('counts the same as the probe of the chassis, with all facts recorded on %s', async (_what, name, count, text) => {
    model = name;
    const about = { serial: 'SN1', software: '1', how: 'x', who: 'x', when: '2026-01-31T12:00:00Z', value: true };
    const simulated = name === 'simulated' ? { simulated: true } : {};
    const facts = [...new Set(Object.values(factsOfOrder).flat())];
    const lines = facts.map((fact) => `${JSON.stringify({ fact, ...about, ...simulated })}\n`);
    await writeFile(join(dir, 'evidence.jsonl'), lines.join(''));
    const { verified, summary } = await check(false, ['move', 'dock', 'pose']);
    expect([verified, summary]).toEqual([count, has(text)]);
    const identity = { serial: 'SN1', software: '1', model: name, capabilities: {} };
    const { finding } = await checkReliedFacts(await siteHere(), identity as ChassisIdentity);
    expect(finding.verdict).toBe(count === 8 ? 'ok' : 'not-checked');
    if (count < 8) expect(finding.detail.startsWith(`${summary}:`)).toBe(true);
  });

  it('is wrong for such a fact where the site file requires a verification on this chassis', async () => {
    const { findings } = await check(true);
    expect(findings.find(({ id }) => id === 'angles.target-ori')).toMatchObject({ verdict: 'wrong' });
  });
});
