import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/free-port.ts';
import { median, startChild } from '../measure.js';
import { startServe, startSimulator } from '../robot.js';

const CONNECTIONS = 50;
const SECONDS = 3;
const ROUNDS = 9;
/** A daemon runs for weeks, so the warm-up lasts until the request path is compiled. */
const WARM_UP_SECONDS = 5;

export default {
  title: `Device info, requests per second with ${CONNECTIONS} connections: gw serve against nginx (one worker), both proxying the same simulator`,
  peers: [
    ['nginx', 'nginx'],
    ['wrk', 'wrk'],
  ],
  async run() {
    await using robot = await startSimulator();
    await using serve = await startServe(robot.dir);
    const nginxPort = await freePort();
    await using _nginx = await startNginx(robot, nginxPort);

    const urls = {
      nginx: `http://127.0.0.1:${nginxPort}/api/chassis/device/info`,
      gw: `http://127.0.0.1:${robot.operatorPort}/api/chassis/device/info`,
    };
    await sameAnswer(urls);
    const samples = { nginx: [], gw: [] };
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const name of ['nginx', 'gw']) {
        const rate = load(urls[name], round < 0 ? WARM_UP_SECONDS : SECONDS);
        if (round >= 0) samples[name].push(rate);
      }
    }
    // Alternating, so that a drift of the machine's speed affects both.
    const ratio = median(samples.gw.map((rate, round) => rate / samples.nginx[round]));
    return {
      rows: [
        { name: 'gw serve', median: median(samples.gw), unit: 'req/s', samples: samples.gw },
        { name: 'nginx, one worker', median: median(samples.nginx), unit: 'req/s', samples: samples.nginx },
      ],
      figures: [{ name: 'gw / nginx', value: `${ratio.toFixed(2)} ×`, target: 'at least 1.0 ×', holds: ratio >= 1 }],
      servedBy: serve.pid,
    };
  },
};

/** Only a proxy with the same answer is a valid peer. */
async function sameAnswer(urls) {
  const [a, b] = await Promise.all(Object.values(urls).map(async (url) => (await fetch(url)).json()));
  if (a.device?.sn === undefined || a.device.sn !== b.device?.sn)
    throw new Error('the two proxies do not answer alike');
}

function load(url, seconds) {
  const run = spawnSync('wrk', ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, url], { encoding: 'utf8' });
  if (/Non-2xx/.test(run.stdout) || /Socket errors/.test(run.stdout))
    throw new Error(`errors under load: ${run.stdout}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(run.stdout)[1]);
}

async function startNginx({ dir, chassisPort }, port) {
  const home = join(dir, 'nginx');
  mkdirSync(home, { recursive: true });
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${home}/${name};`)
    .join('\n');
  writeFileSync(
    join(home, 'nginx.conf'),
    `worker_processes 1;
pid ${home}/nginx.pid;
error_log ${home}/error.log warn;
events { worker_connections 512; }
http {
  access_log off;
  ${paths}
  upstream chassis { server 127.0.0.1:${chassisPort}; keepalive 64; keepalive_requests 1000000; }
  server {
    listen 127.0.0.1:${port} backlog=511;
    keepalive_requests 1000000;
    location = /api/chassis/device/info {
      proxy_pass http://chassis/device/info;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`,
  );
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  const script = `nginx -p ${home} -c ${home}/nginx.conf -e ${home}/error.log -g 'daemon off;' & pid=$!; trap 'kill $pid; wait $pid; exit 0' TERM; sleep 0.5; echo ready; wait $pid`;
  return startChild('sh', ['-c', script], (line) => line === 'ready', 10_000, { env });
}
