// The view of a second client during an attack: requests at fixed times, each on a new connection.
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isLatched } from './answers.ts';

/**
 * One request on a new connection. Always resolves, with `status` null without a complete answer; `what` is the reason,
 * `ms` the time to the last byte or the timeout.
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
  const allHeaders = { ...headers };
  if (json !== undefined) {
    allHeaders['content-type'] = 'application/json';
    allHeaders['content-length'] = Buffer.byteLength(json);
  }
  const sent = request(
    { ...target, method, path, agent: false, localAddress: from, headers: allHeaders },
    (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', (error) => done(null, error.code ?? error.message));
      response.on('end', () => {
        const { statusCode, headers: got, complete } = response;
        if (!complete) done(null, 'cut off');
        else done({ statusCode, headers: got, text: Buffer.concat(chunks).toString('utf8') }, `status ${statusCode}`);
      });
    },
  );
  const timer = setTimeout(() => {
    sent.destroy();
    done(null, `no answer in ${timeoutMs / 1000} s`);
  }, timeoutMs);
  sent.on('error', (error) => done(null, error.code ?? error.message));
  sent.end(json);
  return promise;
}

/** The same with `ok`, the result of `judge(status, text)` for a complete answer. */
export async function probeOnce({ judge = is200, ...options }) {
  const answer = await callOnce(options);
  return { ...answer, ok: answer.status !== null && judge(answer.status, answer.text) };
}

const is200 = (status) => status === 200;

/** Signs in; the session cookie, or null when refused. */
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
 * Signs in with retries after the time in Retry-After. `ms` is the time to the session over all attempts.
 */
export async function signInWithRetries({ target, from, password, deadlineMs }) {
  const began = performance.now();
  const leftMs = () => deadlineMs - (performance.now() - began);
  for (;;) {
    const body = { password };
    const answer = await callOnce({ target, from, method: 'POST', path: '/api/anmeldung', body, timeoutMs: leftMs() });
    const ok = answer.status === 200;
    const waitMs = Number(answer.headers['retry-after'] ?? 0) * 1000;
    const isOver = ok || answer.status !== 429 || waitMs === 0 || waitMs > leftMs();
    if (isOver) {
      const what = answer.status === null ? `not within ${deadlineMs / 1000} s` : answer.what;
      return { atMs: began, ms: performance.now() - began, ok, what };
    }
    await sleep(waitMs);
  }
}

/** A stop as sent by the operator surface. */
export function requestStop(target, from, timeoutMs) {
  const body = { reason: 'bench: a stop from a second address' };
  return probeOnce({ target, from, method: 'POST', path: '/api/stopp', body, timeoutMs, judge: isLatched });
}

/**
 * Calls `probe` every `everyMs`, regardless of pending answers: waiting for an answer before the next request would hide
 * its delay.
 */
export function probeEvery(everyMs, probe) {
  const running = [];
  const timer = setInterval(() => running.push(probe()), everyMs);
  return {
    /** Stops and waits for pending requests. */
    async end() {
      clearInterval(timer);
      return await Promise.all(running);
    },
  };
}
