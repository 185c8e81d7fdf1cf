import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Line } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { type DoctorHost, start } from './host.ts';

/** The Node.js of this process against `engines` of the package, and which one it is. */
export async function runtimeLines({ folder, node, version }: DoctorHost): Promise<Line[]> {
  const line = start('node', 'Node.js');
  const origin = node.path.startsWith(join(folder, 'node_modules')) ? 'the one that came along' : 'of the system';
  const detail = `${node.version}, ${origin}, ${node.path}`;
  const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null);
  const needed = /"node":\s*">=(\d+(?:\.\d+)*)"/.exec(manifest ?? '')?.[1];
  const gw = start('gw', 'Installation');
  const own = /"version":\s*"([^"]{1,40})"/.exec(manifest ?? '')?.[1];
  return [
    needed === undefined
      ? notChecked(line, `${detail}; the package does not say which version it needs`)
      : isAtLeast(node.version, needed)
        ? ok(line, detail)
        : wrong(
            line,
            `${detail}; at least ${needed} is needed`,
            'Install gw again with `npm ci`, which brings Node.js along.',
          ),
    own === version
      ? ok(gw, `gw ${version} in ${folder}`)
      : wrong(
          gw,
          `${folder} holds the package of gw ${own ?? 'unknown'}, and ${version} runs`,
          'Install it again: `sudo npm install --global --ignore-scripts ./gw-*.tgz`',
        ),
  ];
}

/** By numbers, part by part. */
export function isAtLeast(version: string, needed: string): boolean {
  const [have, want] = [version, needed].map((text) => text.split('.').map(Number));
  for (const [at, part] of (want ?? []).entries()) {
    const own = have?.[at] ?? 0;
    if (own !== part) return own > part;
  }
  return true;
}
