import { access, constants, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Site } from '../../site/index.ts';
import type { Line } from '../finding.result.ts';
import { notApplicable, notChecked, ok, wrong } from '../finding.ts';
import type { DoctorLine } from './doctor.result.ts';
import { type DoctorHost, linesOf, start } from './host.ts';

interface Program {
  /** Any of these does. */
  readonly names: readonly string[];
  readonly what: string;
  readonly packageName: string;
  readonly need: DoctorLine['need'];
  /** Whether the site file calls for it; null: it always may be called. */
  readonly isForSite: ((site: Site) => boolean) | null;
}

/** Every program that gw starts and does not bring along; /bin/sh is part of every system. */
const programs: readonly Program[] = [
  {
    ...{ names: ['adb'], what: 'gw kiosk', packageName: 'adb', need: 'needed' },
    isForSite: ({ tablet }) => tablet !== undefined,
  },
  { ...{ names: ['getent'], what: 'gw network check', packageName: 'libc-bin', need: 'needed' }, isForSite: null },
  { ...{ names: ['ss'], what: 'gw network check', packageName: 'iproute2', need: 'needed' }, isForSite: null },
  {
    ...{ names: ['perl', 'systemd-notify'], what: 'readiness and watchdog of gw serve under systemd' },
    ...{ packageName: 'perl-base', need: 'needed', isForSite: null },
  },
];

/** Where programs of the system are, also for a user whose search path lacks them. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

export async function programLines(site: Site | null, host: DoctorHost): Promise<DoctorLine[]> {
  const lines: DoctorLine[] = [];
  for (const program of programs)
    lines.push(...linesOf('programs', [await programLine(program, site, host)], program.need));
  return [...lines, ...linesOf('programs', [await completionLine(host)], 'optional')];
}

async function programLine(program: Program, site: Site | null, { path }: DoctorHost): Promise<Line> {
  const { names, what, packageName, isForSite } = program;
  const line = start(`program-${names[0]}`, `Program ${names.join(' or ')}`);
  const found = await firstOf(names, [...path.split(':'), ...SYSTEM_FOLDERS]);
  if (found !== null) return ok(line, `${found}, for ${what}`);
  if (isForSite !== null && site === null)
    return notChecked(line, `not installed; whether ${what} is used here is not known without a site file`);
  if (isForSite !== null && site !== null && !isForSite(site))
    return notApplicable(line, `not installed; the site file does not use ${what}`);
  return wrong(line, `not installed, for ${what}`, `sudo apt install ${packageName}`);
}

async function firstOf(names: readonly string[], folders: readonly string[]): Promise<string | null> {
  for (const name of names) {
    for (const folder of folders.filter((one) => one.startsWith('/'))) {
      const program = join(folder, name);
      if (
        await access(program, constants.X_OK).then(
          () => true,
          () => false,
        )
      )
        return program;
    }
  }
  return null;
}

const RC_FILES = ['.bashrc', '.bash_profile', '.zshrc', '.config/fish/config.fish'];

/** A script of `gw completion` at its place, or a line that loads it in the start file of a shell. */
async function completionLine({ home, completionFiles }: DoctorHost): Promise<Line> {
  const line = start('completion', 'Completion in the shell');
  for (const path of completionFiles) {
    if ((await readFile(path, 'utf8').catch(() => '')) !== '') return ok(line, `loaded from ${path}`);
  }
  for (const name of home === undefined ? [] : RC_FILES) {
    const text = await readFile(join(home ?? '', name), 'utf8').catch(() => '');
    if (/^[^#\n]*gw completion/m.test(text)) return ok(line, `loaded by ${join(home ?? '', name)}`);
  }
  const remedy = 'For bash: gw completion bash | sudo tee /etc/bash_completion.d/gw';
  return notChecked(line, `neither in ${completionFiles.join(', ')} nor in a start file of a shell`, remedy);
}
