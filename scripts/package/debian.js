// The Debian package of a staged installation: /usr/lib/gw, /usr/bin/gw and the unit, which a person enables.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { librariesOf } from './programs.js';
import { root } from './stage.js';

const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' };
/** What packaging/gw.service names, and where the package installs. */
const USUAL_FOLDER = '/usr/local/lib/node_modules/gw';
const FOLDER = '/usr/lib/gw';

/** `1.2.0-beta.1` comes before `1.2.0`, for dpkg with a tilde. */
const debianVersion = (version) => version.replace('-', '~');

/** Takes the staged folder. `level`: of the compression, 1 to 9. */
export function makeDeb({ staged, scratch, out, arch, version, epoch, level }) {
  const { glibc, gcc } = librariesOf(join(staged, `node_modules/node-linux-${arch}/bin/node`));
  const tree = join(scratch, `deb-${arch}`);
  mkdirSync(join(tree, 'usr/lib'), { recursive: true });
  renameSync(staged, join(tree, 'usr/lib/gw'));
  mkdirSync(join(tree, 'usr/bin'));
  symlinkSync('../lib/gw/bin/gw', join(tree, 'usr/bin/gw'));
  const units = join(tree, 'lib/systemd/system');
  mkdirSync(units, { recursive: true });
  const unit = readFileSync(join(root, 'packaging/gw.service'), 'utf8').replaceAll(USUAL_FOLDER, FOLDER);
  writeFileSync(join(units, 'gw.service'), unit, { mode: 0o644 });
  const doc = join(tree, 'usr/share/doc/gw');
  mkdirSync(doc, { recursive: true });
  cpSync(join(root, 'packaging/debian/copyright'), join(doc, 'copyright'));
  writeFileSync(join(doc, 'changelog.gz'), gzipSync(changelogOf(version, epoch), { level: 9 }));
  const debian = join(tree, 'DEBIAN');
  mkdirSync(debian);
  for (const name of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(root, 'packaging/debian', name), join(debian, name), { mode: 0 });
    execFileSync('chmod', ['755', join(debian, name)]);
  }
  const kilobytes = Math.ceil(sizeOf(tree) / 1024);
  const control = readFileSync(join(root, 'packaging/debian/control'), 'utf8')
    .replace('@VERSION@', debianVersion(version))
    .replace('@ARCHITECTURE@', ARCHITECTURES[arch])
    .replace('@GLIBC@', glibc)
    .replace('@GCC@', gcc)
    .replace('@SIZE@', String(kilobytes));
  writeFileSync(join(debian, 'control'), control, { mode: 0o644 });
  // dpkg-deb keeps older times, so none may be younger than the sources.
  execFileSync('find', [tree, '-exec', 'touch', '--no-dereference', '--date', `@${epoch}`, '{}', '+']);
  const file = join(out, `gw_${debianVersion(version)}_${ARCHITECTURES[arch]}.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', `-z${level}`, '--build', tree, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { file, unpackedBytes: kilobytes * 1024 };
}

/** As deb-changelog(5) wants it; the changes themselves are in the file for every package. */
function changelogOf(version, epoch) {
  const [, maintainer] = /^Maintainer: (.+)$/m.exec(readFileSync(join(root, 'packaging/debian/control'), 'utf8'));
  const date = new Date(epoch * 1_000).toUTCString().replace('GMT', '+0000');
  return `gw (${debianVersion(version)}) stable; urgency=medium\n\n  * See ${FOLDER}/CHANGELOG.md.\n\n -- ${maintainer}  ${date}\n`;
}

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
