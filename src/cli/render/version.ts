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
  folder,
}: VersionResult): string {
  const rows = [
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
