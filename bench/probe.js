// What somebody else sees while the gateway is attacked: requests at fixed times, each on a connection of its own.
import { request } from 'node:http';
import { percentile } from './figures.ts';

/**
 * One request on a fresh connection. Resolves always: `ok` is what `judge(status, body)` says of a whole answer,
 * `what` says what came instead, `ms` is the time until the last byte or until it was given up.
 */
export function askOnce({ target, from, method = 'GET', path, body, timeoutMs = 5_000, headers, judge = is200 }) {
  const { promise, resolve } = Promise.withResolvers();
  const began = performance.now();
  const done = (ok, what) => {
    clearTimeout(timer);
    resolve({ atMs: began, ms: performance.now() - began, ok, what });
  };
  const text = body === undefined ? undefined : JSON.stringify(body);
  const asked = request(
    {
      ...target,
      method,
      path,
      agent: false,
      localAddress: from,
      headers: {
        ...headers,
        ...(text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      },
    },
    (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', (error) => done(false, error.code ?? error.message));
      response.on('end', () => {
        const said = Buffer.concat(chunks).toString('utf8');
        const ok = response.complete && judge(response.statusCode, said, response.headers);
        done(ok, ok ? 'fine' : `status ${response.statusCode}`);
      });
    },
  );
  const timer = setTimeout(() => {
    asked.destroy();
    done(false, `no answer in ${timeoutMs / 1000} s`);
  }, timeoutMs);
  asked.on('error', (error) => done(false, error.code ?? error.message));
  asked.end(text);
  return promise;
}

const is200 = (status) => status === 200;

/** An answered stop says that the stop is latched; any other answer is none. */
export function isLatched(status, body) {
  if (status !== 200) return false;
  try {
    return JSON.parse(body).stop.latched === true;
  } catch {
    return false;
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

/** Of one row of requests. One that failed was never answered, however quickly it was refused. */
export function summary(samples) {
  const times = samples.map(({ ok, ms }) => (ok ? ms : Number.POSITIVE_INFINITY));
  const failures = samples.filter(({ ok }) => !ok);
  const why = {};
  for (const { what } of failures) why[what] = (why[what] ?? 0) + 1;
  return {
    count: samples.length,
    p50: percentile(times, 50),
    p99: percentile(times, 99),
    most: percentile(times, 100),
    failures: failures.length,
    why,
  };
}
