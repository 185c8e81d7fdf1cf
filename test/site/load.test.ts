import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Problem } from '../../src/lib/document/index.ts';
import { GwError } from '../../src/lib/error/index.ts';
import { loadSite, parseSite, timeEndpoints } from '../../src/lib/site/index.ts';
import { anyCharacter } from '../text/units.ts';

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
    const [found] = problem(building('{ name: IoT, kind: building-module, host: 198.51.100.22, port: 80 }'));
    expect(found?.path).toBe('network.devices[0].kind');
    expect(found?.expected).toContain('entered once, as operator.building.url');
  });

  it.each([
    ['198.51.100.20', 'http://198.51.100.20:8080/iot', 8080],
    ['198.51.100.20', 'http://198.51.100.20', 80],
    ['198.51.100.20', 'https://198.51.100.20', 443],
    ['IoT.Example.com', 'http://iot.example.com.:8080', 8080],
    ['2001:DB8:0::1', 'http://[2001:db8::1]:8080', 8080],
  ])('is rejected as a second entry of a device: %s beside %s', (host, url, port) => {
    const device = (at: number) => `{ name: Other, kind: other, host: "${host}", port: ${at} }`;
    const expected = 'no second entry of an address: operator.building.url has it already';
    expect(problem(building(device(port), url))).toEqual([{ path: 'network.devices[0].host', expected }]);
    expect(problemsOf(building(device(port + 1), url))).toEqual([]);
  });

  it('is rejected in the same way for the voice service', () => {
    const text = with_(
      'operator: { voice: { url: "http://198.51.100.30:3001" } }\nnetwork: { devices: [{ name: V, kind: other, host: 198.51.100.30, port: 3001 }] }\n',
    );
    expect(problem(text).map(({ path }) => path)).toEqual(['network.devices[0].host']);
  });
});

describe('the tablet of a site file', () => {
  it.each(['host: 192.0.2.4', 'serial: TAB0001', 'mac: "02:00:00:00:00:03"', 'serial: T, mac: "02:00:00:00:00:03"'])(
    'is named by %s',
    (tablet) => expect(problemsOf(`${validSite}tablet: { ${tablet} }\n`)).toEqual([]),
  );

  it.each(['', 'adbPort: 5556', 'profileFile: k.yaml'])('is not named by {%s}', (tablet) => {
    expect(problemsOf(`${validSite}tablet: { ${tablet} }\n`)).toMatchObject([
      { path: 'tablet', expected: 'at least one of host, serial and mac' },
    ]);
  });
});

describe('a device of the house', () => {
  const at = (host: string, port: number) =>
    with_(
      `operator: { port: 5180 }\nnetwork: { devices: [{ name: Door, kind: door, host: "${host}", port: ${port} }] }\n`,
    );
  it('may be a service on this gateway, and never gw itself, which would always answer', () => {
    for (const port of [3100, 8080]) expect(problemsOf(at('127.0.0.1', port))).toEqual([]);
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.9', '::1']) {
      for (const port of [5174, 5180]) {
        expect(problemsOf(at(host, port)).map(({ path }) => path)).toEqual(['network.devices[0].port']);
      }
    }
    expect(problemsOf(at('198.51.100.9', 5180))).toEqual([]);
  });
});

describe('the endpoints of the time', () => {
  it.each([
    ['one address', 'time: { urls: ["https://a.example.com"] }'],
    ['two ports of one host', 'time: { urls: ["https://a.example.com", "https://A.example.com.:8443"] }'],
    ['none', 'time: {}'],
  ])('are at least two hosts: %s is refused', (_what, time) => {
    expect(problemsOf(with_(`${time}\n`))).toMatchObject([
      { path: 'time', expected: expect.stringContaining('at least two hosts') },
    ]);
  });

  it('are those of enrolment, storage and time, each place once, and none without `time`', () => {
    const known =
      'enrolment: { url: "https://e.example.com/x" }\ncloud: { mqtt: { alpn: x-a-mqtt-ca }, storageUrl: "https://s.example.com" }\n';
    const of = (text: string) => timeEndpoints(parseSite(with_(text), 'site.yaml')).map(({ use, host }) => [use, host]);
    expect(of(known)).toEqual([]);
    expect(of(`${known}time: { urls: ["https://S.example.com", "https://t.example.com"] }\n`)).toEqual([
      ['enrolment', 'e.example.com'],
      ['storage', 's.example.com'],
      ['time', 't.example.com'],
    ]);
    expect(of(`${known}time: {}\n`)).toHaveLength(2);
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
    const here = '127.0.0.1:3001 [::ffff:127.0.0.1]:3001 localhost.:3001';
    const others = '128.0.0.1:5173 [::ffff:128.0.0.1]:5173 [::2]:5173 localhost.example:5173 notlocalhost:5173';
    for (const address of `${here} ${others} 127.0.0.1.example:5173`.split(' ')) {
      const url = `http://${address}`;
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

  it('is parsed back to the same values, whatever is in it', { tags: 'property' }, () => {
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
          // Names that differ by case alone are those of one place.
          stations: fc
            .dictionary(name, station, { minKeys: 1, maxKeys: 5 })
            .filter(
              (places) =>
                new Set(Object.keys(places).map((key) => key.toLowerCase())).size === Object.keys(places).length,
            ),
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
  const stations = { expected: 'one of the stations A, B' };
  const always = { expected: expect.stringContaining('always 127.0.0.1:5174') };
  const operator = (line: string) => with_(`operator:\n  ${line}\n`);
  const voice = (url: string) => operator(`voice: { url: "${url}" }`);
  const text = { expected: 'text: put it in quotes' };
  const own = 'network: { gateway: 192.0.2.2 }\noperator:\n  port: 80\n  building: { url: "http://192.0.2.2" }\n';
  const named = 'operator:\n  names: [robot-7.example]\n  voice: { url: "http://Robot-7.EXAMPLE.:5173/" }\n';
  it.each<[what: string, text: string, line: number, path: string | null, more?: object]>([
    ['a missing key', changed('  serial: SN0001\n', ''), 2, 'chassis.serial'],
    ['an unknown key', operator('prot: 1'), 11, 'operator.prot', { suggestion: 'port' }],
    ['a number for a text', changed('SN0001', '0123'), 4, 'chassis.serial', text],
    ['a port with the address', changed('127.0.0.1', '"127.0.0.1:8090"'), 3, 'chassis.host'],
    ['a misspelt address', changed('127.0.0.1', '127.0.0.256'), 3, 'chassis.host'],
    ['an address with a zone', changed('127.0.0.1', '"fe80::1%eth0"'), 3, 'chassis.host'],
    ['a scheme in the address', changed('127.0.0.1', 'http://robot'), 3, 'chassis.host'],
    ['a port above 65535', operator('port: 70000'), 11, 'operator.port'],
    ['a heading beyond 360 degrees', changed('yawDeg: 90', 'yawDeg: 900'), 6, 'stations.A.yawDeg'],
    ['a coordinate that is not a number', changed('xM: 1,', 'xM: .nan,'), 6, 'stations.A.xM'],
    ['an infinite coordinate', changed('xM: 1,', 'xM: .inf,'), 6, 'stations.A.xM'],
    ['a tour to an unknown station', changed('[A, B]', '[A, b2]'), 9, 'tours.lunch.stations[1]', stations],
    ['a tour to nowhere', changed('[A, B]', '[]'), 9, 'tours.lunch.stations'],
    ['a control character in the name', changed('name: Lobby', 'name: "a\\u001b[31m"'), 1, 'name'],
    ['a NUL in a path', with_('stateDir: "a\\0b"\n'), 10, 'stateDir'],
    ['a duplicate key', with_('name: again\n'), 10, 'name'],
    ['an alias', with_('stateDir: *x\n'), 10, null],
    ['an anchor', with_('stateDir: &x a\n'), 10, 'stateDir'],
    ['a tag', with_('stateDir: !!str a\n'), 10, 'stateDir'],
    ['a merge key', with_('<<: { name: x }\n'), 10, null],
    ['an inherited name', changed('  B: {', '  constructor: {').replace('[A, B]', '[A]'), 7, 'stations.constructor'],
    ['the read-only port for the tablet socket', operator('port: 5174'), 11, 'operator.port'],
    ['a key for the read-only port', operator('readOnlyPort: 6000'), 11, 'operator.readOnlyPort', always],
    ['a key for the read-only socket', with_('read_only: { host: 0.0.0.0 }\n'), 10, 'read_only'],
    ['a password in the file', operator('password: hunter2'), 11, 'operator.password'],
    ['a misspelt secret file', operator('passwordFle: a'), 11, 'operator.passwordFle', { suggestion: 'passwordFile' }],
    ['chassis and operator on one port', changed('  host:', '  port: 5173\n  host:'), 3, 'chassis.port'],
    ['chassis on the read-only port', changed('  host:', '  port: 5174\n  host:'), 3, 'chassis.port'],
    ['a voice service that is the operator server by its own name', with_(named), 12, 'operator.voice.url'],
    ['a building module that is the operator server by its address', with_(own), 13, 'operator.building.url'],
    ['a building module without scheme', operator('building: { url: "robot:80" }'), 11, 'operator.building.url'],
    ['a voice service by another scheme', voice('ftp://robot'), 11, 'operator.voice.url'],
  ])('%s is reported once, with its line and key', (_what, text, line, path, more) => {
    expect(problemsOf(text)).toMatchObject([{ file: 'site.yaml', line, ...(path !== null && { path }), ...more }]);
    expect(problemsOf(text)).toHaveLength(1);
  });

  it('has the operator server as its own voice service, however that is written', () => {
    const [ipv4, ipv6, names] = [
      '127.1:5173 127.0.0.1:5173/api/chatbot 0x7f000001:5174 2130706433:5174 0177.0.0.1:5174 127.9.9.9:5173 0:5173',
      '[::]:5173 [::1]:5174 [0:0:0:0:0:0:0:1]:5174 [::ffff:127.0.0.1]:5173 [::ffff:7f00:1]:5173 [::ffff:0.0.0.0]:5173',
      'LOCALHOST:5173 localhost.:5173 Robot.LocalHost.:5173 localhost.localdomain:5173 %6cocalhost:5173',
    ];
    const others = '0.0.0.0:5173 [::FFFF:127.0.0.2]:5173 [::127.0.0.1]:5173 ip6-loopback:5173 １２７.0.0.1:5173';
    for (const address of `${ipv4} ${ipv6} ${names} ${others} localhost:5174/`.split(' ')) {
      const problems = problemsOf(voice(`http://${address}`));
      expect(
        problems.map(({ line, path }) => `${line} ${path}`),
        address,
      ).toEqual(['11 operator.voice.url']);
    }
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
    const paths = ['nmae', 'name', 'chassis.host', 'chassis.serial', 'chassis.extra', 'tours.t.stations[0]'];
    expect(new Set(problems.map(({ path }) => path))).toEqual(new Set(paths));
  });

  it('may be any bytes, and is still only invalid', { tags: 'property' }, () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.string({ unit: anyCharacter, maxLength: 300 }));
    fc.assert(
      fc.property(bytes, (any) => {
        expect(problemsOf(any).length).toBeGreaterThan(0);
      }),
    );
  });

  it('may be any YAML, and is still only invalid', { tags: 'property' }, () => {
    const keys = fc.constantFrom(...'name chassis operator stations tours dock url port host x'.split(' '));
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

  it('that is empty, a folder, a pipe, binary, or 1 MB is SITE_FILE_INVALID with its type', async () => {
    await mkdir(join(dir, 'folder'));
    execFileSync('mkfifo', [join(dir, 'pipe')]);
    const cases: [string, RegExp][] = [
      [await file('empty.yaml', ''), /an empty file/],
      [await file('blank.yaml', '# only a comment\n'), /an empty file/],
      [join(dir, 'folder'), /a folder/],
      [join(dir, 'pipe'), /not a regular file/],
      [await file('binary.yaml', Uint8Array.of(0x6e, 0xff, 0xfe)), /binary data/],
      [await file('nul.yaml', 'name: a\0b\n'), /binary data/],
      [await file('big.yaml', new Uint8Array(1024 * 1024).fill(97)), /1\.0 MiB, expected at most 256 KiB/],
      [await file('tabs.yaml', 'name: x\nchassis:\n\thost: a\n'), /:3:/],
    ];
    for (const [path, message] of cases) {
      await expect(loadSite(path), path).rejects.toMatchObject({ code: 'SITE_FILE_INVALID', exitCode: 2 });
      await expect(loadSite(path), path).rejects.toThrow(message);
    }
  });
});
