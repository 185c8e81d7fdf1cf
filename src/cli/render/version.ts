import { page, printable } from '../output.ts';
import type { VersionResult } from '../version.result.ts';

export function renderVersion({
  name,
  version,
  node,
  nodePath,
  os,
  kernel,
  architecture,
  origin,
  folder,
}: VersionResult): string {
  const rows = [
    ['from', originText(origin)],
    ['Node.js', `${node} (${printable(nodePath)})`],
    ['system', `${printable(os)}, ${printable(kernel)}`],
    ['architecture', architecture],
    ['folder', printable(folder)],
    ['documentation', printable(`${folder}/docs`)],
  ];
  return page(
    `${name} ${version}`,
    rows.map(([label = '', value]) => `${label.padEnd(13)}  ${value}`),
  );
}

const kinds = { deb: 'Debian package', tar: 'tar archive', npm: 'npm tarball', release: 'release package' } as const;

function originText(origin: VersionResult['origin']): string {
  if (origin === null) return 'a checkout, or a package that does not say so';
  const { kind, commit, sourceTime } = origin;
  return `${kinds[kind]}, commit ${printable(commit.slice(0, 12))}${commit.endsWith('-changed') ? ' with changes' : ''} of ${sourceTime}`;
}
