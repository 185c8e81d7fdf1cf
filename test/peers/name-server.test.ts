import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasNamespaces } from './peer.ts';

const child = fileURLToPath(new URL('./name-server-child.ts', import.meta.url));
// An address besides loopback, without which getent asks for no IPv4 address.
const script =
  'ip link set lo up && ip link add eth8 type veth peer name eth9 && ip addr add 192.0.2.1/24 dev eth8 && ip link set eth9 up && ip link set eth8 up && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';

/** What the lookups of a machine with this name server have found, by name. */
type Found = Record<string, { name: object; dial: object | null; check: object }>;

describe.runIf(hasNamespaces())('the resolver of this machine, with a name server', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-names-'));
  let found: Found;
  beforeAll(async () => {
    writeFileSync(join(dir, 'resolv.conf'), 'nameserver 127.0.0.1\n');
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['--net', '--mount', '--', 'sh', '-c', script, '_', join(dir, 'resolv.conf'), process.execPath, child],
      { env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, NO_COLOR: '1' }, timeout: 300_000 },
    );
    found = JSON.parse(stdout) as Found;
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('that never answers AAAA: the addresses at hand are used, and the check says so', () => {
    const half = { kind: 'resolved', addresses: ['127.0.0.1'], unanswered: 'AAAA' };
    expect(found['dropaaaa.test']).toMatchObject({ name: half, dial: { reached: true }, check: half });
  });

  it.each(['plain.test', 'servfailaaaa.test', 'nxaaaa.test'])('that answers: %s', (host) => {
    const whole = { kind: 'resolved', addresses: ['127.0.0.1'] };
    expect(found[host]).toMatchObject({ name: whole, dial: { reached: true }, check: whole });
    expect(found[host]?.check).not.toHaveProperty('unanswered');
  });

  it('that knows an IPv6 address only', () => {
    const only = { kind: 'resolved', addresses: ['::1'] };
    expect(found['v6only.test']).toMatchObject({ name: only, dial: { reached: true }, check: only });
  });

  it('that knows no such name', () => {
    expect(found['unknown.test']).toMatchObject({ name: { kind: 'unknown' }, check: { kind: 'unknown' } });
  });

  it('whose first answers are lost: the check asks again', () => {
    const whole = { kind: 'resolved', addresses: ['127.0.0.1'] };
    expect(found['firstlost.test']?.check).toMatchObject(whole);
  });
});
