import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../waiting.ts';
import { run } from '../namespace.ts';
import { GATEWAY, nameOf } from '../segments.ts';

/** What the person of the day does at the tablet: gw looks in the log of the gateway for what an answer claims. */

const base = `http://${GATEWAY}:5173`;

/** Runs a script in the network of the tablet: what comes from the gateway itself is no act of a person. */
async function atTheTablet(script: string): Promise<string> {
  const { stdout, stderr, code } = await run(nameOf('tablet'), ['--input-type=module', '-e', script]);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

const signIn = (dir: string, { wrongFirst = false } = {}) => {
  const password = readFileSync(join(dir, 'robot', 'secrets', 'device-password.txt'), 'utf8').trim();
  return `
    const headers = { 'content-type': 'application/json' };
    const post = (path, body, more = {}) =>
      fetch('${base}' + path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
    const wrong = ${wrongFirst} ? await post('/api/anmeldung', { password: 'not the one' }) : { status: 401 };
    const right = await post('/api/anmeldung', { password: ${JSON.stringify(password)} });
    const cookie = right.headers.get('set-cookie').split(';')[0];
    if (wrong.status !== 401 || right.status !== 200) throw new Error([wrong.status, right.status].join());`;
};

/** A wrong and the right password, and a media file. */
export async function signInAndUpload(dir: string): Promise<void> {
  await atTheTablet(`${signIn(dir, { wrongFirst: true })}
    const body = new FormData();
    body.append('file', new Blob(['picture']), 'hello.txt');
    const sent = await fetch('${base}/api/medien', { method: 'POST', headers: { cookie }, body });
    if (sent.status !== 201) throw new Error('upload ' + sent.status);`);
}

/** A stop, and its end, which is refused until the poses of the robot show the standstill. */
export async function stopAndClear(dir: string): Promise<void> {
  await atTheTablet(`${signIn(dir)}
    const stopped = await post('/api/stopp', {});
    if (stopped.status !== 200) throw new Error('stop ' + stopped.status);`);
  const clear = () =>
    atTheTablet(`${signIn(dir)}
      const cleared = await fetch('${base}/api/stopp', { method: 'DELETE', headers: { cookie } });
      process.stdout.write(String(cleared.status));`);
  await until(clear, (status) => status === '200');
}

/** Waits until the gateway says of its link to the chassis whether it is connected. */
export async function untilLink(isConnected: boolean): Promise<void> {
  const kind = () =>
    atTheTablet(`
      const { link } = await (await fetch('${base}/api/chassis/state')).json();
      process.stdout.write(link.kind);`);
  await until(kind, (now) => (now === 'connected') === isConnected);
}
