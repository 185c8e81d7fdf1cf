import { hostname } from 'node:os';
import { isRecord, readJsonBytes } from '../../json/index.ts';
import type { Site } from '../../site/index.ts';
import { plural } from '../../text/index.ts';
import type { Line } from '../finding.result.ts';
import { finding } from '../finding.ts';
import type { BackupManifest } from './manifest.ts';
import type { RestorePlan } from './restore-plan.ts';

interface Restored {
  readonly site: Site;
  readonly manifest: BackupManifest;
  readonly boots: RestorePlan['boots'];
  readonly hasSecrets: boolean;
  /** Content of the stop latch in the archive; undefined: there is none. */
  readonly latch: Uint8Array | undefined;
  readonly now: Date;
}

/** What is restored, in terms of what no archive can know. Never ok where a person has to look. */
export function afterRestore({ site, manifest, boots, hasSecrets, latch, now }: Restored): Line[] {
  const { createdAt, host, siteDir, leftOut, secrets } = manifest;
  const lost = [
    ...leftOut,
    ...(hasSecrets || secrets === null ? [] : secrets.files.map((file) => ({ ...file, reason: 'no passphrase' }))),
  ];
  const isLatched = latch !== undefined && latchedIn(latch);
  return [
    lost.length === 0
      ? finding('left-out', 'Left out', 'ok', 'nothing')
      : finding(
          'left-out',
          'Left out',
          'not-checked',
          lost
            .slice(0, 5)
            .map(({ path, reason }) => `${path} (${reason})`)
            .join(', ') + (lost.length > 5 ? ` and ${lost.length - 5} more` : ''),
          [...new Set(lost.map(({ anew }) => anew))].join(' '),
        ),
    finding(
      ...(['old-gateway', 'The old gateway', 'not-checked'] as const),
      `whether the one of ${host} is off cannot be seen from here`,
      'Switch it off before `gw serve` starts here: two gateways of one robot cancel each other’s drives, and the broker keeps one connection.',
    ),
    isLatched
      ? finding('stop', 'Stop latch', 'ok', 'a stop is latched: the gate stays closed until a person clears it')
      : finding(
          ...(['stop', 'Stop latch', 'not-checked'] as const),
          `${latch === undefined ? 'none in the archive' : `as of ${createdAt}: no stop`}; one that was latched later is not known here`,
          'Ask on site. If in doubt, stop the robot: `gw motion stop`.',
        ),
    bootsLine(site, boots, createdAt, now),
    site.fleet !== undefined
      ? finding(
          ...(['replays', 'Heartbeats received', 'not-checked'] as const),
          `as of ${createdAt}: a heartbeat that was recorded since could be replayed once, until that robot sends again`,
          'Run `gw heartbeat check` when the other robots are on.',
        )
      : finding('replays', 'Heartbeats received', 'not-applicable', 'no heartbeat in the site file'),
    site.cloud !== undefined
      ? finding(
          ...(['outbox', 'Messages to the cloud', 'not-checked'] as const),
          'those kept in the archive may have been sent since: they are sent again with the same id, by which a receiver knows them; numbers (seq) after them may come twice, with other ids',
          'Report the time of the backup to the cloud operator.',
        )
      : finding('outbox', 'Messages to the cloud', 'not-applicable', 'no cloud in the site file'),
    site.cloud !== undefined
      ? finding(
          ...(['sessions', 'Records of support', 'not-checked'] as const),
          `as of ${createdAt}: sessions since are in the records of the cloud only`,
          'Compare them: `gw tunnel audit`.',
        )
      : finding('sessions', 'Records of support', 'not-applicable', 'no cloud in the site file'),
    hasSecrets && site.enrolment !== undefined
      ? finding(
          ...(['identity', 'Identity', 'not-checked'] as const),
          'whether its certificate was renewed or revoked since is not known',
          'Run `gw enrol status`, then `gw cloud status` once gw runs.',
        )
      : finding('identity', 'Identity', 'not-applicable', 'none restored'),
    siteDir === site.dir
      ? finding('paths', 'Paths', 'ok', `the same folder as on ${host}: ${siteDir}`)
      : finding(
          ...(['paths', 'Paths', 'not-checked'] as const),
          `the site file was in ${siteDir}, and is in ${site.dir}`,
          'Name the new folder in the unit of the service and wherever else the old one is named.',
        ),
    hostname() === host && site.network.gatewayMac === undefined
      ? finding('machine', 'Machine', 'not-applicable', 'the same name, and the site file names no MAC address of it')
      : finding(
          ...(['machine', 'Machine', 'not-checked'] as const),
          `${hostname()}, the backup is of ${host}; the site file names ${site.network.gatewayMac ?? 'no MAC address of the gateway'}`,
          'Correct network.gatewayMac, and the DHCP reservation with the IT of the customer.',
        ),
    ownerLine(site),
  ];
}

function bootsLine({ fleet }: Site, boots: Restored['boots'], createdAt: string, now: Date): Line {
  const [id, title] = ['boots', 'Boot counter of the heartbeat'];
  const remedy =
    'Set the clock, and write a number above every earlier one into heartbeat-boots.json (docs/heartbeat.md).';
  if (boots === null) {
    return fleet === undefined
      ? finding(id, title, 'not-applicable', 'no heartbeat in the site file')
      : finding(
          id,
          title,
          'not-checked',
          'none in the archive: it begins anew, and the other robots refuse what it sends',
          remedy,
        );
  }
  if (boots.to === null) return finding(id, title, 'wrong', `${boots.from} cannot be raised`, remedy);
  const raised = `${boots.from} in the archive, raised to ${boots.to}`;
  return now.getTime() < Date.parse(createdAt)
    ? finding(
        id,
        title,
        'not-checked',
        `${raised}, and the clock of this machine is before the time of the backup`,
        remedy,
      )
    : finding(id, title, 'ok', `${raised}, above every one that was sent since`);
}

function ownerLine({ dir }: Site): Line {
  const user = process.getuid?.();
  return user === 0
    ? finding(
        ...(['owner', 'Owner of the files', 'not-checked'] as const),
        'root',
        `Where gw serve runs as another user: chown -R gw:gw ${dir}`,
      )
    : finding('owner', 'Owner of the files', 'ok', `user ${user}, who ran this command`);
}

/** What cannot be read closes the gate too. */
function latchedIn(content: Uint8Array): boolean {
  const read = readJsonBytes(content, 'file');
  return !(read.ok && isRecord(read.value) && read.value.latched === false);
}

/** What is there already, and may not be replaced. */
export function conflictLine({ conflicts, moves, heldBy }: RestorePlan, moveAside: boolean): Line {
  const [id, title] = ['place', 'Place'];
  if (conflicts.length === 0) return finding(id, title, 'ok', 'empty, or what is there is the same byte for byte');
  const shown = `${conflicts.slice(0, 5).join(', ')}${conflicts.length > 5 ? ` and ${conflicts.length - 5} more` : ''}`;
  if (heldBy !== null) {
    return finding(id, title, 'wrong', `what is there keeps the gate closed: ${heldBy.what}`, heldBy.remedy);
  }
  const detail = `${plural(conflicts.length, 'file')} there ${conflicts.length === 1 ? 'differs or is' : 'differ or are'} not in the backup: ${shown}`;
  if (!moveAside) {
    return finding(
      id,
      title,
      'wrong',
      detail,
      'Name another folder with --into, or let them be moved aside: --move-aside.',
    );
  }
  return finding(id, title, 'ok', `${detail}; moved aside: ${moves.map(({ to }) => to).join(', ')}`);
}
