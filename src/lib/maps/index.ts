/**
 * Backup and restore of the maps of a chassis, selection of a map, restart. The writes were never measured on a real
 * device, so each is preceded by a backup, read back and compared, and overlays are rolled back when they differ.
 */
export { packArchive, parseArchive } from './archive/archive.ts';
export { archiveFileName, readArchive, refuseExistingArchive, writeArchive } from './archive/archive-file.ts';
export { archivedFiles, damagedFiles } from './archive/manifest.ts';
export { backUpMaps, pickMap } from './backup.ts';
export type { LiveMap, OverlaysComparison, UnreadMap } from './live-maps.ts';
export { damagedName, readCurrentMap, readMap, unreadableMap } from './map-reading.ts';
export type * from './model.ts';
export { isComplete } from './model.ts';
export { checkPng } from './png.ts';
export { type RestartOptions, type RestartPace, type RestartRun, restartChassis } from './restart/restart.ts';
export {
  isSuccess,
  type MapOutcome,
  type RestoreRun,
  type RestoreWrite,
  restoreMaps,
} from './restore/restore.ts';
export { changesAnything, type PlannedMap, planRestore, type RestorePlan } from './restore/restore-plan.ts';
export type { TopicAccess } from './running/map-announcements.ts';
export { checkRunningMap, type RunningMap } from './running/running-map.ts';
export { type SelectOptions, type SelectRun, selectMap } from './select.ts';
export { checkStillness } from './stillness.ts';
