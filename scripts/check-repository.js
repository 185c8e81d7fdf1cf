// What must not stand in the repository: registry hosts in the lock file or packages without a checksum, machine paths, key
// material, lines that break .editorconfig.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const files = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
const rules = [
  {
    what: 'a registry host',
    pattern: /"resolved"\s*:|registry\.(npmjs|yarnpkg)\./,
    files: /(^|\/)(package-lock\.json|\.npmrc)$/,
  },
  { what: 'a machine path', pattern: /\/(root|work|home\/[a-z]+)\/[A-Za-z0-9._-]/ },
  { what: 'key material', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----/ },
  { what: 'a blank or a carriage return at the end of a line', pattern: /[ \t\r]$/m, files: /^(?!test\/fuzz\/hits\/)/ },
  { what: 'no line feed at the end', pattern: /[^\n]$(?![\s\S])/, files: /^(?!test\/fuzz\/hits\/)/ },
  { what: 'a focused or skipped test', pattern: /\b(it|test|describe)\.(only|todo)\(/, files: /\.test\.ts$/ },
];
const self = 'scripts/check-repository.js';
let found = 0;
for (const file of files) {
  if (file === self || /\.(png|jpg|pdf|db|db-wal|tar\.gz)$/.test(file)) continue;
  const text = readFileSync(join(root, file), 'utf8');
  for (const rule of rules) {
    if (rule.files && !rule.files.test(file)) continue;
    const at = text.search(rule.pattern);
    if (at < 0) continue;
    found += 1;
    process.stderr.write(`${file}:${text.slice(0, at).split('\n').length}: ${rule.what}\n`);
  }
}
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const locked = Object.entries(packages).filter(([path]) => path !== '');
for (const [path, { integrity, inBundle }] of locked) {
  // A bundled one is part of the package that holds it.
  if (inBundle || /^sha512-/.test(integrity)) continue;
  found += 1;
  process.stderr.write(`package-lock.json: ${path} has no checksum\n`);
}
if (files.length === 0 || locked.length === 0) {
  process.stderr.write('git lists no files, or the lock file no packages: the check proves nothing\n');
  found += 1;
}
if (found > 0) process.exit(1);
process.stdout.write(`repository: ${files.length} files, nothing that must not be there\n`);
