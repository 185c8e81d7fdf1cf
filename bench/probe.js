// What somebody else sees while the gateway is attacked: requests at fixed times, each on a connection of its own.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLatched } from './answers.ts';

/**
 * One request on a fresh connection. Resolves always, with `status` null where no whole answer came; `what` says why,
 * `ms` is the time until the last byte or until it was given up.
 * @returns {Promise<{atMs: number, ms: number, status: number | null, text: string, headers: object, what: string}>}
 */
export function callOnce({ target, from, method = 'GET', path, body, headers, timeoutMs = 5_000 }) {
  const { promise, resolve } = Promise.withResolvers();
  const began = performance.now();
  const done = (answer, what) => {
    clearTimeout(timer);
    const { statusCode = null, headers: got = {}, text = '' } = answer ?? {};
    resolve({ atMs: began, ms: performance.now() - began, status: statusCode, text, headers: got, what });
  };
  const json = body === undefined ? undefined : JSON.stringify(body);
  const sent = { ...headers };
  if (json !== undefined) {
    sent['content-type'] = 'application/json';
    sent['content-length'] = Buffer.byteLength(json);
  }
  const asked = request({ ...target, method, path, agent: false, localAddress: from, headers: sent }, (response) => {
    const chunks = [];
    response.on('data', (chunk) => chunks.push(chunk));
    response.on('error', (error) => done(null, error.code ?? error.message));
    response.on('end', () => {
      const { statusCode, headers: got, complete } = response;
      if (!complete) done(null, 'cut off');
      else done({ statusCode, headers: got, text: Buffer.concat(chunks).toString('utf8') }, `status ${statusCode}`);
    });
  });
  const timer = setTimeout(() => {
    asked.destroy();
    done(null, `no answer in ${timeoutMs / 1000} s`);
  }, timeoutMs);
  asked.on('error', (error) => done(null, error.code ?? error.message));
  asked.end(json);
  return promise;
}

/** The same, judged: `ok` is what `judge(status, text)` says of a whole answer. */
export async function askOnce({ judge = is200, ...options }) {
  const answer = await callOnce(options);
  return { ...answer, ok: answer.status !== null && judge(answer.status, answer.text) };
}

const is200 = (status) => status === 200;

/** The session cookie of who signs in with the password; null where that is refused. */
export async function signIn(target, from, password) {
  const { status, headers } = await callOnce({
    target,
    from,
    method: 'POST',
    path: '/api/anmeldung',
    body: { password },
  });
  return status === 200 ? (headers['set-cookie']?.[0]?.split(';')[0] ?? null) : null;
}

/**
 * Signs in as a person does who is asked to wait: again after the time that the answer names. `ms` is the time until the
 * session, over all tries.
 */
export async function signInPatiently({ target, from, password, patienceMs }) {
  const began = performance.now();
  const leftMs = () => patienceMs - (performance.now() - began);
  for (;;) {
    const body = { password };
    const answer = await callOnce({ target, from, method: 'POST', path: '/api/anmeldung', body, timeoutMs: leftMs() });
    const ok = answer.status === 200;
    const waitMs = Number(answer.headers['retry-after'] ?? 0) * 1000;
    const isOver = ok || answer.status !== 429 || waitMs === 0 || waitMs > leftMs();
    if (isOver) {
      const what = answer.status === null ? `not within ${patienceMs / 1000} s` : answer.what;
      return { atMs: began, ms: performance.now() - began, ok, what };
    }
    await sleep(waitMs);
  }
}

/** A stop as a person's page sends it. */
export function askStop(target, from, timeoutMs) {
  const body = { reason: 'bench: a stop from a second address' };
  return askOnce({ target, from, method: 'POST', path: '/api/stopp', body, timeoutMs, judge: isLatched });
}

/**
 * Asks every `everyMs`, whether or not the earlier ones were answered: who waits for an answer before asking again
 * does not see how long it stays away.
 */
export function probeEvery(everyMs, ask) {
  const running = [];
  const timer = setInterval(() => running.push(ask()), everyMs);
  return {
    /** Ends the asking and waits for what is on its way. */
    async end() {
      clearInterval(timer);
      return await Promise.all(running);
    },
  };
}
