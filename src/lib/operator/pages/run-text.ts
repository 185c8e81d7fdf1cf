import type { DriveRun, MotionStatus, TrialKind } from '../../motion/index.ts';

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

function driveText({ state, station, reason }: DriveRun): string {
  const to = station === null ? 'zum Dock' : `zu Station ${station}`;
  switch (state) {
    case 'running':
      return `Fahrt ${to} läuft`;
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
      return `Tour ${tour.tour} fährt zu Station ${at}`;
    case 'succeeded':
      return `Tour ${tour.tour} ist beendet`;
    case 'failed':
      return `Tour ${tour.tour} ist bei Station ${at} gescheitert: ${tour.reason ?? 'Grund nicht bekannt'}`;
    case 'stopped':
      return `Tour ${tour.tour} wurde bei Station ${at} abgebrochen`;
  }
}
