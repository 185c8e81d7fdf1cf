import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askLine } from '../../src/cli/ask.ts';
import { renderSiteCheck, renderSiteInit } from '../../src/cli/render/site.ts';
import { factsOfOrder } from '../../src/lib/motion/index.ts';
import { commentedSiteFile, loadSite, parseSite } from '../../src/lib/site/index.ts';
import { checkSite } from '../../src/lib/toolkit/site/check.ts';
import { initSite, type Question } from '../../src/lib/toolkit/site/init.ts';
import { siteCheckSchema, siteInitSchema } from '../../src/lib/toolkit/site/site.result.ts';
import { typedTerminal } from '../cli/typed.ts';
import { recordOf } from '../evidence/record-of.ts';
import { folderOfFile } from '../lifecycle/folder.ts';

const dir = folderOfFile();

const small = { name: 'x', chassis: { host: 'robot', serial: 'SN1' }, operator: { port: 5173 } };
const given = { name: 'Lobby', host: 'robot-7.local', serial: 'SN0007' };

describe('the commented file', () => {
  it('describes every key as the schema does', () => {
    const text = commentedSiteFile(small);
    expect(text).toContain('# Host name or address of the chassis, from its DHCP reservation.\n  host: robot\n');
    expect(text).toContain('  # port: 8090\n');
    expect(text).not.toContain('undefined');
  });

  it('is still valid when every example in it is enabled', () => {
    const text = commentedSiteFile(small);
    const enabled = text.replace(/^( *)# ([a-z]\w*:.*| {2}\w+: .*)$/gm, '$1$2');
    expect(enabled).not.toBe(text);
    const site = parseSite(enabled, 'site.yaml');
    expect(site).toMatchObject({
      chassis: { port: 8090, mac: '02:00:00:00:00:01' },
      operator: { names: ['robot-7.local'], voice: { url: 'http://127.0.0.1:3001' } },
      dock: { xM: 0.5, yM: 0, yawDeg: 180 },
      tours: { lunch: { stations: ['A', 'B'] } },
    });
  });

  it.each(['---', '- a', '%TAG', '#', ' x ', "'", 'a: b', 'null', '1e3', '\u00a0', 'a\u2028'])(
    'is parsed back to the same values with the name %j',
    (name) => {
      expect(parseSite(commentedSiteFile({ ...small, name }), 'site.yaml').name).toBe(name);
    },
  );

  it('is parsed back to the same values, whatever the name', { tags: 'property' }, () => {
    const name = fc
      .string({ minLength: 1, maxLength: 100, unit: 'grapheme' })
      .filter((text) => !/\p{Cc}/u.test(text) && text.length <= 120);
    const serial = fc.stringMatching(/^[A-Za-z0-9:_-]{1,40}$/);
    fc.assert(
      fc.property(name, serial, (text, number) => {
        const site = { ...small, name: text, chassis: { host: 'robot', serial: number } };
        expect(parseSite(commentedSiteFile(site), 'site.yaml')).toMatchObject(site);
      }),
    );
  });
});

describe('creating a site file', () => {
  it('without questions uses the given values, and the file passes the check', async () => {
    const path = join(dir, 'given.yaml');
    const mac = '02:00:00:00:00:07';
    const result = await initSite({ path, force: false, given: { ...given, mac, operatorPort: '8080' } });
    expect(siteInitSchema.parse(result)).toEqual({ path, ...given, mac, operatorPort: 8080, read: null });
    await expect(loadSite(path)).resolves.toMatchObject({ operator: { port: 8080 }, chassis: { mac } });
    expect(await checkSite(path)).toMatchObject({ valid: true, errors: 0 });
    expect((await stat(path)).mode & 0o777).toBe(0o644);
    expect(renderSiteInit(result).split('\n')[0]).toBe(`Created ${path} for chassis SN0007 at robot-7.local.`);
  });

  it('without questions names missing and invalid values by their flag', async () => {
    const path = join(dir, 'missing.yaml');
    await expect(initSite({ path, force: false, given: { name: 'x' } })).rejects.toMatchObject({
      code: 'USAGE',
      message: 'Required flags are missing: --chassis-host, --serial.',
    });
    // With the address the chassis has its own serial number.
    await expect(
      initSite({ path, force: false, given: { name: 'x' }, read: async () => expect.fail('read') }),
    ).rejects.toMatchObject({
      message: 'Required flags are missing: --chassis-host.',
      remedy: 'Add them: `gw site init --yes --chassis-host HOST`; without --yes they are asked for.',
    });
    const unfit = initSite({ path, force: false, given: { ...given, host: 'a b', mac: 'zz', operatorPort: '5174' } });
    await expect(unfit).rejects.toMatchObject({ code: 'USAGE', exitCode: 2 });
    await expect(unfit).rejects.toThrow(
      /--chassis-host: found 'a b'.*\n--mac: .*\n--operator-port: found 5174.*read-only socket/,
    );
    await expect(stat(path)).rejects.toThrow();
  });

  it('keeps an existing file without force', async () => {
    const path = join(dir, 'there.yaml');
    await writeFile(path, 'precious');
    const ask = async () => expect.fail('asked');
    const refused = initSite({ path, force: false, given, ask });
    await expect(refused).rejects.toMatchObject({ code: 'FILE_EXISTS', exitCode: 2 });
    expect(await readFile(path, 'utf8')).toBe('precious');
    await initSite({ path, force: true, given });
    expect(await readFile(path, 'utf8')).toContain('SN0007');
  });

  it('replaces a symbolic link and not the file behind it', async () => {
    await writeFile(join(dir, 'behind'), 'precious');
    await symlink(join(dir, 'behind'), join(dir, 'link.yaml'));
    const refused = initSite({ path: join(dir, 'link.yaml'), force: false, given });
    await expect(refused).rejects.toMatchObject({ code: 'FILE_EXISTS' });
    await initSite({ path: join(dir, 'link.yaml'), force: true, given });
    expect(await readFile(join(dir, 'behind'), 'utf8')).toBe('precious');
  });

  it('that cannot be written reports why and leaves no draft behind', async () => {
    const message = expect.stringContaining('its folder does not exist');
    const nowhere = initSite({ path: join(dir, 'no', 'x.yaml'), force: false, given });
    await expect(nowhere).rejects.toMatchObject({ code: 'FILE_UNWRITABLE', message });
    await expect(initSite({ path: dir, force: true, given })).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
    expect((await readdir(dir)).filter((name) => name.endsWith('-draft'))).toEqual([]);
    expect((await readdir(join(dir, '..'))).filter((name) => name.endsWith('.gw-draft'))).toEqual([]);
  });

  it('of two concurrent runs, exactly one writes', async () => {
    const path = join(dir, 'race.yaml');
    const results = await Promise.allSettled(
      ['SN1', 'SN2', 'SN3', 'SN4'].map((serial) => initSite({ path, force: false, given: { ...given, serial } })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'FILE_EXISTS' });
    }
  });

  it('asks with the given values as defaults and repeats a question until the answer is valid', async () => {
    const questions: Question[] = [];
    const typed = ['', 'robot-8.local', 'SN0008', '', '9000', 'TAB0001', '02:00:00:00:00:03'];
    const ask = async (question: Question) => {
      questions.push(question);
      const answer = typed[questions.length - 1] || (question.fallback ?? '');
      expect(question.check(answer)).toBeUndefined();
      return answer;
    };
    const result = await initSite({ path: join(dir, 'asked.yaml'), force: false, given, ask });
    const asked = { name: 'Lobby', host: 'robot-8.local', serial: 'SN0008', mac: null, operatorPort: 9000 };
    expect(result).toMatchObject(asked);
    expect(questions.map(({ fallback }) => fallback)).toEqual(['Lobby', 'robot-7.local', 'SN0007', '', '5173', '', '']);
    const { tablet } = await loadSite(join(dir, 'asked.yaml'));
    expect(tablet).toMatchObject({ serial: 'TAB0001', mac: '02:00:00:00:00:03' });
    expect(tablet).not.toHaveProperty('host');
    const [, host, serial, mac, port, tabletSerial, tabletMac] = questions;
    for (const [question, answer, problem] of [
      [host, 'a b', 'a host name or an address'],
      [serial, '', 'letters'],
      [mac, '02', 'hex digits'],
      [port, '5174', 'read-only socket'],
      [port, 'abc', 'a number: TCP port'],
      [port, '1e3', ''],
      [tabletSerial, 'x'.repeat(65), '64'],
      [tabletMac, '02', 'hex digits'],
    ] as const) {
      expect(question?.check(answer)).toContain(problem);
    }
  });
});

describe('asking on a terminal', () => {
  const { signal } = new AbortController();
  const check = (answer: string) => (answer === '' ? 'some text' : undefined);

  it('repeats a question until the answer is valid, and uses the default for an empty answer', async () => {
    const { streams, shown } = typedTerminal(['', '', ' yes ', '']);
    expect(await askLine('Which?', { streams, signal }, { check })).toBe('yes');
    expect(shown()).toContain('expected some text');
    expect(await askLine('Which?', { streams, signal }, { check, fallback: 'usual' })).toBe('usual');
    expect(shown()).toContain('Which? [usual]');
  });

  it('has no answer at the end of the input, and ends with INTERRUPTED on Ctrl-C', async () => {
    const { streams } = typedTerminal(['\u0004', '\u0003']);
    expect(await askLine('Which?', { streams, signal }, { check })).toBeUndefined();
    await expect(askLine('Which?', { streams, signal })).rejects.toMatchObject({ code: 'INTERRUPTED', exitCode: 130 });
    streams.input.destroy();
    const ended = new PassThrough().end();
    ended.resume();
    await once(ended, 'end');
    expect(await askLine('Which?', { streams: { ...streams, input: ended }, signal })).toBeUndefined();
  });

  it('ends when it is aborted while it waits', async () => {
    const ending = new AbortController();
    const { streams } = typedTerminal();
    const answer = askLine('Which?', { streams, signal: ending.signal });
    ending.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
  });
});

describe('checking a site file', () => {
  it('lists the problems of the file, and checks nothing else then', async () => {
    const path = join(dir, 'bad.yaml');
    await writeFile(path, 'nmae: x\nchassis: { host: robot, serial: SN1 }\n');
    const result = await checkSite(path);
    expect(result).toMatchObject({ valid: false, errors: 2 });
    expect(result.problems.map(({ key, line }) => [key, line])).toContainEqual(['nmae', 1]);
    expect(new Set(result.findings.map(({ verdict }) => verdict))).toEqual(new Set(['not-checked']));
  });

  it('fails a state folder that others may write to, before the daemon refuses every order for it', async () => {
    const path = join(dir, 'others.yaml');
    await writeFile(path, 'name: x\nchassis: { host: robot, serial: SN1 }\nstateDir: state-of-all\n');
    await mkdir(join(dir, 'state-of-all'));
    await chmod(join(dir, 'state-of-all'), 0o777);
    const { findings, valid } = await checkSite(path);
    expect(valid).toBe(false);
    expect(findings.find(({ id }) => id === 'state-folder')).toMatchObject({
      verdict: 'wrong',
      detail: expect.stringContaining('other users may write to it (mode 777)'),
      remedy: expect.stringContaining('chmod go-w'),
    });
  });

  it('reports a folder in its place as one problem, and a missing file as an error', async () => {
    await expect(checkSite(dir)).resolves.toMatchObject({ valid: false, errors: 1 });
    const remedy = expect.stringContaining('gw site init');
    await expect(checkSite(join(dir, 'none.yaml'))).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND', remedy });
  });

  it('detects an open secret, a record of another device in the evidence file, and a folder that is a file', async () => {
    const path = join(dir, 'wrong.yaml');
    await writeFile(
      path,
      'name: x\nchassis: { host: robot, serial: SN1 }\noperator: { passwordFile: open, mediaDir: open }\nevidenceFile: wrong.jsonl\n',
    );
    await writeFile(join(dir, 'open'), 'hunter2');
    await chmod(join(dir, 'open'), 0o644);
    await writeFile(join(dir, 'wrong.jsonl'), JSON.stringify(recordOf('vendor.move.reqest', true, { serial: 'SN1' })));
    const result = await checkSite(path);
    const verdicts = Object.fromEntries(result.findings.map(({ id, verdict }) => [id, verdict]));
    const absent = 'chassis-secret heartbeat-key identity ca-files release-key kiosk-profile require-verified'.split(
      ' ',
    );
    expect(verdicts).toEqual({
      ...{ 'operator-password': 'wrong', 'evidence-file': 'wrong', 'media-folder': 'wrong' },
      ...{ orders: 'ok', 'state-folder': 'ok' },
      ...Object.fromEntries(absent.map((id) => [id, 'not-applicable'])),
    });
    expect(result).toMatchObject({ valid: false, errors: 3, problems: [] });
    expect(result.findings[0]?.remedy).toContain('chmod 600');
    expect(result.findings.find(({ id }) => id === 'evidence-file')?.remedy).toBe('Did you mean vendor.move.request?');
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it('is not green for an evidence file without records', async () => {
    const path = join(dir, 'plain.yaml');
    await writeFile(path, 'name: x\nchassis: { host: robot, serial: SN1 }\n');
    const { findings, valid } = await checkSite(path);
    expect(valid).toBe(true);
    expect(findings.find(({ id }) => id === 'evidence-file')?.verdict).toBe('not-applicable');
  });

  it('says for what a valid file is complete, and what it lacks for the rest', async () => {
    const path = join(dir, 'bare.yaml');
    const lacking = async (more: string) => {
      await writeFile(path, `name: x\nchassis: { host: robot, serial: SN1 }\n${more}`);
      const data = siteCheckSchema.parse(await checkSite(path));
      expect(data).toMatchObject({ valid: true, verdict: 'ok' });
      const [first = ''] = renderSiteCheck(data).split('\n');
      const keys = data.completeFor.map(({ id, missing }) => [id, missing.map(({ key }) => key)] as const);
      return { first, keys: Object.fromEntries(keys) };
    };
    const bare = await lacking('');
    expect(bare.first).toBe(
      `${path} is valid; not complete for drive, operator page, cloud, tablet, other robots, network request`,
    );
    expect(bare.keys).toMatchObject({
      drive: ['stations', 'tours', 'dock'],
      'operator-page': ['operator.passwordFile'],
      cloud: ['enrolment', 'cloud'],
      tablet: ['tablet'],
      'other-robots': ['fleet'],
    });
    expect(bare.keys['network-request']).toEqual(
      expect.arrayContaining(['contacts.customer', 'contacts.operator', 'chassis.mac', 'network.robotSegment']),
    );
    const remedies = async (more: string) => {
      await lacking(more);
      const { completeFor } = await checkSite(path);
      const letter = completeFor.find(({ id }) => id === 'network-request')?.missing ?? [];
      return Object.fromEntries(letter.map(({ key, remedy }) => [key, remedy]));
    };
    expect((await remedies(''))['cloud.mqtt.host']).toBe('Enter cloud.mqtt.host, or fill it in by hand.');
    // The value is there, so it cannot be entered.
    const here = await remedies('cloud: { mqtt: { alpn: x-example-mqtt-ca, host: localhost } }\n');
    expect(here['cloud.mqtt.host']).toMatch(/^The letter cannot use the value of cloud\.mqtt\.host \(this machine/);
    const driving = await lacking(
      'maps: { ground: { uid: g, version: 1 } }\nstations: { A: { xM: 1, yM: 1 } }\ntours: { t: { stations: [A] } }\ndock: { xM: 0, yM: 0, yawDeg: 0 }\ncloud: { mqtt: { alpn: x-example-mqtt-ca } }\n',
    );
    expect(driving.first).toMatch(/is valid; complete for drive; not complete for operator page, cloud, /);
    expect(driving.keys).toMatchObject({ drive: [], cloud: ['enrolment', 'cloud.release', 'cloud.tunnel'] });
  });

  it('states the limits of orders, and reports a required sign-in without a password', async () => {
    const path = join(dir, 'orders.yaml');
    const orders = async (more: string) => {
      await writeFile(path, `name: x\nchassis: { host: robot, serial: SN1 }\n${more}`);
      return (await checkSite(path)).findings.find(({ id }) => id === 'orders') ?? expect.fail('no such finding');
    };
    expect(await orders('')).toMatchObject({
      verdict: 'ok',
      detail: expect.stringMatching(/after 600 s; a move from before the start is cancelled.*require no sign-in/),
    });
    expect(await orders('motion: { moveLimitS: 1800, unownedMove: leave }\n')).toMatchObject({
      verdict: 'ok',
      detail: expect.stringMatching(/after 1800 s; a move from before the start continues/),
    });
    expect(await orders('operator: { tourNeedsSignIn: true }\n')).toMatchObject({ verdict: 'wrong' });
    expect(await orders('operator: { tourNeedsSignIn: true, passwordFile: p }\n')).toMatchObject({ verdict: 'ok' });
    await expect(checkSite(path)).resolves.toMatchObject({ problems: [] });
    await writeFile(path, 'name: x\nchassis: { host: robot, serial: SN1 }\nmotion: { moveLimitS: 9 }\n');
    expect((await checkSite(path)).problems).toHaveLength(1);
  });

  it('states which verifications orders need, never in green: the software is unknown', async () => {
    const path = join(dir, 'asking.yaml');
    const required = async () =>
      (await checkSite(path)).findings.find(({ id }) => id === 'require-verified') ?? expect.fail('no such finding');
    await writeFile(path, 'name: x\nchassis: { host: robot, serial: SN1 }\nevidenceFile: asking.jsonl\n');
    expect(await required()).toMatchObject({
      verdict: 'not-applicable',
      detail: expect.stringContaining('is not set'),
    });
    await writeFile(
      path,
      'name: x\nchassis: { host: robot, serial: SN1 }\nevidenceFile: asking.jsonl\nmotion: { requireVerified: true }\n',
    );
    expect((await required()).detail).toMatch(/SN1 has no entry for angles\.tracked-pose-ori/);
    const record = (fact: string) => recordOf(fact, true, { serial: 'SN1' });
    const all = [...new Set(Object.values(factsOfOrder).flat())];
    await writeFile(join(dir, 'asking.jsonl'), all.map((id) => `${JSON.stringify(record(id))}\n`).join(''));
    expect(await required()).toMatchObject({
      verdict: 'not-checked',
      detail: expect.stringContaining('`gw chassis probe` compares it'),
    });
  });
});
