/**
 * What happened around a stop, a fault, a lost link or a failed move: the last minute in memory, and on disk what such an
 * event keeps of it, as the pages could have shown it.
 */
export type { Sight } from './causes.ts';
export { decodeIncident, type Incident } from './decode.ts';
export { incidentFileName, MAX_INCIDENT_BYTES } from './incident-file.ts';
export {
  createIncidentRecorder,
  type IncidentRecorder,
  type LogEntry,
  type ObservedPose,
  type Places,
  type RecorderOptions,
} from './recorder.ts';
export { type IncidentStore, openIncidentStore } from './store.ts';
