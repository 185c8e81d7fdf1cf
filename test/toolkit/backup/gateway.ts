import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../src/lib/cloud/outbox/store/store.ts';
import { loadSite, type Site } from '../../../src/lib/site/index.ts';
import { type BackupOptions, backUpGateway } from '../../../src/lib/toolkit/gateway/backup.ts';
import { type RestoreOptions, restoreGateway } from '../../../src/lib/toolkit/gateway/restore.ts';

/** One scratch folder for a test file. */
export function scratchFolder() {
  const scratch = mkdtempSync(join(tmpdir(), 'gw-backup-'));
  return {
    scratch,
    fresh: () => mkdtempSync(join(scratch, 'g-')),
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

export const PASSPHRASE = 'four words that nobody knows';
export const context = { signal: new AbortController().signal, onProgress: () => {} };
export const NOW = new Date('2026-11-30T12:00:00.000Z');

/** Every key of the site file that names a file. */
export const SITE = `name: Lobby, robot 7
chassis: { host: 127.0.0.1, serial: SN-7, secretFile: secrets/chassis }
operator: { passwordFile: secrets/password }
fleet: { keyFile: secrets/heartbeat, acceptedKeyFiles: [secrets/heartbeat-next] }
enrolment: { url: 'https://enrol.example.com', caFile: ca/enrolment.pem }
cloud:
  mqtt: { alpn: x-example-mqtt-ca, caFile: ca/broker.pem }
  caFile: ca/cloud.pem
  release: { keyFile: release-key.pem }
tablet: { host: 127.0.0.1 }
time: { urls: ['https://a.example.com', 'https://b.example.com'], caFile: ca/time.pem }
`;

const FILES: Readonly<Record<string, string>> = {
  'secrets/chassis': 'secret-of-the-chassis',
  'secrets/password': 'secret-hash',
  'secrets/password.former': 'secret-former',
  'secrets/heartbeat': 'secret-heartbeat',
  'secrets/heartbeat-next': 'secret-next',
  'identity/key.pem': 'secret-key',
  'identity/identity.json': '{"serial":"SN-7","secret":1}',
  'ca/enrolment.pem': 'ca 1',
  'ca/broker.pem': 'ca 2',
  'ca/cloud.pem': 'ca 3',
  'ca/time.pem': 'ca 4',
  'release-key.pem': 'public key',
  'kiosk.yaml': 'kiosk: 1',
  'our-lobby.yaml': 'name: our-lobby\nsteps: []\n',
  'notes.yaml': 'password: secret-of-a-person\n',
  'evidence.jsonl': '{"fact":1}\n',
  'evidence.trials/one.json': '{}',
  'media/film.mp4': 'film',
  'releases/1.2.3/gw': 'a release',
  'state/stop-latch.json': '{"format":"gw/stop-latch/1","latched":false,"reason":null,"by":null,"since":null}\n',
  'state/heartbeat-boots.json': '{"format":"gw/heartbeat-boots/1","boots":41}\n',
  'state/heartbeat-received.json': '{}',
  'state/robot.json': '{"format":"gw/state-of-robot/1","serial":"SN-7","isWhole":true}\n',
  'state/tablet.json': '{}',
  'state/adb/adbkey': 'secret-adb',
  'state/local/left': 'of the running process',
  'state/incidents/one.jsonl': '{"incident":1}\n{"half',
  'state/deliveries/2026-11-29.jsonl': '{"format":"gw/delivery/1"}\n',
  'state/support/head.json': '{"seq":1}',
  'state/support/sessions.jsonl': '{"seq":1}\n',
  'state/records/premises.json': '{"record":1}',
  'state/checklist-runs/run.jsonl': '{"begun":1}\n',
  'state/map-backups/maps.tar.gz': 'maps',
  'state/replacement-chassis.json': '{"words":[]}',
  'state/robots/SN-1/failed-drive.json': '{}',
};

/** A gateway in a folder, with a message in its outbox. */
export async function makeGateway(dir: string, more: Readonly<Record<string, string>> = {}): Promise<Site> {
  for (const [path, text] of Object.entries({ 'site.yaml': SITE, ...FILES, ...more })) put(dir, path, text);
  mkdirSync(join(dir, 'state/cloud/outbox'), { recursive: true });
  const store = openOutbox(join(dir, 'state/cloud/outbox/outbox.db'));
  append(store, 3);
  store.close();
  return await loadSite(join(dir, 'site.yaml'));
}

export function put(dir: string, path: string, text: string | Uint8Array): void {
  mkdirSync(join(dir, path, '..'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, path), text, { mode: 0o600 });
}

export const openOutbox = (path: string, serial = 'SN-7') =>
  openStore({ path, maxBytes: 4_000_000, serial, recordTopic: `gw/${serial}/r`, shadowTopic: `gw/${serial}/shadow` });

let ids = 0;
export function append(store: ReturnType<typeof openOutbox>, count: number, serial = 'SN-7'): void {
  store.append(
    Array.from({ length: count }, () => ({
      ...{ class: 'record' as const, topic: `gw/${serial}/r`, bodyJson: '{"a":1}', idField: null },
      ...{ id: `id-${++ids}`, atMs: NOW.getTime() + ids },
    })),
  );
}

export const backUp = (site: Site, out: string, options: Partial<BackupOptions> = {}) =>
  backUpGateway(
    {
      ...{
        site,
        out,
        passphrase: null,
        withMedia: false,
        gwVersion: '1.0.0',
        host: 'old-gateway',
        now: NOW,
        workFactor: 2,
      },
      ...options,
    },
    context,
  );

export const restore = (
  archive: string,
  into: string,
  options: Partial<RestoreOptions> = {},
  disk?: Parameters<typeof restoreGateway>[2],
) =>
  restoreGateway(
    {
      ...{ archive, into, passphrase: async () => null, write: true, moveAside: false, alsoIn: [] },
      ...{ now: new Date(NOW.getTime() + 3_600_000), look: async () => null },
      ...options,
    },
    context,
    disk,
  );

/** Every file below a folder with its content, and its mode. */
export function tree(dir: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (statSync(join(dir, path)).isFile()) found[path] = readFileSync(join(dir, path), 'latin1');
  }
  return found;
}
