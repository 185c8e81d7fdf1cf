// npm run package [-- --out DIR] [--npm-only | [--arch x64,arm64] [--level 1-9] [--signing-key FILE]]
// Makes the packages of this version from the lock: a .deb and a tar.gz for each processor, the npm tarball, a bill of
// materials for each, and their checksums; with a key the release package, and a signature of the checksums. The same
// commit gives the same bytes, at any path. --npm-only: the npm tarball and nothing else, which needs no other tools.
import { execFileSync } from 'node:child_process';
import { createHash, createPrivateKey, sign } from 'node:crypto';
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { makeDeb } from './debian.js';
import { licenceProblems } from './licences.js';
import { sbomOf } from './sbom.js';
import { schemaProblems } from './sbom-schema.js';
import { root, sourceOf, stageGateway, stageNpm, writeOrigin } from './stage.js';

/** Decided for a gateway: at most so much is installed and sent. */
const MAX_UNPACKED_MB = 150;
const MAX_PACKED_MB = 40;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(root, 'packages') },
    'npm-only': { type: 'boolean', default: false },
    arch: { type: 'string', default: 'x64,arm64' },
    level: { type: 'string', default: '6' },
    'signing-key': { type: 'string' },
  },
});
const out = resolve(values.out);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const source = sourceOf();
const scratch = mkdtempSync(join(tmpdir(), 'gw-package-'));
const problems = [];
const signingKey = values['signing-key'] && resolve(values['signing-key']);
const releaseSums = new Set();
try {
  mkdirSync(out, { recursive: true });
  for (const name of readdirSync(out)) if (/^(gw[-_]|SHA256SUMS)/.test(name)) rmSync(join(out, name));
  for (const arch of values['npm-only'] ? [] : values.arch.split(',')) {
    const name = `gw-${version}-linux-${arch}`;
    const staged = join(scratch, name);
    stageGateway(staged, { arch, kind: 'tar', source });
    const bom = sbomOf(staged, source);
    for (const problem of [...licenceProblems(staged, bom), ...schemaProblems(bom)])
      problems.push(`${name}: ${problem}`);
    writeFileSync(join(out, `${name}.cdx.json`), `${JSON.stringify(bom, null, 2)}\n`);
    // --sort and the fixed owner and time: the order of a folder and who built it are not of the package.
    const tar = [
      '--sort=name',
      `--mtime=@${source.epoch}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--format=ustar',
    ];
    const archive = execFileSync('tar', [...tar, '-cf', '-', '-C', scratch, name], { maxBuffer: 1024 ** 3 });
    // gzip, since the smallest Debian has no xz.
    const packed = execFileSync('gzip', ['-n', `-${values.level}`], { input: archive, maxBuffer: 1024 ** 3 });
    writeFileSync(join(out, `${name}.tar.gz`), packed);
    if (signingKey !== undefined) releaseSums.add(makeRelease(staged, arch));
    writeOrigin(staged, { kind: 'deb', source });
    const { file, unpackedBytes } = makeDeb({
      staged,
      scratch,
      out,
      arch,
      version,
      epoch: source.epoch,
      level: values.level,
    });
    if (unpackedBytes > MAX_UNPACKED_MB * 1e6)
      problems.push(`${file} unpacks to ${megabytes(unpackedBytes)}, more than ${MAX_UNPACKED_MB} MB`);
    if (Number(values.level) >= 6 && statSync(file).size > MAX_PACKED_MB * 1e6)
      problems.push(`${file} has ${megabytes(statSync(file).size)}, more than ${MAX_PACKED_MB} MB`);
    process.stdout.write(`${arch}: unpacked ${megabytes(unpackedBytes)}\n`);
  }
  if (releaseSums.size > 1) throw new Error('the release package differs between the processors');
  const npm = join(scratch, 'npm');
  stageNpm(npm, { source });
  execFileSync('npm', ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', out], {
    cwd: npm,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const lines = [];
  for (const name of readdirSync(out).sort()) {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(join(out, name))) hash.update(chunk);
    lines.push(`${hash.digest('hex')}  ${name}`);
    process.stdout.write(`${megabytes(statSync(join(out, name)).size).padStart(9)}  ${name}\n`);
  }
  const sums = Buffer.from(`${lines.join('\n')}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), sums);
  if (signingKey !== undefined) {
    writeFileSync(join(out, 'SHA256SUMS.sig'), sign(null, sums, createPrivateKey(readFileSync(signingKey))));
  }
  process.stdout.write(`packages of gw ${version}, commit ${source.commit.slice(0, 12)}, in ${out}\n`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (problems.length > 0) {
  process.stderr.write(`${problems.join('\n')}\n`);
  process.exitCode = 1;
}

/** Without Node.js: that of the base installation runs every release, and without it one package is for both processors. */
function makeRelease(staged, arch) {
  const node = join(staged, `node_modules/node-linux-${arch}`);
  const aside = join(scratch, 'node');
  renameSync(node, aside);
  writeOrigin(staged, { kind: 'release', source });
  const words = ['--signing-key', signingKey, '--out', join(out, `gw-${version}.release.tar`), '--force', '--json'];
  const made = execFileSync('node', [join(root, 'bin/run.js'), 'release', 'make', staged, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  renameSync(aside, node);
  return JSON.parse(made).data.sha256;
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
