// What the compiled files of a package need of a machine: its processor, and the versions of its C and C++ libraries.
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** Processor by e_machine of the ELF header. */
const MACHINES = { 62: 'x64', 183: 'arm64' };
/** The first GCC of each version of its C++ library, by the manual of libstdc++ ('ABI Policy and Guidelines'). */
const GCC_VERSIONS = [
  ['5.1', { GLIBCXX: '3.4.21', CXXABI: '1.3.9' }],
  ['6.1', { GLIBCXX: '3.4.22', CXXABI: '1.3.10' }],
  ['7.1', { GLIBCXX: '3.4.23', CXXABI: '1.3.11' }],
  ['8.1', { GLIBCXX: '3.4.25', CXXABI: '1.3.11' }],
  ['9.1', { GLIBCXX: '3.4.26', CXXABI: '1.3.12' }],
  ['10.1', { GLIBCXX: '3.4.28', CXXABI: '1.3.12' }],
  ['11.1', { GLIBCXX: '3.4.29', CXXABI: '1.3.13' }],
  ['12.1', { GLIBCXX: '3.4.30', CXXABI: '1.3.13' }],
  ['13.1', { GLIBCXX: '3.4.31', CXXABI: '1.3.14' }],
  ['14.1', { GLIBCXX: '3.4.33', CXXABI: '1.3.15' }],
];

/** Every ELF file below the folder, with its processor: x64, arm64, or the number of another. */
export function programsIn(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .flatMap((path) => {
      const header = headOf(path);
      const isElf = header.subarray(0, 4).equals(Buffer.from('\x7fELF', 'latin1'));
      const machine = isElf ? header.readUInt16LE(18) : undefined;
      return isElf ? [{ path, processor: MACHINES[machine] ?? `machine ${machine}` }] : [];
    });
}

function headOf(path) {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  return head;
}

/** The oldest glibc, and the GCC of the oldest libstdc++, that have every symbol of the program. */
export function librariesOf(program) {
  const out = execFileSync('readelf', ['--version-info', '--wide', program], { encoding: 'utf8' });
  const needed = {};
  for (const [, name, version] of out.matchAll(/ Name: (GLIBC|GLIBCXX|CXXABI)_([0-9.]+) /g)) {
    if (needed[name] === undefined || isOlder(needed[name], version)) needed[name] = version;
  }
  const { GLIBC: glibc, GLIBCXX, CXXABI } = needed;
  const [gcc] =
    GCC_VERSIONS.find(([, has]) => !isOlder(has.GLIBCXX, GLIBCXX ?? '0') && !isOlder(has.CXXABI, CXXABI ?? '0')) ?? [];
  if (glibc === undefined || gcc === undefined) {
    throw new Error(`${program}: no libraries are known for GLIBC ${glibc}, GLIBCXX ${GLIBCXX}, CXXABI ${CXXABI}`);
  }
  return { glibc, gcc };
}

function isOlder(version, other) {
  return version.localeCompare(other, 'en', { numeric: true }) < 0;
}
