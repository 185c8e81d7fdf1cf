import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Problem } from '../../src/lib/document/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { loadSite, parseSite } from '../../src/lib/site/index.ts';

const validSite = `name: Lobby
chassis:
  host: 127.0.0.1
  serial: SN0001
stations:
  A: { xM: 1, yM: 2, yawDeg: 90 }
  B: { xM: 3, yM: 4 }
tours:
  lunch: { stations: [A, B] }
`;

function problemsOf(text: string | Uint8Array): readonly Problem[] {
  try {
    parseSite(text, 'site.yaml');
    return [];
  } catch (error) {
    if (!(error instanceof GwError)) throw error;
    expect(error.code).toBe('SITE_FILE_INVALID');
    expect(error.exitCode).toBe(2);
    return error.details?.problems as readonly Problem[];
  }
}

/** The valid file with one line replaced, or added after it. */
function changed(line: string, by: string): string {
  expect(validSite).toContain(line);
  return validSite.replace(line, by);
}

const with_ = (addition: string) => validSite + addition;

describe('the address of the building module', () => {
  const building = (devices: string, url = 'http://198.51.100.20:8080') =>
    with_(`operator: { building: { url: "${url}" } }\nnetwork: { devices: [${devices}] }\n`);
  const problem = (text: string) => problemsOf(text).map(({ path, expected }) => ({ path, expected }));

  it('has one key; a device of that kind is rejected with the right key', () => {
    const door = '{ name: Door, kind: door, host: 198.51.100.21, port: 8080 }';
    expect(problemsOf(building(door))).toEqual([]);
    expect(problem(building('{ name: IoT, kind: building-module, host: 198.51.100.22, port: 80 }'))).toEqual([
      {
        path: 'network.devices[0].kind',
        expected:
          'one of door, lift, level-change, other: the building module is entered once, as operator.building.url',
      },
    ]);
  });

  it.each([
    ['198.51.100.20', 'http://198.51.100.20:8080/iot', 8080],
    ['198.51.100.20', 'http://198.51.100.20', 80],
    ['198.51.100.20', 'https://198.51.100.20', 443],
    ['IoT.Example.com', 'http://iot.example.com.:8080', 8080],
    ['2001:DB8:0::1', 'http://[2001:db8::1]:8080', 8080],
  ])('is rejected as a second entry of a device: %s beside %s', (host, url, port) => {
    const device = (at: number) => `{ name: Other, kind: other, host: "${host}", port: ${at} }`;
    expect(problem(building(device(port), url))).toEqual([
      {
        path: 'network.devices[0].host',
        expected: 'no second entry of an address: operator.building.url has it already',
      },
    ]);
    expect(problemsOf(building(device(port + 1), url))).toEqual([]);
  });

  it('is rejected in the same way for the voice service', () => {
    const text = with_(
      'operator: { voice: { url: "http://198.51.100.30:3001" } }\nnetwork: { devices: [{ name: V, kind: other, host: 198.51.100.30, port: 3001 }] }\n',
    );
    expect(problem(text).map(({ path }) => path)).toEqual(['network.devices[0].host']);
  });
});

describe('a valid site file', () => {
  it('yields its content with the defaults, and every path absolute, relative to the file', () => {
    const site = parseSite(
      changed('  serial: SN0001', '  serial: SN0001\n  secretFile: secrets/chassis') +
        'operator: { passwordFile: ../password, mediaDir: /srv/media }\n',
      '/sites/seven/site.yaml',
    );
    expect(site).toMatchObject({
      name: 'Lobby',
      path: '/sites/seven/site.yaml',
      dir: '/sites/seven',
      chassis: { host: '127.0.0.1', port: 8090, serial: 'SN0001', secretFile: '/sites/seven/secrets/chassis' },
      operator: { port: 5173, names: [], passwordFile: '/sites/password', mediaDir: '/srv/media' },
      tours: { lunch: { stations: ['A', 'B'] } },
      evidenceFile: '/sites/seven/evidence.jsonl',
      stateDir: '/sites/seven/state',
    });
    expect(site.stations.A).toEqual({ xM: 1, yM: 2, yawDeg: 90 });
  });

  it('may forward to this machine by another port, and to other machines by the port of the operator', () => {
    for (const url of [
      'http://127.0.0.1:3001',
      'http://[::ffff:127.0.0.1]:3001',
      'http://localhost.:3001',
      'http://128.0.0.1:5173',
      'http://[::ffff:128.0.0.1]:5173',
      'http://[::2]:5173',
      'http://localhost.example:5173',
      'http://notlocalhost:5173',
      'http://127.0.0.1.example:5173',
    ]) {
      expect(parseSite(with_(`operator:\n  voice: { url: "${url}" }\n`), 'site.yaml').operator.voice?.url).toBe(url);
    }
  });

  it('has no station or tour by an inherited property name', () => {
    const site = parseSite(validSite, 'site.yaml');
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(site.stations[name]).toBeUndefined();
      expect(site.tours[name]).toBeUndefined();
    }
  });

  it.each(['robot-7.local', 'robot', '::1', 'fe80::1', '127.0.0.1', 'a_b.example', 'xn--bcher-kva.example'])(
    'may name the chassis %s',
    (host) => {
      expect(problemsOf(changed('127.0.0.1', JSON.stringify(host)))).toEqual([]);
    },
  );

  it('is parsed back to the same values, whatever is in it', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,20}$/).filter((text) => !(text in {}));
    const metres = fc.double({ min: -10_000, max: 10_000, noNaN: true });
    const yawDeg = fc.double({ min: -360, max: 360, noNaN: true });
    const station = fc.record({ xM: metres, yM: metres, yawDeg }, { requiredKeys: ['xM', 'yM'] });
    const site = fc
      .record(
        {
          name: fc.string({ minLength: 1, maxLength: 60 }).filter((text) => !/\p{Cc}/u.test(text)),
          chassis: fc.record(
            {
              host: fc.oneof(fc.domain(), fc.ipV4(), fc.constant('::1')),
              port: fc.integer({ min: 1, max: 65535 }),
              serial: fc.stringMatching(/^[A-Za-z0-9:_-]{1,40}$/),
              mac: fc.stringMatching(/^[0-9a-f]{2}(:[0-9A-F]{2}){5}$/),
            },
            { requiredKeys: ['host', 'serial'] },
          ),
          stations: fc.dictionary(name, station, { minKeys: 1, maxKeys: 5 }),
        },
        { requiredKeys: ['name', 'chassis', 'stations'] },
      )
      .filter(({ chassis: { port } }) => port !== 5173 && port !== 5174)
      .chain((file) =>
        fc
          .array(fc.constantFrom(...Object.keys(file.stations)), { minLength: 1, maxLength: 5 })
          .map((stations) => ({ ...file, tours: { round: { stations } } })),
      );
    fc.assert(
      fc.property(site, (file) => {
        const read = parseSite(stringify(file), '/sites/site.yaml');
        expect({ ...read, stations: { ...read.stations }, tours: { ...read.tours } }).toMatchObject(file);
      }),
    );
  });
});

describe('an invalid site file', () => {
  it.each<[string, string, { line: number; path: string; expected?: string; suggestion?: string | null }]>([
    ['a missing key', changed('  serial: SN0001\n', ''), { line: 2, path: 'chassis.serial' }],
    ['an unknown key', with_('operator:\n  prot: 1\n'), { line: 11, path: 'operator.prot', suggestion: 'port' }],
    [
      'a number for a text',
      changed('SN0001', '0123'),
      { line: 4, path: 'chassis.serial', expected: 'text: put it in quotes' },
    ],
    ['a port with the address', changed('127.0.0.1', '"127.0.0.1:8090"'), { line: 3, path: 'chassis.host' }],
    ['a misspelt address', changed('127.0.0.1', '127.0.0.256'), { line: 3, path: 'chassis.host' }],
    ['an address with a zone', changed('127.0.0.1', '"fe80::1%eth0"'), { line: 3, path: 'chassis.host' }],
    ['a scheme in the address', changed('127.0.0.1', 'http://robot'), { line: 3, path: 'chassis.host' }],
    ['a port above 65535', with_('operator:\n  port: 70000\n'), { line: 11, path: 'operator.port' }],
    ['a heading beyond 360 degrees', changed('yawDeg: 90', 'yawDeg: 900'), { line: 6, path: 'stations.A.yawDeg' }],
    ['a coordinate that is not a number', changed('xM: 1,', 'xM: .nan,'), { line: 6, path: 'stations.A.xM' }],
    ['an infinite coordinate', changed('xM: 1,', 'xM: .inf,'), { line: 6, path: 'stations.A.xM' }],
    [
      'a tour to an unknown station',
      changed('[A, B]', '[A, b2]'),
      { line: 9, path: 'tours.lunch.stations[1]', expected: 'one of the stations A, B' },
    ],
    ['a tour to nowhere', changed('[A, B]', '[]'), { line: 9, path: 'tours.lunch.stations' }],
    ['a control character in the name', changed('name: Lobby', 'name: "a\\u001b[31m"'), { line: 1, path: 'name' }],
    ['a NUL in a path', with_('stateDir: "a\\0b"\n'), { line: 10, path: 'stateDir' }],
    ['a duplicate key', with_('name: again\n'), { line: 10, path: 'name' }],
    ['an alias', with_('stateDir: *x\n'), { line: 10, path: '' }],
    ['an anchor', with_('stateDir: &x a\n'), { line: 10, path: 'stateDir' }],
    ['a tag', with_('stateDir: !!str a\n'), { line: 10, path: 'stateDir' }],
    ['a merge key', with_('<<: { name: x }\n'), { line: 10, path: '["<<"]' }],
    [
      'a station called constructor',
      changed('  B: {', '  constructor: {').replace('[A, B]', '[A]'),
      { line: 7, path: 'stations.constructor' },
    ],
    [
      'the read-only port for the tablet socket',
      with_('operator:\n  port: 5174\n'),
      { line: 11, path: 'operator.port' },
    ],
    [
      'a key for the read-only port',
      with_('operator:\n  readOnlyPort: 6000\n'),
      { line: 11, path: 'operator.readOnlyPort' },
    ],
    ['a key for the read-only socket', with_('read_only: { host: 0.0.0.0 }\n'), { line: 10, path: 'read_only' }],
    ['a password in the file', with_('operator:\n  password: hunter2\n'), { line: 11, path: 'operator.password' }],
    [
      'a misspelt key of a secret file',
      with_('operator:\n  passwordFle: a\n'),
      { line: 11, path: 'operator.passwordFle', suggestion: 'passwordFile' },
    ],
    [
      'chassis and operator on one port',
      changed('  host:', '  port: 5173\n  host:'),
      { line: 3, path: 'chassis.port' },
    ],
    ['chassis on the read-only port', changed('  host:', '  port: 5174\n  host:'), { line: 3, path: 'chassis.port' }],
    [
      'a voice service that is the operator server',
      with_('operator:\n  voice: { url: "http://localhost:5174/" }\n'),
      { line: 11, path: 'operator.voice.url' },
    ],
    ...[
      'http://127.1:5173',
      'http://127.0.0.1:5173/api/chatbot',
      'http://0x7f000001:5174',
      'http://2130706433:5174',
      'http://0177.0.0.1:5174',
      'http://127.9.9.9:5173',
      'http://0.0.0.0:5173',
      'http://0:5173',
      'http://[::]:5173',
      'http://[::1]:5174',
      'http://[0:0:0:0:0:0:0:1]:5174',
      'http://[::ffff:127.0.0.1]:5173',
      'http://[::ffff:7f00:1]:5173',
      'http://[::FFFF:127.0.0.2]:5173',
      'http://[::127.0.0.1]:5173',
      'http://[::ffff:0.0.0.0]:5173',
      'http://LOCALHOST:5173',
      'http://localhost.:5173',
      'http://Robot.LocalHost.:5173',
      'http://localhost.localdomain:5173',
      'http://ip6-loopback:5173',
      'http://%6cocalhost:5173',
      'http://１２７.0.0.1:5173',
    ].map((url): [string, string, { line: number; path: string }] => [
      `a voice service that is the operator server, written ${url}`,
      with_(`operator:\n  voice: { url: "${url}" }\n`),
      { line: 11, path: 'operator.voice.url' },
    ]),
    [
      'a voice service that is the operator server by its own name',
      with_('operator:\n  names: [robot-7.example]\n  voice: { url: "http://Robot-7.EXAMPLE.:5173/" }\n'),
      { line: 12, path: 'operator.voice.url' },
    ],
    [
      'a building module that is the operator server by its address in the robot segment',
      with_('network: { gateway: 192.0.2.2 }\noperator:\n  port: 80\n  building: { url: "http://192.0.2.2" }\n'),
      { line: 13, path: 'operator.building.url' },
    ],
    [
      'a building module without scheme',
      with_('operator:\n  building: { url: "robot:80" }\n'),
      { line: 11, path: 'operator.building.url' },
    ],
    [
      'a voice service by another scheme',
      with_('operator:\n  voice: { url: "ftp://robot" }\n'),
      { line: 11, path: 'operator.voice.url' },
    ],
  ])('%s is reported once, with its line and key', (_what, text, expected) => {
    const problems = problemsOf(text);
    expect(problems).toHaveLength(1);
    const { path, ...rest } = expected;
    expect(problems[0]).toMatchObject({
      file: 'site.yaml',
      ...rest,
      ...(path !== '' && path !== '["<<"]' && { path }),
    });
  });

  it('explains why the read-only socket has no key', () => {
    const [problem] = problemsOf(with_('operator:\n  readOnlyPort: 6000\n'));
    expect(problem?.expected).toContain('always 127.0.0.1:5174');
  });

  it('never has its secrets in an error', () => {
    for (const text of [
      with_('operator:\n  password: hunter2\n'),
      with_('operator:\n  voice: { url: "http://me:hunter2@robot:3001" }\n'),
      with_('token: [hunter2]\n'),
    ]) {
      expect(problemsOf(text)).toHaveLength(1);
      expect(JSON.stringify(problemsOf(text))).not.toContain('hunter2');
    }
  });

  it('has all its errors reported at once, in the order of the lines', () => {
    const problems = problemsOf(
      'nmae: x\nchassis: { host: "a b", serial: 1, extra: 2 }\ntours: { t: { stations: [C] } }\n',
    );
    expect(problems.map(({ line }) => line)).toEqual(problems.map(({ line }) => line).toSorted());
    expect(new Set(problems.map(({ path }) => path))).toEqual(
      new Set(['nmae', 'name', 'chassis.host', 'chassis.serial', 'chassis.extra', 'tours.t.stations[0]']),
    );
  });

  it('may be any bytes, and is still only invalid', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'binary', maxLength: 300 })),
        (bytes) => {
          expect(problemsOf(bytes).length).toBeGreaterThan(0);
        },
      ),
    );
  });

  it('may be any YAML, and is still only invalid', () => {
    const keys = fc.constantFrom(
      'name',
      'chassis',
      'operator',
      'stations',
      'tours',
      'dock',
      'url',
      'port',
      'host',
      'x',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        fc.dictionary(keys, tie('tree')),
        fc.array(tie('tree'), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(tree, (value) => {
        expect(problemsOf(stringify(value)).length).toBeGreaterThan(0);
      }),
    );
  });

  it('truncated at any byte is valid or invalid, and nothing else', () => {
    const bytes = new TextEncoder().encode(validSite.replace('Lobby', 'Büro'));
    for (let length = 0; length <= bytes.length; length += 1) problemsOf(bytes.subarray(0, length));
  });
});

describe('loading a site file', () => {
  let dir = '';
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'gw-site-'));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const file = async (name: string, content: string | Uint8Array) => {
    await writeFile(join(dir, name), content);
    return join(dir, name);
  };

  it('resolves paths from the folder of the file', async () => {
    const path = await file('site.yaml', validSite);
    await expect(loadSite(path)).resolves.toMatchObject({ path, dir, stateDir: join(dir, 'state') });
  });

  it('that is missing is SITE_FILE_NOT_FOUND and ends with 2', async () => {
    await expect(loadSite(join(dir, 'none.yaml'))).rejects.toMatchObject({ code: 'SITE_FILE_NOT_FOUND', exitCode: 2 });
  });

  it('that is empty, a folder, a pipe, binary, or 10 MB is SITE_FILE_INVALID with its type', async () => {
    await mkdir(join(dir, 'folder'));
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    const cases: [string, RegExp][] = [
      [await file('empty.yaml', ''), /an empty file/],
      [await file('blank.yaml', '# only a comment\n'), /an empty file/],
      [join(dir, 'folder'), /a folder/],
      [join(dir, 'pipe'), /not a regular file/],
      [
        await file(
          'binary.yaml',
          Uint8Array.from({ length: 512 }, (_, i) => i % 256),
        ),
        /binary data/,
      ],
      [await file('nul.yaml', 'name: a\0b\n'), /binary data/],
      [await file('big.yaml', new Uint8Array(10 * 1024 * 1024).fill(97)), /10\.0 MiB, expected at most 256 KiB/],
      [await file('tabs.yaml', 'name: x\nchassis:\n\thost: a\n'), /:3:/],
    ];
    for (const [path, message] of cases) {
      await expect(loadSite(path), path).rejects.toMatchObject({ code: 'SITE_FILE_INVALID', exitCode: 2 });
      await expect(loadSite(path), path).rejects.toThrow(message);
    }
  });
});
