import chalk from 'chalk';
import type { Doctor, DoctorLine } from '../../lib/toolkit/doctor/doctor.result.ts';
import { countsText, findingLines, groupsWorstFirst, page, printable } from '../output.ts';

const titles: Readonly<Record<DoctorLine['group'], string>> = {
  runtime: 'Runtime',
  files: 'Files',
  clock: 'Clock',
  disk: 'Disk',
  ports: 'Ports',
  versions: 'Versions',
  unit: 'Unit of systemd',
  programs: 'Programs',
};

/** `gw doctor` */
export function renderDoctor(result: Doctor): string {
  const { lines } = result;
  const noSite = lines.find(
    ({ id, verdict, remedy }) => id === 'site-file' && verdict === 'not-checked' && remedy !== null,
  );
  const groups = Object.entries(titles).map(([group, title]) => ({
    title,
    lines: lines.filter((line) => line.group === group),
  }));
  return page(
    // Most of the other lines wait for it.
    noSite === undefined ? firstLine(result) : `${chalk.yellow('No site file.')} ${printable(noSite.remedy ?? '')}`,
    noSite !== undefined && firstLine(result),
    groupsWorstFirst(groups, (line) =>
      findingLines({ ...line, title: line.need === 'optional' ? `${line.title} (optional)` : line.title }),
    ).flatMap((block) => ['', block]),
  );
}

function firstLine({ verdict, lines, version, host }: Doctor): string {
  const count = (wanted: DoctorLine['verdict']) => lines.filter((line) => line.verdict === wanted).length;
  const where = `gw ${printable(version)} on ${printable(host)}`;
  const counts = countsText([
    [count('wrong'), 'wrong'],
    [count('not-checked'), 'not checked'],
    [count('ok'), 'ok'],
  ]);
  switch (verdict) {
    case 'ok':
      return `${chalk.green('Installation ok')}: ${where}: ${counts}`;
    case 'wrong':
      return `${chalk.red.bold('Installation has faults')}: ${where}: ${counts}`;
    case 'not-checked':
      return `${chalk.yellow('Installation not completely checked')}: ${where}: ${counts}`;
  }
}
