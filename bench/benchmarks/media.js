import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { freePort } from '../../test/free-port.ts';
import { median, residentMb, startChild } from '../measure.js';
import { startServe, startSimulator } from '../robot.js';

const BYTES = 200 * 1_000_000;
const ROUNDS = 11;
const AT_ONCE = 20;
const MAX_GROWTH_MB = 20;
/** In memory where there is such a file system: the programs are compared, not how they treat a disk. */
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export default {
  title: `Media of ${BYTES / 1e6} MB: gw serve against nginx (one worker; a file with sendfile, and a PUT of its WebDAV module)`,
  peers: [
    ['nginx', 'nginx'],
    ['curl', 'curl'],
  ],
  async run() {
    const dir = mkdtempSync(join(parent, 'gw-bench-media-'));
    try {
      return await measure(dir);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

async function measure(dir) {
  const media = join(dir, 'media');
  mkdirSync(media);
  const file = join(dir, 'film.bin');
  writeFileSync(file, Buffer.alloc(BYTES, 'y'));
  writeFileSync(join(media, 'film.bin'), readFileSync(file));
  await using robot = await startSimulator(['--with', 'password']);
  await using serve = await startServe(robot.dir, { site: siteOf(robot, media) });
  const nginxPort = await freePort();
  await using _nginx = await startNginx(dir, media, nginxPort);
  const gw = `http://127.0.0.1:${robot.operatorPort}/api/medien`;
  const nginx = `http://127.0.0.1:${nginxPort}`;
  const cookie = await signIn(robot);
  const ways = {
    down: { gw: [`${gw}/film.bin`], nginx: [`${nginx}/film.bin`] },
    up: {
      gw: ['-H', `Cookie: ${cookie}`, '-F', `file=@${file};filename=up.bin`, gw],
      nginx: ['-T', file, `${nginx}/up.bin`],
    },
  };
  // Before any upload, whose memory the downloads would find ready.
  transfer('down', ways.down.gw);
  const before = residentMb(serve.pid);
  const grownMb = Math.max(...(await peakWhile(serve.pid, () => atOnce(ways.down.gw)))) - before;
  const samples = { down: { gw: [], nginx: [] }, up: { gw: [], nginx: [] } };
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const [way, sides] of Object.entries(ways)) {
      for (const [side, argv] of Object.entries(sides)) {
        const rate = transfer(way, argv);
        if (round >= 0) samples[way][side].push(rate);
      }
    }
  }
  const ratio = (way) => median(samples[way].gw.map((rate, round) => rate / samples[way].nginx[round]));
  const row = (name, way, side) => ({
    name,
    median: median(samples[way][side]),
    unit: 'MB/s',
    samples: samples[way][side],
  });
  const figure = (name, value, least) => ({
    name,
    value: `${value.toFixed(2)} ×`,
    target: `at least ${least} ×`,
    holds: value >= least,
  });
  return {
    rows: [
      row('gw serve, download', 'down', 'gw'),
      row('nginx, download', 'down', 'nginx'),
      row('gw serve, upload', 'up', 'gw'),
      row('nginx, upload', 'up', 'nginx'),
    ],
    figures: [
      figure('download, gw / nginx', ratio('down'), 0.8),
      figure('upload, gw / nginx', ratio('up'), 0.5),
      {
        name: `memory, ${AT_ONCE} downloads at once`,
        value: `+${grownMb.toFixed(0)} MB`,
        target: `at most +${MAX_GROWTH_MB} MB`,
        holds: grownMb <= MAX_GROWTH_MB,
      },
    ],
    servedBy: serve.pid,
  };
}

/** Megabytes per second of one transfer, as the client measures them. */
function transfer(way, argv) {
  const written = way === 'down' ? '%{http_code} %{size_download}' : '%{http_code} %{size_upload}';
  const run = spawnSync('curl', ['-s', '-o', '/dev/null', '-w', `${written} %{time_total}`, ...argv], {
    encoding: 'utf8',
  });
  const [status, bytes, seconds] = run.stdout.split(' ').map(Number);
  if (status < 200 || status > 299 || bytes < BYTES) throw new Error(`curl ${argv.join(' ')}: ${run.stdout}`);
  return BYTES / 1e6 / seconds;
}

async function atOnce(argv) {
  const ended = Array.from({ length: AT_ONCE }, () => {
    const child = spawn('curl', ['-s', '-f', '-o', '/dev/null', ...argv], { stdio: 'ignore' });
    return new Promise((resolve, reject) => {
      child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`a download ended with ${code}`))));
    });
  });
  await Promise.all(ended);
}

async function peakWhile(pid, work) {
  const samples = [residentMb(pid)];
  const timer = setInterval(() => samples.push(residentMb(pid)), 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return samples;
}

function siteOf({ dir }, media) {
  const site = parse(readFileSync(join(dir, 'site.yaml'), 'utf8'));
  site.operator.mediaDir = media;
  site.disk = { ...site.disk, mediaMb: 2_000, reserveMb: 10 };
  const path = join(dir, 'site-media.yaml');
  writeFileSync(path, stringify(site));
  return path;
}

async function signIn({ dir, operatorPort }) {
  const password = readFileSync(join(dir, 'secrets', 'device-password.txt'), 'utf8').trim();
  const reply = await fetch(`http://127.0.0.1:${operatorPort}/api/anmeldung`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ password }),
  });
  if (!reply.ok) throw new Error(`sign-in answered ${reply.status}`);
  return reply.headers.get('set-cookie').split(';')[0];
}

async function startNginx(dir, media, port) {
  const home = join(dir, 'nginx');
  mkdirSync(home);
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${home}/${name};`)
    .join('\n');
  writeFileSync(
    join(home, 'nginx.conf'),
    `user root;
worker_processes 1;
pid ${home}/nginx.pid;
error_log ${home}/error.log warn;
events { worker_connections 512; }
http {
  access_log off;
  sendfile on;
  client_max_body_size 300m;
  ${paths}
  server {
    listen 127.0.0.1:${port};
    root ${media};
    dav_methods PUT;
  }
}
`,
  );
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const script = `nginx -p ${home} -c ${home}/nginx.conf -e ${home}/error.log -g 'daemon off;' & pid=$!; trap 'kill $pid; wait $pid; exit 0' TERM; sleep 0.5; echo ready; wait $pid`;
  return startChild('sh', ['-c', script], (line) => line === 'ready', 10_000, { env });
}
