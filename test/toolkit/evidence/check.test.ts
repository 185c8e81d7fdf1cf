import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/lib/lifecycle/index.ts';
import { directDialer } from '../../../src/lib/net/index.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { checkEvidence } from '../../../src/lib/toolkit/evidence/check.ts';

const context = { signal: new AbortController().signal, onProgress() {} };
const server = createServer((_request, response) => {
  response.end(JSON.stringify({ axbot_version: '1', device: { sn: 'SN1', model: 'm' }, robot: {} }));
});
let dir: string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-evidence-check-'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(dir, { recursive: true, force: true });
});

async function check(requireVerified = false) {
  const { port } = server.address() as AddressInfo;
  const text = [
    'name: x',
    `chassis: { host: 127.0.0.1, port: ${port}, serial: SN1 }`,
    `motion: { requireVerified: ${requireVerified} }`,
  ].join('\n');
  const site = parseSite(text, join(dir, 'site.yaml'));
  return checkEvidence({ site, dialer: directDialer, clock: systemClock }, { orders: ['move'] }, context);
}

describe('evidence check', () => {
  it('counts as verified only facts verified on this chassis, not those measured on another one', async () => {
    const { findings, verified } = await check();
    const angle = findings.find(({ id }) => id === 'angles.target-ori');
    expect(angle).toMatchObject({ verdict: 'ok', detail: expect.stringContaining('another device') });
    expect(verified).toBe(0);

    const record = { fact: 'angles.target-ori', value: true, serial: 'SN1', software: '1' };
    const about = { how: 'x', who: 'x', when: '2026-01-31T12:00:00Z' };
    await writeFile(join(dir, 'evidence.jsonl'), `${JSON.stringify({ ...record, ...about })}\n`);
    expect(await check()).toMatchObject({ verified: 1 });
  });

  it('is wrong for such a fact where the site file requires a verification on this chassis', async () => {
    const { findings } = await check(true);
    expect(findings.find(({ id }) => id === 'angles.target-ori')).toMatchObject({ verdict: 'wrong' });
  });
});
