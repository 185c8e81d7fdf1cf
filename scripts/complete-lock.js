// Adds to the lock file what `npm install` left out of it: optional packages for platforms that the package registry
// in reach did not offer. Without an entry for each, `npm ci` takes the lock file for out of step. Run it after
// `npm install`; it changes nothing where the registry offered everything.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = fileURLToPath(new URL('../package-lock.json', import.meta.url));
const lock = JSON.parse(readFileSync(path, 'utf8'));
const { packages } = lock;

/** Platform of a binary package by the end of its name: linux-arm64-musl, win32-x64-msvc. */
function platformOf(name) {
  const [, os, cpu, abi = ''] =
    /(?:^|[/-])(android|darwin|freebsd|linux|openharmony|win32)-([a-z0-9]+)(?:-([a-z]+))?$/.exec(name) ?? [];
  if (os === undefined) throw new Error(`${name}: no platform in the name`);
  const libc = os !== 'linux' ? null : abi.startsWith('musl') ? 'musl' : abi.startsWith('gnu') ? 'glibc' : null;
  return { cpu: [cpu], ...(libc && { libc: [libc] }), os: [os] };
}

const added = [];
for (const parent of Object.values({ ...packages })) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    if (packages[key] !== undefined || !/^\d+\.\d+\.\d+/.test(version)) continue;
    packages[key] = { version, ...platformOf(name), ...(parent.dev && { dev: true }), optional: true };
    added.push(name);
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${added.length} entries added${added.length > 0 ? `: ${added.join(', ')}` : ''}\n`);
