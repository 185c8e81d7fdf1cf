import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openClaim, otherRobots, type Site } from '../../site/index.ts';
import type { Line } from '../finding.result.ts';
import { notChecked, ok, wrong } from '../finding.ts';
import { type DoctorHost, orNotChecked, start } from './host.ts';

/** A stop, an outbox and records make few files; below this a log or a release can use the last one. Project decision. */
const MIN_INODES = 2_000;
const mb = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`;
const LARGE = 'du -x -d1 -h / | sort -h | tail, then remove unneeded files';

/** Space on the file system of stateDir, and whose state it holds. */
export async function diskLines(site: Site | null, host: DoctorHost): Promise<Line[]> {
  const [space, inodes, robots] = [
    start('disk-space', 'Free space of stateDir'),
    start('disk-inodes', 'Free inodes of stateDir'),
    start('disk-robots', 'State of other robots'),
  ];
  if (site === null)
    return [space, inodes, robots].map((line) => notChecked(line, 'no valid site file names the folder'));
  const folder = await nearest(site.stateDir);
  const reserve = site.disk.reserveMb * 1_000_000;
  return [
    await orNotChecked(space.id, space.title, async () => {
      const { freeBytes } = await host.space(folder);
      const detail = `${mb(freeBytes)} free at ${folder}, reserve ${mb(reserve)} (disk.reserveMb)`;
      return freeBytes >= reserve ? ok(space, detail) : wrong(space, detail, LARGE);
    }),
    await orNotChecked(inodes.id, inodes.title, async () => {
      const { freeInodes } = await host.space(folder);
      if (freeInodes === null) return notChecked(inodes, `the file system of ${folder} does not count them`);
      const detail = `${freeInodes} free at ${folder}, at least ${MIN_INODES} are needed`;
      return freeInodes >= MIN_INODES
        ? ok(inodes, detail)
        : wrong(inodes, detail, 'du -x --inodes -d1 / | sort -n | tail, then remove unneeded files');
    }),
    await orNotChecked(robots.id, robots.title, async () => {
      const open = await openClaim(site);
      if (open !== null) {
        return notChecked(
          robots,
          open,
          'Restart `gw serve`, which sorts it at its start; its log says what kept it from that.',
        );
      }
      const others = await otherRobots(site);
      const kept = others.map(({ serial, folder }) => `of ${serial} in ${folder}`).join(', ');
      return ok(
        robots,
        kept === '' ? 'none' : `kept ${kept}: nothing of it is used or sent for ${site.chassis.serial}`,
      );
    }),
  ];
}

async function nearest(path: string): Promise<string> {
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    if (
      await stat(folder).then(
        () => true,
        () => false,
      )
    )
      return folder;
  }
  return '/';
}
