import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { unpackTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { encodeIncident } from '../../../src/lib/incident/incident-file.ts';
import { localSocketPath } from '../../../src/lib/site/index.ts';
import { thisMachine } from '../../../src/lib/toolkit/doctor/doctor.ts';
import { collectBundle } from '../../../src/lib/toolkit/support/bundle.ts';
import { sampleBody, sampleHead } from '../../incident/incidents.ts';
import { context, httpServer, ownFolder } from '../kit.ts';
import { harmless, multiLine, oneLine } from './planted.ts';

const planted = [...oneLine, ...multiLine].map((form, at) => {
  const secret = `hunter${at}-Xy7`;
  // What of it stands there; one form has no other characters.
  return { secret: form(secret).includes(secret) ? secret : secret.replace(/\W/g, ''), text: form(secret) };
});
const ofOneLine = planted.slice(0, oneLine.length);
const known = [
  'own-password-1',
  'own-chassis-2',
  'own-identity-3',
  'own-comment-4',
  'own value 5',
  'own-flow-6',
  'own-url-7',
];

const commonSite = `# WLAN-Passwort: own-comment-4 (Gast)
operator: { port: 2, passwordFile: password } # Kennwort: own-comment-4
chassis: { host: 127.0.0.1, port: 1, serial: TEST-1, secretFile: secret }
fleet: { keyFile: key }
${planted.map(({ text }) => text.replace(/^/gm, '# ')).join('\n')}
`;

/** What the running gateway answers: each form in the log, in the incidents and in names. */
function answerTo(path: string): unknown {
  const texts = [...planted.map(({ text }) => text), ...known.map((secret) => `it said ${secret}.`), ...harmless];
  const entry = (message: string) => ({
    ...{ time: 'now', level: 'warn', message, fields: { note: message, [message]: 1 }, count: 1 },
    ...{ lastTime: 'now', lastFields: { list: [message] } },
  });
  const head = { ...sampleHead, site: texts.join(' ; ') };
  const log = texts.map((message) => ({
    atMs: 0,
    level: 'warn' as const,
    message,
    fields: { note: message },
    count: 1,
  }));
  switch (path) {
    case '/api/protokolle':
      return { entries: texts.map(entry), audit: texts.map(entry), clientAborts: 0 };
    case '/api/vorfaelle':
      return { incidents: [head], recording: null, unreadable: 0, folderProblem: texts.join('\n'), notKept: null };
    case '/api/vorfaelle/3':
      return encodeIncident(head, {
        ...sampleBody,
        log,
        stations: texts.map((name) => ({ name, xM: 1, yM: 2, map: 0 })),
      });
    default:
      return { error: { code: 'X', message: texts.join('\n') } };
  }
}

async function filesOf(site: string, dir: string) {
  const { signal } = context();
  const machine = thisMachine({
    ...{ version: '1.2.3', folder: dir, home: dir, path: '/bin', signal },
    node: { version: '24.0.0', path: '/n' },
  });
  const run = () => Promise.reject(new Error(planted.map(({ text }) => text).join('\n')));
  const { bytes, contents } = await collectBundle(site, { ...machine, sockets: async () => [], run }, context());
  const entries = await unpackTar(gunzipSync(bytes));
  const files = new Map(entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()]));
  return { files, contents };
}

function write(dir: string): void {
  const label = 'PRIVATE KEY';
  const keyPem = `-----BEGIN ${label}-----\nown-identity-3\n-----END ${label}-----\n`;
  const files = { password: 'own-password-1', secret: 'own-chassis-2', key: 'cd'.repeat(32) };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), `${text}\n`, { mode: 0o600 });
  mkdirSync(join(dir, 'identity'));
  writeFileSync(join(dir, 'identity', 'identity.json'), JSON.stringify({ keyPem }), { mode: 0o600 });
}

const leaks = (files: ReadonlyMap<string, string>, secrets: readonly string[]) =>
  [...files].flatMap(([name, text]) =>
    secrets.filter((secret) => text.includes(secret)).map((secret) => [name, secret]),
  );

describe('more than fifty planted secrets', () => {
  it('are in no file of the bundle of a running gateway, and what is harmless is', async () => {
    expect(planted.length).toBeGreaterThan(50);
    const dir = ownFolder();
    write(dir);
    const socket = localSocketPath({ stateDir: join(dir, 'state') });
    mkdirSync(dirname(socket), { recursive: true });
    await using _server = await httpServer((request, response) => {
      const answer = answerTo(request.url ?? '');
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    }, socket);
    const site = join(dir, 'site.yaml');
    // The site file takes 64 of them; in its comments and in the log stand all.
    const reasons = ofOneLine
      .map(({ text }) => text)
      .filter(({ length }) => length <= 200)
      .slice(0, 64);
    const listening = reasons.map((why, at) => ({ port: 1_000 + at, why }));
    writeFileSync(site, `${commonSite}name: "own # name"\nnetwork: ${JSON.stringify({ alsoListening: listening })}\n`);
    const { files, contents } = await filesOf(site, dir);
    expect([...files.keys()]).toEqual(
      expect.arrayContaining(['site.yaml', 'doctor.json', 'log.json', 'incidents.json', 'incidents/3.jsonl']),
    );
    const own = ['own-password-1', 'own-chassis-2', 'own-identity-3', 'own-comment-4', 'cd'.repeat(32)];
    expect(leaks(files, [...planted.map(({ secret }) => secret), ...own])).toEqual([]);
    expect(contents.files.find(({ name }) => name === 'log.json')?.redacted).toBeGreaterThan(planted.length);
    for (const text of harmless) expect(files.get('log.json')).toContain(`"message": ${JSON.stringify(text)}`);
    expect(files.get('site.yaml')).toContain('name: "own # name"');
    expect(files.get('site.yaml')).not.toMatch(/^ *# /m);
  });

  it('are in no file of the bundle of a damaged or wrong site file', async () => {
    const wrong = `wlan:\n  Passwort: own value 5\nother: { psk: "own-flow-6" }\nvoice: http://a:own-url-7@127.0.0.1/\n`;
    const texts = planted.map(({ text }) => text).join('\n');
    for (const rest of [wrong, `${wrong}name: [\n${texts}\n`, `${wrong}name: "open\n${texts}\n`]) {
      const dir = ownFolder();
      write(dir);
      const site = join(dir, 'site.yaml');
      writeFileSync(site, `${commonSite}${rest}`);
      const { files } = await filesOf(site, dir);
      expect(leaks(files, [...planted.map(({ secret }) => secret), ...known])).toEqual([]);
      expect(files.get('site.yaml')).toContain('serial: TEST-1');
    }
  });
});
