import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadChecklist, parseChecklist, recordSchema, verifyRecordFile } from '../../../src/lib/checklist/index.ts';
import { directDialer, type Ssh } from '../../../src/lib/net/index.ts';
import { toJUnit, toMarkdown } from '../../../src/lib/report/index.ts';
import { createCa } from '../../../src/lib/sim/cloud/certificates.ts';
import { createCatalogue } from '../../../src/lib/toolkit/catalogue/catalogue.ts';
import type { ChecklistRunOptions } from '../../../src/lib/toolkit/checklist/run-options.ts';
import { builtIn, runList } from '../../checklist/kit.ts';
import { has } from '../kit.ts';
import { enrolledSite } from './enrolled-site.ts';
import { closedPort, listening, nameServer, tempDir } from './peers.ts';

const kinds = ['http', 'tcp', 'dns', 'file', 'process', 'command'];
const ALLOWED = 'checklists: { programs: [/bin/cat] }\n';

const listOf = (steps: string) => `schema: gw/checklist/1
name: own
title: Own
purpose: To see.
steps:
${steps}`;

/** One own check of each kind, of peers of this test. */
async function steps(of: { url: string; port: number; server: string; file: string; program: string }) {
  return listOf(`  - { id: http, title: Page, run: http, with: { url: '${of.url}' }, expect: { status: 200, body: { contains: hello } } }
  - { id: tcp, title: Port, run: tcp, with: { host: 127.0.0.1, port: ${of.port} }, expect: { reachable: true } }
  - { id: dns, title: Name, run: dns, with: { name: robot.example, server: '${of.server}' }, expect: { answers: { contains: 192.0.2.7 } } }
  - { id: file, title: File, run: file, with: { path: ${of.file}, content: true }, expect: { exists: true, content: { contains: port } } }
  - { id: process, title: Program, run: process, with: { name: ${of.program} }, expect: { running: true } }
  - { id: command, title: Command, run: command, with: { argv: [/bin/cat, ${of.file}] }, expect: { exit: 0 } }
`);
}

async function run(dir: string, list: string, more: Partial<ChecklistRunOptions> = {}) {
  await writeFile(join(dir, 'own.yaml'), list);
  return runList({ nameOrFile: join(dir, 'own.yaml'), sitePaths: [join(dir, 'site.yaml')], ...more });
}

async function peers(dir: string) {
  const file = join(dir, 'a.conf');
  await writeFile(file, 'port = 1\n');
  const url = `http://127.0.0.1:${await listening(createServer((_, answer) => answer.end('hello')))}/`;
  const port = await listening(createTcpServer());
  const server = await nameServer(() => '192.0.2.7');
  // The process that runs the tests of this file has a parent, and its name is known.
  const program = (await readFile(`/proc/${process.ppid}/comm`, 'utf8')).trim();
  return { url, port, server, file, program };
}

test('a list with one own check of each kind passes, in a signed record that verifies', async () => {
  const dir = await tempDir();
  const authority = await createCa();
  await enrolledSite(dir, authority, ALLOWED);
  const result = await run(dir, await steps(await peers(dir)));
  expect(result.steps.map(({ id, verdict, why }) => [id, verdict, verdict === 'ok' ? '' : why])).toEqual(
    kinds.map((kind) => [kind, 'ok', '']),
  );
  for (const { why, shown } of result.steps) {
    expect(why).toContain('from this machine');
    expect(shown).toBe(why);
  }
  const file = result.record?.file ?? '';
  const verified = await verifyRecordFile(file, { caPem: authority.caPem, expectedSerial: 'SN1' });
  expect(verified).toMatchObject({ verified: true });
  const record = recordSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  for (const { measured } of record.robots[0]?.steps ?? []) {
    expect(measured).toMatchObject({ from: 'from this machine' });
  }
});

test('each kind fails for its own reason, in the result, JUnit and Markdown', async () => {
  const dir = await tempDir();
  await writeFile(join(dir, 'site.yaml'), `name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\n${ALLOWED}`);
  const file = join(dir, 'none.conf');
  const list = await steps({
    url: `http://127.0.0.1:${await closedPort()}/`,
    port: await closedPort(),
    server: await nameServer(() => 3),
    file,
    program: 'gw-no-such-program',
  });
  const result = await run(dir, list);
  const reasons = [
    ['http', 'nothing listens on this port'],
    ['tcp', 'nothing listens on this port'],
    ['dns', 'no such name'],
    ['file', 'does not exist'],
    ['process', 'is not running'],
    ['command', 'exited with 1 (/bin/cat'],
  ] as const;
  const [junit, markdown] = [toJUnit(result), toMarkdown(result)];
  for (const [id, reason] of reasons) {
    const step = result.steps.find((one) => one.id === id);
    expect(step).toMatchObject({ verdict: 'wrong', error: null, why: has(reason) });
    expect(step?.why).toContain('from this machine');
    expect(junit).toContain(`name="${id}: `);
  }
  expect(junit).toContain('failures="6" errors="0"');
  expect(markdown).toContain('nothing listens on this port');
});

test('through an SSH host, what can only be seen on the gateway is not checked', async () => {
  const dir = await tempDir();
  await writeFile(join(dir, 'site.yaml'), `name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\n${ALLOWED}`);
  const of = await peers(dir);
  const ssh = { where: 'it@gateway', dialer: { ...directDialer, way: 'via it@gateway' } } as unknown as Ssh;
  const { steps: results } = await run(dir, await steps(of), { checks: { ssh } });
  const by = Object.fromEntries(results.map((step) => [step.id, step]));
  for (const id of ['http', 'tcp']) {
    expect(by[id]).toMatchObject({ verdict: 'ok', why: has('through it@gateway') });
  }
  for (const id of ['dns', 'file', 'process', 'command']) {
    expect(by[id]).toMatchObject({ verdict: 'not-checked', error: { code: 'NEEDS_GATEWAY' } });
  }
});

test('a program that the site file does not allow is refused before anything runs, with its line', async () => {
  const dir = await tempDir();
  let requests = 0;
  const url = `http://127.0.0.1:${await listening(
    createServer((_, answer) => {
      requests += 1;
      answer.end('hello');
    }),
  )}/`;
  const list = listOf(`  - { id: http, title: Page, run: http, with: { url: '${url}' }, expect: { status: 200 } }
  - id: command
    title: Command
    run: command
    with: { argv: [/bin/cat, /etc/hostname] }
    expect: { exit: 0 }
`);
  for (const more of ['', 'checklists: { programs: [/bin/true] }\n', 'not-a-key: 1\n']) {
    await writeFile(join(dir, 'site.yaml'), `name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\n${more}`);
    await expect(run(dir, list)).rejects.toMatchObject({
      code: 'CHECKLIST_INVALID',
      message: has(/own\.yaml:10:\d+.*checklists\.programs of the site file/s),
    });
  }
  expect(requests).toBe(0);
});

test('a repeated check says at which attempt it was ok, and is wrong after the last one', async () => {
  const dir = await tempDir();
  await writeFile(join(dir, 'site.yaml'), 'name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\n');
  let requests = 0;
  const url = `http://127.0.0.1:${await listening(
    createServer((_, answer) => {
      requests += 1;
      answer.writeHead(requests < 3 ? 503 : 200).end();
    }),
  )}/`;
  const one = (status: number) =>
    listOf(
      `  - { id: http, title: Page, run: http, with: { url: '${url}' }, retry: { times: 3, everyS: 0.1 }, expect: { status: ${status} } }\n`,
    );
  const [ok] = (await run(dir, one(200))).steps;
  expect(ok).toMatchObject({ verdict: 'ok', why: has(/status 200.*; at attempt 3$/) });
  const [wrong] = (await run(dir, one(204))).steps;
  expect(wrong).toMatchObject({ verdict: 'wrong', why: has(/; after 4 attempts$/) });
  expect(requests).toBe(7);
});

const refused: readonly (readonly [name: string, step: string, expected: RegExp])[] = [
  ['a port as text', 'run: tcp, with: { host: a, port: "80" }', /with\.port/],
  ['a host with a scheme', 'run: tcp, with: { host: "http://a", port: 80 }', /a host name or an address/],
  ['a URL of a file', 'run: http, with: { url: "file:///etc/passwd" }', /http:\/\/ or https:\/\/ address/],
  ['a URL with a password', 'run: http, with: { url: "http://a:b@c/" }', /without user name/],
  [
    'a header that gw sets',
    'run: http, with: { url: "http://a/", headers: { Host: b } }',
    /a header that gw does not set/,
  ],
  ['a header with a line feed', 'run: http, with: { url: "http://a/", headers: { x: "a\\nb" } }', /printable ASCII/],
  ['a name server by name', 'run: dns, with: { name: a, server: b }', /an address with an optional port/],
  ['a relative path', 'run: file, with: { path: a.conf }', /an absolute path/],
  ['a process without a name', 'run: process, with: {}', /with\.name/],
  ['a command line', 'run: command, with: { argv: "ls -l" }', /with\.argv/],
  ['a program without a path', 'run: command, with: { argv: [ls] }', /an absolute path/],
  ['an unknown option', 'run: tcp, with: { host: a, port: 80, shell: x }', /shell/],
  ['a repeated drive', 'run: chassis probe, retry: { times: 2 }', /retry only with run: http, tcp/],
  ['an own check without expectations', 'run: process, with: { name: a }, expect: {}', /proves nothing/],
];

test.each(refused)('%s is refused with its line', async (_name, step, expected) => {
  const path = join(await tempDir(), 'own.yaml');
  const expect_ = step.includes('expect:') ? '' : ', expect: { exists: true }';
  await writeFile(path, listOf(`  - { id: a, title: A, ${step}${expect_} }\n`));
  const loaded = loadChecklist(path, createCatalogue());
  await expect(loaded).rejects.toMatchObject({ code: 'CHECKLIST_INVALID', message: has(expected) });
  await expect(loaded).rejects.toThrow(/own\.yaml:6:\d+/);
});

test('--no-record and --dry-run write nothing, and JUnit and Markdown say so', async () => {
  const dir = await tempDir();
  const site = `name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\nstateDir: ${join(dir, 'state')}\n`;
  await writeFile(join(dir, 'site.yaml'), site);
  const list = listOf('  - { id: file, title: A, run: file, with: { path: /etc/passwd }, expect: { exists: true } }\n');
  const unkept = await run(dir, list, { noRecord: true });
  expect(unkept).toMatchObject({ ok: true, record: null, noRecord: true });
  expect(toJUnit(unkept)).toContain('<property name="gw.record" value="none"/>');
  expect(toMarkdown(unkept)).toContain('it is no acceptance');
  const dry = await run(dir, list, { dryRun: true });
  expect(toMarkdown(dry)).toContain('nothing was run');
  expect(dry).toMatchObject({ ok: false, record: null, dryRun: true, counts: { notChecked: 1 } });
  expect(toJUnit(dry)).toContain('errors="1"');
  expect((await readdir(dir)).sort()).toEqual(['own.yaml', 'site.yaml']);
});

test('answers come from standard input too, with its name in their errors', async () => {
  const dir = await tempDir();
  await writeFile(join(dir, 'site.yaml'), 'name: A\nchassis: { host: 127.0.0.1, serial: SN1 }\n');
  const list = listOf('  - { id: label, title: A, confirm: Is it there? }\n');
  const typed = (text: string) => ({ noRecord: true, readAnswers: async () => Buffer.from(text) });
  expect(await run(dir, list, typed('label: yes'))).toMatchObject({ ok: true });
  await expect(run(dir, list, typed('lable: yes'))).rejects.toThrow(/standard input:1/);
});

test('the example of the docs is a valid list with one of each kind', async () => {
  const page = await readFile(fileURLToPath(new URL('../../../docs/checklists.md', import.meta.url)), 'utf8');
  const text = /## Own checks[\s\S]*?```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const { steps: found } = parseChecklist(text, 'docs', createCatalogue());
  expect(found.map((step) => (step.kind === 'run' ? step.run : step.kind))).toEqual(kinds);
});

test('the built-in lists name rule and remedy in every step, and no own check', async () => {
  for (const name of ['demo', 'handover', 'premises', 'service', 'site']) {
    for (const step of (await loadChecklist(join(builtIn, `${name}.yaml`), createCatalogue())).steps) {
      expect(step.proves, step.id).not.toBe('own checklist, no rule named');
      expect(step.remedy, step.id).not.toBe('');
      expect(step.kind === 'run' && step.entry.repeatable, step.id).not.toBe(true);
    }
  }
});
