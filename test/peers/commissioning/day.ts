import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import type { CertificateAuthority } from '../../../src/lib/sim/cloud/certificates.ts';
import { dock, stations } from '../../../src/lib/sim/index.ts';
import { writeTabletFiles } from '../../../src/lib/sim/site-files.ts';
import { gwBinary } from '../../e2e/gw.ts';
import { inside, run } from '../namespace.ts';
import {
  BROKER,
  CHASSIS,
  ENROLMENT,
  GATEWAY,
  macOf,
  nameOf,
  OFFICE,
  ROBOT,
  type Side,
  STORAGE,
  TABLET,
} from '../segments.ts';
import { makeKey } from '../sshd.ts';

export const SERIAL = 'SIM-0001';
export const ALPN = 'x-test-mqtt-ca';

/** A machine that gw runs on: its namespace, its folder with the site file, and the home of its user. */
export interface Machine {
  readonly side: Side;
  readonly dir: string;
  readonly home: string;
  readonly site: string;
}

/** Its folders, an SSH key, and the site file with the files that it names, but no identity. */
export async function prepare(
  dir: string,
  side: Side,
  { authority, robot }: { readonly authority: CertificateAuthority; readonly robot: string },
): Promise<Machine> {
  const own = join(dir, side);
  const home = join(own, 'home');
  mkdirSync(join(home, '.ssh'), { recursive: true, mode: 0o700 });
  makeKey(join(home, '.ssh', 'id_ed25519'));
  mkdirSync(join(own, 'secrets'), { mode: 0o700 });
  const secret = (name: string, text: string) => writeFileSync(join(own, 'secrets', name), text, { mode: 0o600 });
  secret('password', readFileSync(join(robot, 'secrets', 'device-password'), 'utf8'));
  secret('heartbeat', `${randomBytes(32).toString('hex')}\n`);
  writeFileSync(join(own, 'ca.pem'), authority.caPem);
  await writeTabletFiles({ dir: own, model: 'GW-TAB-10', operatorPort: 5173 });
  const profile = readFileSync(join(own, 'kiosk.yaml'), 'utf8');
  const kiosk = {
    ...parse(profile),
    startPage: `http://${GATEWAY}:5173/`,
    network: { ssid: 'gw-robots', segment: ROBOT },
  };
  writeFileSync(join(own, 'kiosk.yaml'), stringify(kiosk));
  const site = join(own, 'site.yaml');
  // The machine of the customer's IT from which the segments are checked, as agreed with them.
  const devices = [{ name: 'Host of the IT', kind: 'other', host: OFFICE, port: 22 }];
  writeFileSync(
    site,
    stringify({
      name: 'Commissioning',
      chassis: { host: CHASSIS, serial: SERIAL, mac: macOf('chassis') },
      operator: { passwordFile: 'secrets/password' },
      fleet: { keyFile: 'secrets/heartbeat', robots: [SERIAL] },
      enrolment: { url: `https://${ENROLMENT}`, caFile: 'ca.pem' },
      cloud: {
        mqtt: { host: BROKER, alpn: ALPN },
        storageUrl: `https://${STORAGE}`,
        tunnel: { host: STORAGE },
        caFile: 'ca.pem',
      },
      tablet: { host: TABLET },
      network: { robotSegment: ROBOT, gateway: GATEWAY, gatewayMac: macOf('gateway'), devices },
      stations,
      dock,
      tours: { acceptance: { stations: ['A'] } },
    }),
  );
  return { side, dir: own, home, site };
}

/** The result of a command of gw with --json. */
export interface CommandResult<T = Record<string, unknown>> {
  readonly code: number | null;
  readonly ok: boolean;
  readonly data: T;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly warnings: readonly string[];
}

/** Runs gw on a machine with its site file, to its end. */
export async function gw<T = Record<string, unknown>>(
  { side, home, site }: Machine,
  words: readonly string[],
): Promise<CommandResult<T>> {
  const args = [gwBinary, ...words, '--site', site, '--json'];
  return commandResultOf(await run(nameOf(side), args, { env: { HOME: home } }));
}

/** Parses the envelope; any other output fails the test with the full output. */
export function commandResultOf<T>(ended: {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}): CommandResult<T> {
  try {
    return { ...(JSON.parse(ended.stdout) as CommandResult<T>), code: ended.code };
  } catch {
    throw new Error(`gw ended with ${ended.code}: ${ended.stdout}${ended.stderr}`);
  }
}

/** A program of a test inside a namespace, once it reports that it is ready. */
export async function startSide(side: Side, program: URL, words: readonly string[], input = '') {
  const file = fileURLToPath(program);
  const child = inside(nameOf(side), ['--no-warnings', file, ...words], { input });
  try {
    await child.untilOutput('ready');
    return child;
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw error;
  }
}
