import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateAuthority, IssuedPair } from '../../src/lib/sim/cloud/certificates.ts';
import { freePort } from '../free-port.ts';
import { startProcess } from '../process.ts';
import { until } from '../waiting.ts';

const path = `${process.env.PATH}:/usr/sbin:/sbin`;
const STREAM_MODULE = '/usr/lib/nginx/modules/ngx_stream_module.so';

/** Whether the stream module of nginx, which supports `ssl_alpn`, is installed. */
export function hasNginxStream(): boolean {
  return existsSync(STREAM_MODULE);
}

/** Where such a program runs: an address, optional fixed ports, and an optional namespace. */
export interface Place {
  readonly host: string;
  readonly port?: number;
  readonly side?: string;
}

const here: Place = { host: '127.0.0.1' };

export interface PeerProgram extends AsyncDisposable {
  readonly port: number;
  readonly pid: number;
  /** Its output. */
  output(): string;
}

/** Whether a socket listens on this port in its namespace; read from the kernel, without a connection. */
function isListening(port: number, { side }: Place): boolean {
  const [program, ...words] = inNamespace(side, ['ss', '-Htln', 'sport', '=', `:${port}`]);
  return execFileSync(program, words, { env: { PATH: path }, encoding: 'utf8' }).trim() !== '';
}

function inNamespace(side: string | undefined, words: readonly [string, ...string[]]): [string, ...string[]] {
  return side === undefined ? [...words] : ['ip', 'netns', 'exec', side, ...words];
}

/** Starts a program and waits until it listens; ended by its pid. */
export async function startPeer(
  words: readonly [string, ...string[]],
  port: number,
  place: Place = here,
): Promise<PeerProgram> {
  const [program, ...args] = inNamespace(place.side, words);
  const started = startProcess(program, args, { env: { PATH: path } });
  const { pid } = started.child;
  if (pid === undefined) throw new Error(`${program} cannot be started`);
  const output = () => `${started.stdout()}${started.stderr()}`;
  const peer: PeerProgram = { port, pid, output, [Symbol.asyncDispose]: started[Symbol.asyncDispose] };
  await until(
    () => started.hasEnded() || isListening(port, place),
    (is) => is,
  );
  if (started.hasEnded()) throw new Error(`${program} ended: ${output()}`);
  return peer;
}

/** Files of a certificate and its key in a folder of their own. */
function writePair(dir: string, name: string, pair: IssuedPair, authority: CertificateAuthority) {
  const folder = join(dir, name);
  mkdirSync(folder, { recursive: true });
  const files = { ca: join(folder, 'ca.pem'), certificate: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  writeFileSync(files.ca, authority.caPem);
  writeFileSync(files.certificate, pair.certificatePem);
  writeFileSync(files.key, pair.keyPem, { mode: 0o600 });
  return files;
}

/**
 * Debian's mosquitto: TLS with client certificates on one port, plain MQTT for nginx on another. A persistent one keeps
 * its sessions over a restart in the same folder.
 */
export async function startMosquitto(
  dir: string,
  authority: CertificateAuthority,
  place: Place = here,
  about: { readonly plainPort?: number; readonly isPersistent?: boolean } = {},
): Promise<PeerProgram & { readonly plainPort: number }> {
  const [port, plainPort] = [place.port ?? (await freePort()), about.plainPort ?? (await freePort())];
  const files = writePair(dir, 'mosquitto', await authority.issueServer({ names: [place.host] }), authority);
  const config = join(dir, 'mosquitto', 'mosquitto.conf');
  writeFileSync(
    config,
    `per_listener_settings true
persistence ${about.isPersistent === true}
persistence_location ${join(dir, 'mosquitto')}/
max_queued_messages 0
user root
log_dest stderr
log_type all
listener ${plainPort} 127.0.0.1
allow_anonymous true
listener ${port} ${place.host}
cafile ${files.ca}
certfile ${files.certificate}
keyfile ${files.key}
require_certificate true
use_identity_as_username true
allow_anonymous false
`,
  );
  const peer = await startPeer(['mosquitto', '-c', config], port, place);
  return { ...peer, plainPort };
}

/** nginx's stream module with `ssl_alpn` in front of a plain port, as a broker on 443 is. */
export async function startAlpnFront(
  dir: string,
  authority: CertificateAuthority,
  { alpn, to }: { readonly alpn: string; readonly to: number },
  place: Place = here,
): Promise<PeerProgram> {
  const port = place.port ?? (await freePort());
  const files = writePair(dir, 'nginx', await authority.issueServer({ names: [place.host] }), authority);
  const home = join(dir, 'nginx');
  const config = join(home, 'nginx.conf');
  writeFileSync(
    config,
    `load_module ${STREAM_MODULE};
worker_processes 1;
daemon off;
user root;
pid ${home}/nginx.pid;
error_log ${home}/error.log info;
events { worker_connections 64; }
stream {
  server {
    listen ${place.host}:${port} ssl;
    ssl_certificate ${files.certificate};
    ssl_certificate_key ${files.key};
    ssl_client_certificate ${files.ca};
    ssl_verify_client on;
    ssl_alpn ${alpn};
    proxy_pass 127.0.0.1:${to};
  }
}
`,
  );
  return startPeer(['nginx', '-p', home, '-c', config, '-e', join(home, 'error.log')], port, place);
}

/** nginx as an HTTPS server with a certificate of this CA, as of a storage or a proxy. */
export async function startWeb(
  dir: string,
  name: string,
  authority: CertificateAuthority,
  place: Place = here,
  about: { readonly sendsRoot?: boolean; readonly server?: (files: { readonly ca: string }) => string } = {},
): Promise<PeerProgram> {
  const port = place.port ?? (await freePort());
  const pair = await authority.issueServer({ names: [place.host] });
  const certificatePem = about.sendsRoot === true ? `${pair.certificatePem}${authority.caPem}` : pair.certificatePem;
  const files = writePair(dir, name, { ...pair, certificatePem }, authority);
  const home = join(dir, name);
  const config = join(home, 'nginx.conf');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${home}/${kind};`,
  );
  writeFileSync(
    config,
    `worker_processes 1;
daemon off;
user root;
pid ${home}/nginx.pid;
error_log ${home}/error.log info;
events { worker_connections 64; }
http {
  access_log off;
  ${folders.join('\n  ')}
  server {
    listen ${place.host}:${port} ssl;
    ssl_certificate ${files.certificate};
    ssl_certificate_key ${files.key};
    ${about.server?.(files) ?? 'location / { return 403; }'}
  }
}
`,
  );
  return startPeer(['nginx', '-p', home, '-c', config, '-e', join(home, 'error.log')], port, place);
}
