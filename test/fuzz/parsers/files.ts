import { strict as assert } from 'node:assert';
import { generateKeyPairSync, hash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { type Catalogue, parseChecklist } from '../../../src/lib/checklist/index.ts';
import { parseJournal } from '../../../src/lib/checklist/journal/journal-lines.ts';
import { readManifest } from '../../../src/lib/cloud/release/manifest.ts';
import { openPackage } from '../../../src/lib/cloud/release/read-package.ts';
import { parseDocument } from '../../../src/lib/document/index.ts';
import { parseEvidenceFile } from '../../../src/lib/evidence/record.ts';
import { kioskProfileSchema } from '../../../src/lib/kiosk/index.ts';
import { packArchive, parseArchive } from '../../../src/lib/maps/index.ts';
import { parseSshConfig, settingsOf } from '../../../src/lib/net/ssh/config/config.ts';
import { judgeHostKey, keyTypeOf, knownHostLine, parseKnownHosts } from '../../../src/lib/net/ssh/host/known-hosts.ts';
import { parseSite } from '../../../src/lib/site/index.ts';
import { HASH_PART_BYTES, linksOf, parseLine, readFields } from '../../../src/lib/tunnel/records/line.ts';
import { makePackage } from '../../cloud/release/packages.ts';
import { archivedMap, sampleArchive } from '../../maps/samples.ts';
import { endOf, linesOf, refusedOf, startOf } from '../../tunnel/records/bodies.ts';
import { isPrintable, type Parser, refusing } from '../parser.ts';

const site = `name: Lobby
chassis: { host: 127.0.0.1, serial: SN0001 }
stations:
  A: { xM: 1, yM: 2, yawDeg: 90 }
tours:
  lunch: { stations: [A] } # daily
`;
const siteWithMore = `name: 'Küche'
chassis:
  host: robot.local
  serial: "SN0001"
cloud: { mqtt: { host: mqtt.example.com, alpn: x-ca } }
operator: { names: [bot.example], building: { url: "http://198.51.100.20:8080" } }
`;
const checklist = `schema: gw/checklist/1
name: own
title: Own
purpose: >-
  To see.
steps:
  - { id: a, title: A, proves: Device, run: probe, expect: { sound: true, n: { at-least: 0.8 } }, remedy: Mend. }
  - { id: b, title: B, proves: Device, confirm: Is it?, needs: [a], remedy: Mend. }
`;
const profile = `schema: gw/kiosk/1
name: Kiosk
app: { name: com.example.kiosk, versionCode: 12, activity: .Main }
startPage: http://192.0.2.2:5173/
`;
const catalogue: Catalogue = {
  probe: { summary: 'Looks.', moves: false, with: z.strictObject({}), run: async () => ({}) },
};
const kiosk = { schema: kioskProfileSchema, maxBytes: 64 * 1024, error: 'KIOSK_PROFILE_INVALID' } as const;

/** A site file, a checklist or a kiosk profile, by the schema that it names. */
export const yaml: Parser = {
  samples: [site, siteWithMore, checklist, profile],
  words: [
    ' ',
    '  ',
    '\n  ',
    '- ',
    '? ',
    '&a ',
    '*a',
    '!!str ',
    '<<',
    '---\n',
    '...',
    '%YAML 1.2',
    '|',
    '>-',
    '0x1f',
    '.inf',
    '~',
  ],
  maxBytes: 16 * 1024,
  // Linear: the library makes an error with a stack for every bracket that does not fit. Only files are read so.
  maxMs: 1_000,
  accepts: refusing(['SITE_FILE_INVALID', 'CHECKLIST_INVALID', 'KIOSK_PROFILE_INVALID'], (input) => {
    if (input.includes('gw/checklist/1')) parseChecklist(input, 'own.yaml', catalogue);
    else if (input.includes('gw/kiosk/1')) parseDocument({ text: input, file: 'kiosk.yaml', ...kiosk });
    else parseSite(input, 'site.yaml');
  }),
};

/** The support sessions, as the daemon and the audit read them. */
export const records: Parser = {
  samples: [
    linesOf([startOf(1), endOf(1), refusedOf(1, { clientMode: 'söurce' })]).join(''),
    linesOf([endOf(2)]).join(''),
  ],
  words: [
    '"kind":"start"',
    ',"prev":"',
    ',"hash":"',
    '"replaces":null',
    '1.5',
    '"detail":"\\n"',
    '\\u00e4',
    '"services":[]',
  ],
  maxBytes: 70 * 1024,
  repair: (bytes) => Buffer.concat(linesIn(bytes).map((line) => Buffer.concat([rehashed(line), Buffer.from('\n')]))),
  accepts(input) {
    let isRecord = false;
    for (const line of linesIn(input)) {
      const parsed = parseLine(line);
      if (linksOf(line) === null) continue;
      const fields = readFields(line);
      if (parsed !== null) assert.ok(fields.ok && fields.record.seq === parsed.seq);
      isRecord ||= parsed !== null;
    }
    return isRecord;
  },
};

function linesIn(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0, next = 0; from < bytes.length; from = next + 1) {
    next = bytes.indexOf(0x0a, from);
    if (next < 0) next = bytes.length;
    lines.push(bytes.subarray(from, next));
  }
  return lines;
}

function rehashed(line: Buffer): Buffer {
  if (linksOf(line) === null) return line;
  const covered = line.subarray(0, -HASH_PART_BYTES);
  return Buffer.concat([covered, Buffer.from(`,"hash":"${hash('sha256', covered, 'hex')}"}`)]);
}

const at = '2026-01-31T12:00:00.000Z';
const step = {
  ...{ id: 'probe', title: 'Probe', proves: 'Device', kind: 'run', run: 'probe', moves: false, section: null },
  ...{
    precondition: false,
    verdict: 'ok',
    leftOut: false,
    why: 'It holds.',
    shown: null,
    remedy: null,
    at,
    tookMs: 1.5,
  },
  expectations: [{ path: 'sound', expected: 'true', found: 'true', verdict: 'ok' }],
  ...{ error: null, answer: null, values: [], measured: { sound: [1, 'a', null] }, deviation: null, earlier: [] },
};
const journalLines = [
  {
    ...{ kind: 'begun', format: 'gw/checklist-journal/1', id: '3b9f2f3e-0000-4000-8000-000000000000', at, gw: '0.1.0' },
    ...{ checklist: { name: 'own', sha256: 'a'.repeat(64) }, robots: [{ site: 'Lobby', serial: 'SN0001' }] },
  },
  { kind: 'step', robot: 0, elapsedMs: 12.5, result: step, readings: {}, software: null },
  {
    kind: 'attachment',
    attachment: { name: '001-label.jpg', sha256: 'b'.repeat(64), bytes: 7, mediaType: 'image/jpeg' },
  },
  { kind: 'resumed', at, gw: '0.1.0' },
  { kind: 'record', at, edition: 1, ok: true },
].map((line) => `${JSON.stringify(line)}\n`);

/** The journal of a checklist run. */
export const journal: Parser = {
  samples: [journalLines.join(''), `${journalLines[0]}${journalLines[4]}`],
  maxBytes: 64 * 1024,
  accepts: refusing(['JOURNAL_BROKEN'], (input) => parseJournal(input, 'run.jsonl')),
};

const evidenceLine = {
  ...{
    fact: 'vendor.move.request',
    value: true,
    serial: 'SN0001',
    software: '2.12.3',
    how: 'measured',
    who: 'Kim',
    when: at,
  },
};
const trialLine = {
  ...evidenceLine,
  value: { a: [1, 2] },
  attachment: { file: 'trial-1.json', sha256: 'c'.repeat(64) },
};

export const evidence: Parser = {
  samples: [
    `${JSON.stringify(evidenceLine)}\n${JSON.stringify(trialLine)}\n`,
    JSON.stringify({ ...evidenceLine, simulated: true }),
  ],
  maxBytes: 32 * 1024,
  accepts: refusing(['EVIDENCE_FILE_INVALID'], (input) => parseEvidenceFile(input, 'evidence.jsonl')),
};

/** Sums of the tar headers that were changed. */
function withSums(bytes: Buffer): Buffer {
  const tar = Buffer.from(bytes);
  for (let from = 0; from + 512 <= tar.length; from += 512) {
    if (tar.toString('latin1', from + 257, from + 262) !== 'ustar') continue;
    tar.fill(0x20, from + 148, from + 156);
    const sum = tar.subarray(from, from + 512).reduce((total, byte) => total + byte, 0);
    tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, from + 148, 'latin1');
  }
  return tar;
}

/** A release package as `gw` unpacks it, with a sink in place of the disk. */
export async function release(): Promise<Parser> {
  const dir = await mkdtemp(join(tmpdir(), 'gw-fuzz-'));
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const made = await makePackage(dir, privateKey, { version: '1.2.3' });
  const sample = await readFile(made.path);
  const path = join(dir, 'mutated.tar');
  return {
    samples: [sample],
    words: [
      'ustar',
      'bin/run.js',
      '../',
      'manifest.json',
      '00000000001',
      '77777777777',
      '30 mtime=1.5\n',
      '16 path=bin/x\n',
    ],
    maxBytes: 32 * 1024,
    repair: withSums,
    accepts: refusing(['RELEASE_INVALID'], async (input) => {
      await writeFile(path, input);
      const listed = new Set<string>();
      const { manifest } = await openPackage(path, {
        keys: [publicKey],
        sink: {
          onManifest: (signed) => {
            for (const file of signed.files) listed.add(file.path);
          },
          openFile: async (file) => {
            let left = file.bytes;
            assert.ok(listed.delete(file.path) && join('/a/b', file.path) === `/a/b/${file.path}`);
            return {
              write: async (chunk) => {
                left -= chunk.length;
                assert.ok(left >= 0, 'more bytes than the manifest lists');
              },
              close: async () => {},
            };
          },
        },
      });
      assert.ok(manifest.version === '1.2.3' && listed.size === 0);
    }),
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

const manifestFile = (path: string) => ({ path, bytes: 12, sha256: 'd'.repeat(64) });

/** The manifest of a release that the holder of the key has signed. */
export const manifest: Parser = {
  samples: [
    JSON.stringify({
      ...{ schema: 'gw/release/1', version: '1.2.3', minimumVersion: '1.0.0' },
      files: [
        { ...manifestFile('bin/run.js'), executable: true },
        manifestFile('docs/Grüße.md'),
        manifestFile('a/b/c.js'),
      ],
    }),
  ],
  words: ['/../', '"bin/run.js/x"', '"BIN/run.js"', '"manifest.json"', '"1.2.3-rc.1"', '"a//b"', '"a\\u0308"'],
  maxBytes: 64 * 1024,
  accepts(input) {
    const reading = readManifest(input);
    if (reading.ok) for (const { path } of reading.manifest.files) assert.equal(join('/a/b', path), `/a/b/${path}`);
    else for (const problem of reading.problems) isPrintable(problem, 20_000);
    return reading.ok;
  },
};

/** A backup of maps: the tar is mutated and packed again, or what is packed. */
export async function archive(): Promise<Parser> {
  const packed = await packArchive(sampleArchive({ maps: [archivedMap(1)] }));
  const tar = gunzipSync(packed);
  return {
    samples: [tar.subarray(0, tar.length - (tar.length % 512)), Buffer.from(packed)],
    words: ['ustar', 'maps/1/', 'manifest.json', '77777777777', '"sha256"', '30 mtime=1.5\n'],
    maxBytes: 32 * 1024,
    repair: (bytes) => gzipSync(withSums(bytes), { level: 1 }),
    accepts: refusing(['ARCHIVE_INVALID'], (input) => parseArchive(input, 'maps.tar.gz')),
  };
}

const sshConfig = `# of the technician
Host robot-* !robot-9
  HostName %h.example.com
  User "tech nician"
  Port=2222
  IdentityFile ~/.ssh/id_%r
  ProxyJump jump@bastion.example.com:22
Match all
  StrictHostKeyChecking accept-new
  UserKnownHostsFile ~/.ssh/known_hosts /etc/known
`;

export const sshConfigs: Parser = {
  samples: [sshConfig, 'Host *\n  IdentitiesOnly yes\n  IdentityAgent none\n  HashKnownHosts yes\n'],
  words: ['Host ', 'Include x', '%%', '%h', '"', "'", ' = ', 'HostKeyAlias a', 'ProxyCommand none', '\\ ', '*?*?'],
  maxBytes: 64 * 1024,
  accepts: refusing(['SSH_CONFIG_INVALID'], (input) => {
    const lines = parseSshConfig(input.toString('utf8'), 'config');
    const asked = { host: 'robot-7', user: null, port: null, localUser: 'kim', homeDir: '/home/kim' };
    const { port, jumps, notes } = settingsOf(lines, asked);
    assert.ok(port >= 1 && port <= 65_535 && Array.isArray(jumps));
    for (const note of notes) isPrintable(note, 1_000);
  }),
};

const blobOf = (fill: number) =>
  Buffer.concat([Buffer.from('\0\0\0\x0bssh-ed25519\0\0\0\x20', 'latin1'), Buffer.alloc(32, fill)]);
const [known, unknown] = [blobOf(1), blobOf(2)];
const knownLines = [
  knownHostLine('robot.example.com', known, null),
  knownHostLine('[192.0.2.2]:2222', known, Buffer.alloc(20, 3)),
  `@revoked * ${keyTypeOf(known)} ${known.toString('base64')} old\n`,
  `@cert-authority *.example.com,!a.example.com ${keyTypeOf(known)} ${known.toString('base64')}\n`,
];

export const knownHosts: Parser = {
  samples: [knownLines.join(''), `# remark\n\n${knownLines[0]}`, knownLines[1] ?? ''],
  words: ['@revoked ', '@cert-authority ', '|1|', ',!', '*', '?', '[a]:22', 'ssh-rsa'],
  maxBytes: 64 * 1024,
  accepts(input) {
    const { entries, invalidLines } = parseKnownHosts(input.toString('utf8'), 'known_hosts');
    for (const entry of entries) assert.equal(keyTypeOf(entry.blob), entry.keyType);
    for (const name of ['robot.example.com', '[192.0.2.2]:2222']) {
      assert.ok(['unknown', 'changed'].includes(judgeHostKey(entries, name, unknown).kind));
      judgeHostKey(entries, name, known);
    }
    return entries.length > 0 && invalidLines.length === 0;
  },
};
