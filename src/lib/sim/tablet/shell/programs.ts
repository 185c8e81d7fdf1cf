import { activityPrograms } from '../programs/activity.ts';
import { filePrograms } from '../programs/files.ts';
import { listingPrograms } from '../programs/listing.ts';
import { packagePrograms } from '../programs/packages.ts';
import { settingPrograms } from '../programs/settings.ts';
import { textPrograms } from '../programs/text.ts';
import type { Program } from './process.ts';

const programs: ReadonlyMap<string, Program> = new Map(
  Object.entries({
    ...textPrograms,
    ...filePrograms,
    ...listingPrograms,
    ...settingPrograms,
    ...packagePrograms,
    ...activityPrograms,
  }),
);

/** Programs behind `cmd SERVICE …`. */
const services: Readonly<Record<string, string>> = {
  package: 'pm',
  activity: 'am',
  settings: 'settings',
  device_policy: 'dpm',
  window: 'wm',
  wifi: 'cmd-wifi',
};

const command: Program = (process) => {
  const [service = '', ...words] = process.words;
  if (service === '-l') return process.out(`${Object.keys(services).join('\n')}\n`).then(() => 0);
  const program = Object.hasOwn(services, service) ? programs.get(services[service] ?? '') : undefined;
  if (!program) return process.err(`cmd: Can't find service: ${service}\n`).then(() => 20);
  return program({ ...process, words });
};

/** A program by name or path; undefined when there is none. */
export function findProgram(name: string): Program | undefined {
  const short = name.replace(/^\/system\/bin\//, '');
  if (short === 'cmd') return command;
  // Services of `cmd` are not programs.
  return short === 'cmd-wifi' ? undefined : programs.get(short);
}
