import { printable, renderTable } from '../output.ts';
import type { VersionResult } from '../version.result.ts';

export function renderVersion({
  name,
  version,
  node,
  nodePath,
  os,
  kernel,
  architecture,
  folder,
}: VersionResult): string {
  const rows = [
    ['Node.js', `${node} (${printable(nodePath)})`],
    ['system', `${printable(os)}, ${printable(kernel)}`],
    ['architecture', architecture],
    ['folder', printable(folder)],
    ['documentation', printable(`${folder}/docs`)],
  ];
  return `${name} ${version}\n${renderTable(['', ''], rows).replace(/^.*\n/, '')}`;
}
