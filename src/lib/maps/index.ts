/**
 * Taking the maps of a chassis into safety and bringing them back. The writes among it were never measured on a real
 * device, so each takes a backup first, is read back and compared, and is undone when the result differs.
 */
export { packArchive, parseArchive } from './archive.ts';
export { archiveFileName, readArchive, refuseExistingArchive, writeArchive } from './archive-file.ts';
export { type BackupOptions, backUpMaps, pickMap, type ReadMapOptions, readMap } from './backup.ts';
export type { WritePace } from './checked-write.ts';
export type { DrawingsComparison, LiveMap, LiveMaps } from './live-maps.ts';
export { archivedFiles } from './manifest.ts';
export type { TopicAccess } from './map-announcements.ts';
export type { MapCreation } from './map-creation.ts';
export type { UseOutcome } from './map-use.ts';
export type * from './model.ts';
export type { DrawingsWrite } from './overlays-write.ts';
export { checkPng, type PngReading } from './png.ts';
export { type RestartOptions, type RestartPace, type RestartRun, type RestartSign, restartChassis } from './restart.ts';
export type { MapFate } from './restart-comparison.ts';
export {
  isWell,
  type MapOutcome,
  type RestoreOptions,
  type RestoreRun,
  type RestoreWrite,
  restoreMaps,
} from './restore.ts';
export { changesAnything, type PlannedMap, type PlanVerdict, planRestore, type RestorePlan } from './restore-plan.ts';
export { checkRunningMap, type RunningMap } from './running-map.ts';
export { type SelectOptions, type SelectRun, selectMap } from './select.ts';
export { type LookForStillness, lookForStillness, type Stillness, type StillnessOptions } from './stillness.ts';
