import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { recordSchema } from '../../src/lib/checklist/index.ts';
import { checklistRunSchema } from '../../src/lib/toolkit/checklist/checklist.result.ts';
import { until } from '../waiting.ts';
import { runGw, startGw } from './gw.ts';

const list = `schema: gw/checklist/1
name: own
title: Own
purpose: To see.
phase: site
sections:
  - id: files
    title: Files
    steps:
      - { id: file, title: The file, proves: Device, run: site check, expect: { valid: true }, remedy: Mend. }
      - { id: label, title: The label, proves: Device, confirm: Is it?, remedy: Mend. }
  - id: robot
    title: Robot
    steps:
      - { id: address, title: The address, proves: Device, run: chassis address, expect: { state: connected }, remedy: Mend. }
      - { id: door, title: The door, proves: Device, measure: How wide?, unit: m, expect: { value: { at-least: 0.8 } }, remedy: Mend. }
`;
const answers = 'label: { answer: yes, photo: photo.jpg }\ndoor: 0.9\n';

let dir = '';
let silent: Server;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'gw-checklist-'));
  // Accepts connections and sends no data: the check waits until its timeout.
  silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await writeFile(join(dir, 'own.yaml'), list);
  await writeFile(join(dir, 'answers.yaml'), answers);
  await writeFile(join(dir, 'photo.jpg'), Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1]));
  await writeFile(join(dir, 'site.yaml'), `name: Lobby\nchassis: { host: 127.0.0.1, port: ${port}, serial: SN0001 }\n`);
});
afterEach(async () => {
  silent.close();
  await rm(dir, { recursive: true, force: true });
});

const gw = (...args: string[]) => runGw(['checklist', 'run', './own.yaml', ...args], { cwd: dir });
const records = () => readdir(join(dir, 'state', 'records')).catch(() => []);

describe('gw checklist run', () => {
  test('ends with 2 for a site file that is missing, with the error, or invalid, with the steps', async () => {
    const missing = await gw('--site', 'nofile.yaml', '--json');
    expect(missing.code).toBe(2);
    expect(JSON.parse(missing.stdout)).toMatchObject({ ok: false, data: null, error: { code: 'SITE_FILE_NOT_FOUND' } });
    await writeFile(join(dir, 'broken.yaml'), 'name: x\n');
    const invalid = await gw('--site', 'broken.yaml', '--json');
    expect(invalid.code).toBe(2);
    expect(JSON.parse(invalid.stdout)).toMatchObject({
      ok: false,
      data: { steps: [{ id: 'file', verdict: 'wrong' }, {}, {}, {}] },
    });
  });

  test('loses nothing when killed and resumed, and ends with one record', async () => {
    const args = ['checklist', 'run', './own.yaml', '--answers', 'answers.yaml', '--initials', 'KM'];
    {
      await using running = startGw(args, { cwd: dir });
      await until(running.stderr, (text) => text.includes('The label'));
      await running.end('SIGKILL');
    }
    expect(await records()).toEqual([]);
    const { stdout, stderr, code } = await gw('--resume', '--answers', 'answers.yaml', '--json');
    const { data, warnings } = JSON.parse(stdout);
    const result = checklistRunSchema.parse(data);
    expect(code).toBe(1);
    expect(stderr).toBe('');
    expect(warnings.join()).toContain('not signed');
    expect(result.steps.map(({ id, verdict }) => `${id} ${verdict}`)).toEqual([
      'file ok',
      'label ok',
      'address wrong',
      'door ok',
    ]);
    expect(result).toMatchObject({ resumed: true, record: { attachments: 1, signedBy: null } });
    const record = recordSchema.parse(JSON.parse(await readFile(result.record?.file ?? '', 'utf8')));
    expect(record.robots[0]?.steps[1]?.answer).toMatchObject({ initials: 'KM', attachments: ['001-label.jpg'] });
    expect(record.resumedAt).toHaveLength(1);
    expect((await records()).sort()).toEqual([
      expect.stringMatching(/^own-SN0001-.*\.files$/),
      expect.stringMatching(/^own-SN0001-.*\.json$/),
    ]);
  });

  test('ends with 0 for a passed part, and names it a part', async () => {
    const { stdout, code } = await gw('--only', 'files', '--answers', 'answers.yaml', '--out', 'p.json');
    expect(stdout).toMatch(/^PART OK {2}Own: 2 of 2 chosen steps are ok, 2 left out\./);
    expect(code).toBe(0);
    const again = await gw('--only', 'files', '--answers', 'answers.yaml', '--out', 'p.json');
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain('A record never replaces a file');
  });

  test.each([
    [['--only', 'flies'], 2, "Did you mean 'files'?"],
    [['--from', 'door', '--only', 'files'], 2, 'from'],
    [['--initials', 'somebody else'], 2, 'expected initials'],
    [['--resume'], 2, 'to resume'],
    [['--site', 'site.yaml', '--site', 'site.yaml'], 2, 'name the same chassis'],
  ] as const)('rejects %j before anything is written', async (args, expected, text) => {
    const { code, stderr, stdout } = await gw(...args);
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' });
    expect(stderr).toContain(text);
    expect(await records()).toEqual([]);
  });

  test('reads the path of the site file from the environment', async () => {
    await writeFile(join(dir, 'a b.yaml'), await readFile(join(dir, 'site.yaml'), 'utf8'));
    await rm(join(dir, 'site.yaml'));
    const { stdout } = await runGw(['checklist', 'run', './own.yaml', '--only', 'file'], {
      cwd: dir,
      env: { GW_SITE: 'a b.yaml' },
    });
    expect(stdout).toContain('Lobby, chassis SN0001');
  });
});
