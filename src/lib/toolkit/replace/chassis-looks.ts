import { mapOfPlace } from '../../site/index.ts';
import type { ChassisSeen } from './chassis-robot.ts';
import type { StepLine } from './replace.result.ts';
import { chassisLine, newestOf, recordLine } from './robot-looks.ts';
import { isUnseen, unseen } from './seen.ts';
import { line } from './step.ts';

/** Step whose word gives the maps of the old chassis up. */
export const OLD_MAPS = 'old-maps';

export const isGivenUp = ({ words }: ChassisSeen) => words.some(({ step }) => step === OLD_MAPS);
export const hasIdentity = ({ site }: ChassisSeen) => site.enrolment !== undefined || site.cloud !== undefined;

/** Of a site file that still names the old chassis, what follows is read as that of the old one. */
export function ofNew({ site, to }: ChassisSeen, look: () => StepLine[]): StepLine[] {
  const { serial } = site.chassis;
  return serial === to
    ? look()
    : [line('site-file', 'Site file', 'open', `it still names ${serial}, see the step site-file`)];
}

export function oldMapsLines(seen: ChassisSeen): StepLine[] {
  const { archive, from, chassis, site } = seen;
  const [id, title] = ['archive', `Backup of the maps of ${from}`];
  if (archive === null) {
    if (isGivenUp(seen)) return [];
    const isThere = !isUnseen(chassis) && chassis.serial.found === from && site.chassis.serial === from;
    const how = isThere
      ? 'Run this command again while the old chassis answers.'
      : 'Name an earlier backup with --backup FILE, or go on without: --without-maps --who NAME.';
    return [
      line(
        id,
        title,
        'open',
        isThere ? 'not taken yet' : 'none is known, and the old chassis does not answer here',
        how,
      ),
    ];
  }
  const other = 'Name a backup of the old chassis with --backup FILE, or go on without: --without-maps --who NAME.';
  const bad = isGivenUp(seen) ? 'not-applicable' : 'wrong';
  if (isUnseen(archive)) return [line(id, title, bad, archive.message, other)];
  const { path, serial, isComplete, lacks, isSame } = archive;
  if (!isSame) return [line(id, title, bad, `${path} is not the file of the beginning: its SHA-256 differs`, other)];
  if (serial !== from) return [line(id, title, bad, `${path} is of ${serial ?? 'an unknown chassis'}`, other)];
  if (isComplete && Date.parse(archive.createdAt) < Date.parse(seen.begunAt)) {
    const detail = `${path}, named by a person, of ${archive.createdAt}: what was changed on the maps since is not in it`;
    return [line(id, title, 'stated', detail)];
  }
  if (isComplete) return [line(id, title, 'ok', `${path}, verified, of ${archive.createdAt}`)];
  const detail = `${path} lacks ${lacks.join('; ') || 'a map'}`;
  return [line(id, title, bad, detail, other)];
}

export function endedLines({ gateway, to }: ChassisSeen): StepLine[] {
  const [id, title] = ['ended', 'No gateway runs but that of the new chassis'];
  const { robots, silent, problem, unit } = gateway;
  const stop =
    unit === 'active'
      ? 'sudo systemctl stop gw'
      : 'End it with Ctrl-C, or by its process id; `gw doctor` names the process.';
  const other = robots.find(({ serial }) => serial !== to);
  if (other !== undefined) {
    const who = other.serial ?? 'a robot that it does not name';
    return [line(id, title, 'open', `gw serve of ${who} answers at ${other.place}`, stop)];
  }
  if (silent.length > 0) {
    return [line(id, title, 'not-checked', `a program without an answer holds ${silent.join(', ')}`, stop)];
  }
  if (problem !== null) return [line(id, title, 'not-checked', problem, 'gw doctor')];
  return [line(id, title, 'ok', robots.length === 0 ? 'none answers' : `that of ${to} runs`)];
}

export function siteFileLines(seen: ChassisSeen): StepLine[] {
  const { site, from, to, old, wanted } = seen;
  const { serial, mac, host } = site.chassis;
  const lines = [
    serial === to
      ? line('serial', 'chassis.serial', 'ok', to)
      : line(
          'serial',
          'chassis.serial',
          serial === from ? 'open' : 'wrong',
          `it is ${serial}`,
          `Set it to ${to} in ${site.path}.`,
        ),
  ];
  if (wanted.host !== undefined && wanted.host !== host) {
    lines.push(line('host', 'chassis.host', 'open', `it is ${host}`, `Set it to ${wanted.host} in ${site.path}.`));
  }
  if (wanted.mac !== undefined && wanted.mac.toLowerCase() !== mac?.toLowerCase()) {
    lines.push(line('mac', 'chassis.mac', 'open', mac ?? 'none', `Set it to ${wanted.mac} in ${site.path}.`));
  } else if (old.mac !== null && mac === old.mac) {
    lines.push(
      line('mac', 'chassis.mac', 'open', 'still that of the old chassis', 'Name that of the new one with --mac MAC.'),
    );
  } else
    lines.push(line('mac', 'chassis.mac', mac === undefined ? 'not-applicable' : 'ok', mac ?? 'none in the site file'));
  const robots = site.fleet?.robots ?? [];
  if (robots.length > 0) {
    const isRight = robots.includes(to) && !robots.includes(from);
    const detail = isRight
      ? `names ${to}`
      : `names ${robots.filter((one) => one === from || one === to).join(', ') || 'neither'}`;
    const remedy = isRight ? null : `Put ${to} in the place of ${from}.`;
    lines.push(line('robots', 'fleet.robots', isRight ? 'ok' : 'open', detail, remedy));
  }
  if (serial === to) lines.push(chassisLine(seen, to));
  return lines;
}

export function addressLines(seen: ChassisSeen): StepLine[] {
  return ofNew(seen, () => {
    const answers = chassisLine(seen, seen.to);
    const { chassis } = seen;
    if (isUnseen(chassis) || chassis.mac.verdict === 'not-applicable') return [answers];
    const { verdict, detail } = chassis.mac;
    // A word of a person stands where the MAC address cannot be seen.
    const mac = verdict === 'not-checked' ? 'not-applicable' : verdict;
    const remedy = mac === 'wrong' ? 'gw chassis address --check-mac' : null;
    return [answers, line('mac', 'MAC address of the reservation', mac, detail, remedy)];
  });
}

export function mapsLines(seen: ChassisSeen): StepLine[] {
  const [id, title] = ['maps', 'The maps of the backup are on the new chassis'];
  return ofNew(seen, () => {
    const { copied, archive } = seen;
    if (archive === null || isUnseen(archive) || !archive.isSame || archive.serial !== seen.from) {
      if (isGivenUp(seen)) return [line(id, title, 'not-applicable', 'given up, see the first step')];
      return [line(id, title, 'open', 'no backup of the old chassis is known')];
    }
    if (copied === null) return [line(id, title, 'not-checked', 'not compared')];
    if (isUnseen(copied)) return [unseen(id, title, copied)];
    const write = 'With a person beside the robot: --write-although-never-measured. `gw map restore` shows the plan.';
    const count = (wanted: string) => copied.maps.filter(({ plan }) => plan === wanted).length;
    switch (copied.verdict) {
      case 'nothing-to-do':
        return [line(id, title, 'ok', `${copied.maps.length} compared by content`)];
      case 'to-do':
        return [
          line(
            id,
            title,
            'open',
            `${count('missing')} missing, ${count('overlays-differ')} with other overlays`,
            write,
          ),
        ];
      case 'stored-only':
        return [
          line(id, title, 'open', 'stored, but the robot drives by other overlays', 'Select the map: `gw map select`.'),
        ];
      default: {
        const whys = copied.maps.filter(({ why }) => why !== null).map(({ name, why }) => `${name}: ${why}`);
        const isRest = isGivenUp(seen) && copied.maps.every(({ plan }) => plan === 'same');
        const verdict = isRest ? 'not-applicable' : 'wrong';
        return [line(id, title, verdict, whys.join('; ') || copied.verdict, isRest ? null : 'gw map restore')];
      }
    }
  });
}

/** The map on which the robot is now; null while it is not known. */
export function frameOfMap({ gateway: { live }, site, to }: ChassisSeen): string | null {
  if (isUnseen(live) || site.chassis.serial !== to) return null;
  const { value, stale, isUnreadable } = live.map;
  if (value === null || stale !== null || isUnreadable || value.uid.trim() === '') return null;
  return `map ${value.uid} version ${value.mapVersion ?? 'unknown'}`;
}

export function positionLines(seen: ChassisSeen): StepLine[] {
  return ofNew(seen, () => {
    const { live } = seen.gateway;
    if (isUnseen(live)) return [unseen('current-map', 'Current map', live)];
    const { map, pose } = live;
    const select = 'Select the map on which the robot stands (`gw map select`), then set its position.';
    const frame = frameOfMap(seen);
    if (frame === null) return [line('current-map', 'Current map', 'open', 'the robot reports none now', select)];
    const { archive } = seen;
    const uids = archive === null || isUnseen(archive) ? [] : archive.uids;
    const isOther = uids.length > 0 && !uids.includes(map.value?.uid ?? '');
    const name = map.value?.name ?? '';
    const lines = [
      isOther
        ? line('current-map', 'Current map', 'wrong', `${name} is none of the backup`, select)
        : line('current-map', 'Current map', 'ok', name),
    ];
    const doubt = pose.value === null ? 'not received' : (pose.stale ?? pose.doubts[0] ?? null);
    lines.push(
      doubt === null
        ? line('pose', 'Position', 'ok', 'reported now, without a doubt')
        : line('pose', 'Position', 'open', doubt, 'Set it at the robot: on its page, or with `gw motion pose`.'),
    );
    return lines;
  });
}

export function oldEvidenceLine({ device, from }: ChassisSeen): StepLine {
  const [id, title] = ['old-evidence', `Verifications of ${from}`];
  if (isUnseen(device)) return line(id, title, 'not-applicable', 'none of them counts; they were not read');
  const facts = [...new Set(device.lines.filter(({ serial }) => serial === from).map(({ fact }) => fact))].sort();
  return line(
    id,
    title,
    'not-applicable',
    facts.length === 0 ? 'there are none' : `count no longer: ${facts.join(', ')}`,
  );
}

export function placesLines(seen: ChassisSeen): StepLine[] {
  const { site, gateway } = seen;
  const places = [
    ...Object.entries(site.stations).map(([name, at]) => ({ name, at })),
    ...(site.dock === undefined ? [] : [{ name: 'dock', at: site.dock }]),
  ];
  const [id, title] = ['measured', 'Measured on the current map'];
  if (places.length === 0) return [line(id, title, 'not-applicable', 'the site file has no stations and no dock')];
  return ofNew(seen, () => {
    const { live } = gateway;
    const map = isUnseen(live) ? null : live.map.value;
    if (map === null || frameOfMap(seen) === null)
      return [line(id, title, 'not-checked', 'the current map is not known')];
    const outside = places.filter(({ at }) => {
      const of = mapOfPlace(site, at);
      return of === null || of.uid !== map.uid || of.version !== map.mapVersion;
    });
    const remedy = 'Beside the robot, on that map: `gw site map --measured-on-it`, then restart gw serve.';
    if (outside.length === places.length) {
      return [line(id, title, 'open', `none of ${places.map(({ name }) => name).join(', ')}`, remedy)];
    }
    const inside = places.filter((place) => !outside.includes(place));
    return [
      line(id, title, 'ok', inside.map(({ name }) => name).join(', ')),
      // Of another floor: it is looked at when the robot is there.
      ...outside.map(({ name }) => line(`place-${name}`, name, 'not-applicable', 'measured on another map')),
    ];
  });
}

export const hasOthers = ({ site, from, to }: ChassisSeen) =>
  (site.fleet?.robots ?? []).some((serial) => serial !== from && serial !== to);

export function otherRobotsLines(seen: ChassisSeen): StepLine[] {
  const { gateway, from } = seen;
  const [id, title] = ['heartbeats', `No heartbeat of ${from}`];
  if (!hasOthers(seen)) return [line(id, title, 'not-applicable', 'the site file names no other robot')];
  if (isUnseen(gateway.live)) return [unseen(id, title, gateway.live)];
  const still = gateway.live.neighbours.find(({ serial, presence }) => serial === from && presence !== 'gone');
  if (still === undefined) return [line(id, title, 'ok', 'none received')];
  return [line(id, title, 'wrong', `received from ${still.address}`, 'Switch off the gateway that still sends it.')];
}

/** Needed where the old chassis was accepted on the site, and where not all records could be read. */
export function siteRecordLine(seen: ChassisSeen): StepLine {
  const { oldRecords, records, from } = seen;
  const hasRecord = (all: typeof records) => isUnseen(all) || newestOf(all, 'site') !== undefined;
  const isNeeded =
    hasRecord(oldRecords) || hasRecord(records) || (!isUnseen(oldRecords) && oldRecords.notes.length > 0);
  if (isNeeded) return recordLine(seen, 'site');
  return line('site', 'Signed record of the checklist site', 'not-applicable', `${from} has none on this gateway`);
}
