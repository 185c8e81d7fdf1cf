import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../lifecycle/index.ts';
import { readOpenSockets } from '../../net/probe/index.ts';
import type { Site } from '../../site/index.ts';
import { runSystemProgram } from '../child-process.ts';
import { conclude } from '../verdict.ts';
import { clockLines } from './clock.ts';
import { diskLines } from './disk.ts';
import type { Doctor } from './doctor.result.ts';
import { fileLines, readSite } from './files.ts';
import { type DoctorHost, linesOf } from './host.ts';
import { gatewayLines } from './ports.ts';
import { programLines } from './programs.ts';
import { runtimeLines } from './runtime.ts';
import { unitLines } from './unit.ts';

const PROGRAM_MS = 3_000;

/** This machine, with what the command knows of its own process. */
export function thisMachine(
  given: Pick<DoctorHost, 'version' | 'folder' | 'node' | 'home' | 'path' | 'signal'>,
): DoctorHost {
  return {
    ...given,
    clock: systemClock,
    name: hostname(),
    completionFiles: [
      '/etc/bash_completion.d/gw',
      '/usr/share/zsh/vendor-completions/_gw',
      join(given.home ?? '/', '.config/fish/completions/gw.fish'),
    ],
    run: (program, args) => runSystemProgram(program, args, PROGRAM_MS),
    sockets: readOpenSockets,
    async space(path) {
      const { bavail, bsize, files, ffree } = await statfs(path);
      return { freeBytes: bavail * bsize, freeInodes: files === 0 ? null : ffree };
    },
  };
}

/**
 * The installation on this machine, line by line, each with what to type. Needs no valid site file: what only that names is
 * then not checked. Connects to nothing but the gateway on this machine.
 */
export async function examine(sitePath: string, host: DoctorHost): Promise<Doctor> {
  const read = await readSite(sitePath);
  const site: Site | null = read.site;
  const lines = [
    ...linesOf('runtime', await runtimeLines(host)),
    ...linesOf('files', await fileLines(sitePath, read, host.clock)),
    ...linesOf('clock', await clockLines(sitePath, host)),
    ...linesOf('disk', await diskLines(site, host)),
    ...(await gatewayLines(site, host)),
    ...linesOf('unit', await unitLines(host)),
    ...(await programLines(site, host)),
  ];
  return {
    verdict: conclude(lines),
    at: host.clock.wall().toISOString(),
    host: host.name,
    version: host.version,
    site: sitePath,
    lines,
  };
}
