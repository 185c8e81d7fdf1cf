import type { CloudView } from '../../cloud/index.ts';
import type { ServiceHealth } from '../../lifecycle/index.ts';
import type { DriveRun, MotionStatus, TrialKind } from '../../motion/index.ts';
import type { SupportView } from '../../tunnel/index.ts';
import type { FolderHealth, GatewayHealth } from '../health.ts';
import type { Headline } from './headline.ts';
import { spanText } from './number-text.ts';

const serviceWords: Readonly<Record<ServiceHealth['status'], string>> = {
  waiting: 'wartet',
  starting: 'startet',
  running: 'läuft',
  restarting: 'wird neu gestartet',
  stopping: 'wird beendet',
  stopped: 'beendet',
};

export function serviceTexts({
  services,
}: GatewayHealth): Record<`service.${string}.${'status' | 'restarts' | 'detail'}`, string> {
  return Object.fromEntries(
    services.flatMap(({ name, status, restarts, detail, lastError, remedy }) => [
      [`service.${name}.status`, serviceWords[status]],
      [`service.${name}.restarts`, `${restarts}`],
      [`service.${name}.detail`, [detail, lastError && `zuletzt: ${lastError}`, remedy].filter(Boolean).join('; ')],
    ]),
  );
}

export function gatewayText({ version: of, upForMs, services }: GatewayHealth): string {
  const down = services
    .filter(({ status }) => status !== 'running')
    .map(({ name, status }) => `${name} (${serviceWords[status]})`);
  const state = down.length === 0 ? 'alle Dienste laufen' : `nicht aktiv: ${down.join(', ')}`;
  return `Version ${of}, läuft seit ${spanText(upForMs)}, ${state}`;
}

const folderWords: Readonly<Record<FolderHealth['status'], string>> = {
  ok: 'in Ordnung',
  low: 'ZU WENIG PLATZ',
  unusable: 'NICHT VERWENDBAR',
  'not-checked': 'nicht geprüft',
};

export function folderText(name: string, { path, status, freeBytes, detail, remedy }: FolderHealth): string {
  const free = freeBytes === null ? 'freier Platz nicht bekannt' : `${Math.floor(freeBytes / 1_000_000)} MB frei`;
  const why = status === 'ok' ? '' : `: ${detail} ${remedy ?? ''}`.trimEnd();
  return `${name} ${path}, ${folderWords[status]}, ${free}${why}`;
}

const evidenceWords: Readonly<Record<GatewayHealth['evidence']['status'], string>> = {
  'as-read': 'wie beim Start gelesen',
  revoked: 'ZURÜCKGENOMMEN seit dem Start',
  unreadable: 'NICHT LESBAR',
};

export function evidenceText({ evidence: { status, detail } }: GatewayHealth): string {
  return `${evidenceWords[status]} (${detail})`;
}

/**
 * The state of robot and gateway together, for the technician: in order only when nothing prevents a drive, and when no
 * part of the page has a remedy.
 */
export function overallText(
  headline: Headline,
  {
    health,
    cloud,
    support,
  }: { readonly health: GatewayHealth; readonly cloud: CloudView; readonly support: SupportView },
): string {
  if (headline.level !== 'good') return `beeinträchtigt: ${headline.text}`;
  const { link, outbox, seen, release } = cloud;
  const hasRemedy = (...parts: readonly ({ readonly remedy: string | null } | null)[]) =>
    parts.some((part) => part !== null && part.remedy !== null);
  const open = [
    ...(health.services.some((service) => hasRemedy(service)) ? ['Dienste'] : []),
    ...(Object.values(health.disk).some((folder) => hasRemedy(folder)) ? ['Ordner'] : []),
    ...(hasRemedy(cloud, link, outbox, seen, release) ? ['Cloud'] : []),
    // Without remote support by the site file there is nothing to remedy.
    ...(support.status !== 'not-configured' && hasRemedy(support) ? ['Fernwartung'] : []),
  ];
  return open.length === 0 ? 'in Ordnung' : `beeinträchtigt: Abhilfe nötig bei ${open.join(', ')}`;
}

export function isRunning({ tour, drive, trial }: MotionStatus): boolean {
  return tour?.state === 'running' || drive?.state === 'running' || trial !== null;
}

const trialWords: Readonly<Record<TrialKind, string>> = {
  stop: 'Anhalten',
  move: 'Fahrt',
  pose: 'Position setzen',
  dock: 'Andocken',
};

/** The trial while there is one; otherwise the tour, and the single drive where there was one. */
export function runText(motion: MotionStatus): string {
  if (motion.trial !== null) return `Begleiteter Versuch läuft (${trialWords[motion.trial.kind]})`;
  return motion.drive === null ? tourText(motion) : `${tourText(motion)}. ${driveText(motion.drive)}`;
}

/** Alerts that a person passed stay in view. */
function passedText(although: readonly number[] = []): string {
  return although.length === 0 ? '' : ` trotz Störmeldung ${although.join(', ')}`;
}

function driveText({ state, station, although, reason }: DriveRun): string {
  const to = station === null ? 'zum Dock' : `zu Station ${station}`;
  switch (state) {
    case 'running':
      return `Fahrt ${to} läuft${passedText(although)}`;
    case 'succeeded':
      return `Fahrt ${to} ist beendet`;
    case 'failed':
      return `Fahrt ${to} ist gescheitert: ${reason ?? 'Grund nicht bekannt'}`;
    case 'stopped':
      return `Fahrt ${to} wurde abgebrochen`;
  }
}

function tourText({ tour }: MotionStatus): string {
  if (tour === null) return 'Keine Tour';
  const at = `${tour.at + 1} von ${tour.stations.length} (${tour.stations[tour.at] ?? ''})`;
  switch (tour.state) {
    case 'running':
      return `Tour ${tour.tour} fährt${passedText(tour.although)} zu Station ${at}`;
    case 'succeeded':
      return `Tour ${tour.tour} ist beendet`;
    case 'failed':
      return `Tour ${tour.tour} ist bei Station ${at} gescheitert: ${tour.reason ?? 'Grund nicht bekannt'}`;
    case 'stopped':
      return `Tour ${tour.tour} wurde bei Station ${at} abgebrochen`;
  }
}
